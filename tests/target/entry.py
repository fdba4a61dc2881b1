#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# timeout: 200
"""Odd ways to be started: at EL3 without firmware, at odd addresses, with nothing in x0."""
import functools
import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
from machine import IMAGE, Machine, check_equal, check_text, run_tests  # noqa: E402


def virt(options="", cpu="cortex-a72"):
    return ["-M", "virt" + options, "-cpu", cpu, "-smp", "1", "-m", "512", "-nic", "none"]


RASPI4B = ["-M", "raspi4b", "-m", "2G", "-smp", "4"]

# name: machine, load address, entry EL, board
STARTS = {
    "virt_el3": (virt(",secure=on"), 0x40200000, 3, "qemu-virt"),
    "virt_el3_el2_max": (virt(",secure=on,virtualization=on", "max"), 0x40200000, 3, "qemu-virt"),
    "virt_el2_odd_page": (virt(",virtualization=on"), 0x40281000, 2, "qemu-virt"),
    "virt_el1_page_above": (virt(), 0x40401000, 1, "qemu-virt"),
    "virt_el1_page_below": (virt(), 0x405ff000, 1, "qemu-virt"),
    "raspi4b_el3_0x80000": (RASPI4B, 0x80000, 3, "rpi4"),
}


def starts(args, address, el, board):
    loader = ["-device", f"loader,file={IMAGE},addr={address:#x},force-raw=on",
              "-device", f"loader,addr={address:#x},cpu-num=0"]
    with Machine([*args, *loader], kernel=None) as m:
        text = m.boot()
        check_text(text, rf"device tree at 0: .*compiled-in board {board}")
        check_text(text, rf"entered at EL{el}")
        if (el, board) == (3, "qemu-virt"):
            return  # firmware would have had to open the interrupt controller to this side
        check_text(m.command("board"), rf"loaded at {address:#x}")
        check_equal(m.command("irq").count("timer"), 1, "timer lines")


run_tests([(name, functools.partial(starts, *start)) for name, start in STARTS.items()])
