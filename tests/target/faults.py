#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# timeout: 300
"""Errors of the kernel itself: what the report says, and what happens after it."""
import functools
import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
from machine import (RASPI4B, READY, VIRT, Machine,  # noqa: E402
                     check, check_equal, check_text, run_tests)

# kind: words of the report, a function of the backtrace, CPU
REPORTS = {
    "null": (r"not mapped \(synchronous.*address 0+: NULL page, not mapped", "crash_null", 0),
    "text": (r"permission fault.*kernel text, mapped to [0-9a-f]+ read-only executable",
             "crash_text", 0),
    "rodata": (r"permission fault.*kernel data, mapped to [0-9a-f]+ read-only\n",
               "crash_rodata", 0),
    "exec": (r"permission fault.*kernel data, mapped to [0-9a-f]+ read-only\n", "crash_exec", 0),
    "fill": (r"BRK", "crash_fill", 0),
    "undefined": (r"undefined instruction", "crash_undefined", 0),
    "brk": (r"BRK", "crash_brk", 0),
    "stack": (r"stack overflow.*stacks and their guards, not mapped", "recurse", 0),
    "sp": (r"stack overflow", "crash_sp", 0),
    "heap": (r"heap: 0xf[0-9a-f]+ freed twice", "crash_heap", 0),
    "panic": (r"asked for by a boot argument, number 42", "crash_panic", 0),
    "assert": (r"kernel/crash.c:\d+: assertion failed", "crash_assert", 0),
    "other": (r"not mapped", "null_there", 1),
    "irq": (r"not mapped", "timer_irq", 0),
}


def report(machine, kind):
    words, function, cpu = REPORTS[kind]
    machine.expect(r"\nhalted\r\n", 40)
    text = machine.seen.decode(errors="replace").replace("\r\n", "\n")
    check_equal(text.count("\npanic"), 1, "number of reports")
    text = text[text.index("\npanic"):]
    check_text(text, rf"panic on CPU {cpu}: ")
    check_text(text, "(?s)" + words)
    check_text(text[text.index("backtrace:"):], rf"[0-9a-f]{{16}} {function}[.a-z0-9]*\+0x")
    return text


def crashes(args, kind):
    with Machine(args, append=f"crash={kind}") as m:
        report(m, kind)
        check_equal(m.wait_exit(), 1, "exit status")


def test_halts_without_semihosting():
    with Machine(VIRT, append="crash=null", semihosting=False) as m:
        report(m, "null")
        start = len(m.seen)
        m.read_some(1)
        check(m.process.poll() is None, "QEMU has ended")
        check_equal(m.seen[start:], b"", "text after the end")


def test_resets_when_told():
    for args in (VIRT, RASPI4B):
        with Machine(args, append="crash=null kernel.panic=1", semihosting=False) as m:
            m.expect(r"panic on CPU 0.*resetting", 40)
            m.expect(READY, 40, len(m.seen))


def test_unknown_kind():
    with Machine(VIRT, append="crash=nothing") as m:
        m.boot()
        m.expect(r"crash=nothing: nothing of the kind")
        check_equal(m.power_off(3), 3, "exit status")


run_tests([(kind, functools.partial(crashes, VIRT, kind)) for kind in REPORTS] +
          [(f"raspi4b_{kind}", functools.partial(crashes, RASPI4B, kind))
           for kind in ("null", "stack", "other")] +
          [(n[5:], f) for n, f in list(globals().items()) if n.startswith("test_")])
