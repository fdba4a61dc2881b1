#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# timeout: 300
"""The board's built-in checks on every kind of machine."""
import functools
import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
from machine import RASPI4B, VIRT, Machine, check, check_equal, run_tests  # noqa: E402

TESTS = ["wx", "xlat", "memory", "faults", "timers", "cpus", "strings"]


def virt(options="", cpu="cortex-a72", smp=4, mem=512):
    return ["-M", "virt" + options, "-cpu", cpu, "-smp", str(smp), "-m", str(mem), "-nic", "none"]


MACHINES = {
    "virt_a72": VIRT,
    "virt_a53_one_core": virt(cpu="cortex-a53", smp=1, mem=128),
    "virt_a76_gicv3_el2": virt(",gic-version=3,virtualization=on", "cortex-a76", 2),
    "virt_max_secure_el2": virt(",secure=on,virtualization=on", "max"),
    "virt_eight_cores": virt(",gic-version=3", smp=8, mem=4096),
    "raspi4b": RASPI4B,
}


def passes(args):
    with Machine(args, append="selftest=all") as m:
        status = m.wait_exit(60)
        while m.read_some(0.2) and b"ok strings" not in m.seen:
            pass
        lines = m.seen.decode(errors="replace").splitlines()
        for name in TESTS:
            check(any(line.startswith(f"ok {name}: ") for line in lines), f"no `ok {name}`")
        check_equal(status, 0, "exit status")


def test_unknown_name():
    with Machine(VIRT, append="selftest=nothing") as m:
        check_equal(m.wait_exit(30), 1, "exit status")


run_tests([(name, functools.partial(passes, args)) for name, args in MACHINES.items()] +
          [(n[5:], f) for n, f in list(globals().items()) if n.startswith("test_")])
