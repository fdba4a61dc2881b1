#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# timeout: 400
"""Programs of the host as clients of a board: skeletons, descriptors, death, many at once."""
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
from cli import EXAMPLES, NOBODY, ROOT, Board  # noqa: E402
from machine import check, check_equal, check_text, run_tests  # noqa: E402

CLIENT = [sys.executable, "tests/target/client.py"]
FLOWS = EXAMPLES / "flows"
CYCLES = 10000
board = None


def client(*args, **how):
    return board.exec(*CLIENT, *args, **how)


def skeleton():
    """Globals through memory, records through a ring, as written for Linux."""
    text = board.exec(FLOWS, 50)
    check_text(text, r"192\.0\.2\.1 -> 192\.0\.2\.9 protocol 17, 64 bytes, core \d")
    check_text(text, r"50 records; skel->bss: 50 packets, 3200 bytes, 0 lost")


def skeleton_without_rights():
    text = board.exec(*NOBODY, FLOWS, 20)
    check_text(text, r"20 records; skel->bss: 20 packets")


def ring_goes_round():
    """More records than the ring holds: the consumer's position must reach the board."""
    text = board.exec(FLOWS, 700)
    check_text(text, r"700 records; skel->bss: 700 packets, 44800 bytes, 0 lost")


def descriptors():
    text = client("files")
    check_equal(text.splitlines(), ["cloexec 1", "closed -9 copy 7", "child wrote 8",
                                    "after exec 8", "bad pointer -14", "no object -22 no fd -9",
                                    "gone True"], "what the client saw")


def board_describes_itself():
    lines = dict(line.split(" ", 1) for line in client("cpus").splitlines())
    check_equal(lines["conf"], "4", "configured processors")
    check_equal(lines["possible"], "0-3", "possible CPUs")
    check_equal(lines["vmlinux"], "False", "kernel BTF")
    check_equal(lines["jit"], str(64 << 20), "JIT limit")
    check_equal(lines["kallsyms"], "True", "symbols")


def two_at_once():
    flows = [board.start("exec", "--", str(FLOWS), "40") for _ in range(2)]
    counters = [board.start("exec", "--", *CLIENT, "count", "200") for _ in range(2)]
    for p in flows:
        check_text(board.finish(p), "40 records; skel->bss: 40 packets, 2560 bytes, 0 lost")
    for p in counters:
        check_equal(board.finish(p), "counted 200\n", "a counter")


def killed_between_calls():
    holder = board.start("exec", "--", *CLIENT, "hold", stdin=subprocess.PIPE)
    check_text(holder.stdout.readline(), "^holding")
    names = [m["name"] for m in board.json("map")]
    check("victim" in names, "the held map is not listed")
    out = subprocess.run(["pgrep", "-P", str(holder.pid)], capture_output=True, text=True,
                         check=True)
    os.kill(int(out.stdout), signal.SIGKILL)
    board.finish(holder, status=128 + signal.SIGKILL)
    names = [m["name"] for m in board.json("map")]
    check("victim" not in names, f"a killed client left maps: {names}")
    check_equal(board.bpftool_json("prog", "show"), [], "programs left")


def kills_itself():
    client("die", status=128 + signal.SIGKILL)
    check_equal([m for m in board.json("map") if m["name"] == "victim"], [], "maps left")


def killed_at_any_point():
    """SIGKILL at many moments of a load: nothing stays."""
    before = board.live()
    for ms in range(2, 120, 6):
        p = board.start("exec", "--", str(FLOWS), "100")
        time.sleep(ms / 1000)
        subprocess.run(["pkill", "-KILL", "-P", str(p.pid)], check=False)
        board.finish(p, status=None)
    check_equal(board.bpftool_json("map", "show"), [], "maps left")
    check_equal(board.bpftool_json("prog", "show"), [], "programs left")
    check_equal(board.live(), before, "memory in use")


def load_cycles():
    client("cycles", 50)
    before = board.live()
    check_equal(client("cycles", CYCLES, timeout=300), f"done {CYCLES}\n", "cycles")
    check_equal(board.live(), before, "memory in use after the cycles")


def static_programs_are_refused():
    source = board.state + "/static.c"
    with open(source, "w") as f:
        f.write("int main(void) { return 0; }\n")
    subprocess.run(["gcc", "-static", "-o", board.state + "/static", source], check=True)
    board.exec(board.state + "/static", status=1)
    check_text(board.err, "statically linked")


def status_comes_back():
    board.exec("sh", "-c", "exit 7", status=7)
    board.exec("/no/such/program", status=127)
    board.exec("no-such-program", status=1)
    check_text(board.err, "not found")


if __name__ == "__main__":
    os.chdir(ROOT)
    with Board() as board:
        run_tests((f.__name__, f) for f in (
            skeleton, skeleton_without_rights, ring_goes_round, descriptors,
            board_describes_itself, two_at_once, killed_between_calls, kills_itself,
            killed_at_any_point, load_cycles, static_programs_are_refused, status_comes_back))
