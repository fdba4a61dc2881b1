#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# timeout: 300
"""The board's own helpers (include/barebpf_helpers.h), called by a program on both boards."""
import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
from cli import BUILD, Board  # noqa: E402
from machine import check, check_equal, run_tests  # noqa: E402

OBJECT = BUILD / "tests/bpf/board.bpf.o"
PINNED = "/sys/fs/bpf/board"
EINVAL, EBUSY = -22, -16


def results(board):
    """What the program left, after one run."""
    board.bpftool("prog", "load", OBJECT, PINNED)
    shown = board.bpftool_json("prog", "show", "pinned", PINNED)
    board.run("run", "id", shown["id"])
    dump = board.bpftool_json("map", "dump", "id", shown["map_ids"][0])
    return [element["formatted"]["value"] for element in dump]


def calls(board_id, taken, *up):
    with Board(*up) as board:
        got = results(board)
        check_equal(got[0], board_id, "board id")
        check(0 <= got[1] < 10**9, f"counter moved by {got[1]}")
        check(10**6 <= got[2] <= 10**9, f"counter rate {got[2]}")
        check_equal(got[3:8], [0, 0, 1, 0, 0], "pin as output, set, read, cleared, read")
        check_equal(got[8], EINVAL, "pin that does not exist")
        check_equal(got[9], EINVAL, "level that does not exist")
        check_equal(got[10], taken, "pin 14")
        check_equal(got[11], 0, "text on the line")
        board.run("info")


TESTS = {
    "virt": lambda: calls(1, EINVAL, "--board", "virt"),
    "raspi4b": lambda: calls(2, EBUSY, "--board", "raspi4b"),
}

if __name__ == "__main__":
    run_tests(TESTS.items())
