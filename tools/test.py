#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs test suites and counts: tools/test.py [--make MAKE] SUITE... (or `all`).

Suites: build, lint, unit-host, unit-a64, fuzz (kept inputs and a short run), target. A suite is a
list of programs. A program prints `ok NAME`, `not ok NAME` and `skip NAME reason` lines, anything
else is commentary; it fails as a whole (one more failure) when it ends by a signal, runs out of
time, exits non-zero without a `not ok`, or prints no result at all. Output is kept in
build/test/SUITE/PROGRAM.log.

A program may name its time limit in its first 20 lines: `timeout: 300` (seconds). The suite
`target` is every executable tests/target/*.sh and *.py; arguments after `--only` choose by
substring. A table at the end names what failed; the last line is `N passed, N failed, N skipped`,
and the exit status is 0 only when nothing failed and something passed.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "build" / "test"
JOBS = os.cpu_count() or 1
RESULT = re.compile(r"(ok|not ok|skip) +(\S.*)")
BUILD_TARGETS = "all bench-objects test-bpf-objects unit-build-host unit-build-a64 " \
    "fuzz-build hostboard disk sdcard"


class Program:
    def __init__(self, suite, name, command, timeout):
        self.suite, self.name, self.command, self.timeout = suite, name, command, timeout
        self.passed, self.failed, self.skipped = [], [], []
        self.log = OUT / suite / (name + ".log")

    def run(self):
        self.log.parent.mkdir(parents=True, exist_ok=True)
        why = None
        with open(self.log, "wb") as log:
            proc = subprocess.Popen(self.command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log,
                                    stderr=subprocess.STDOUT, start_new_session=True, env=ENV)
            try:
                proc.wait(self.timeout)
            except subprocess.TimeoutExpired:
                why = f"no end after {self.timeout} s"
            finally:
                try:
                    os.killpg(proc.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
                proc.wait()
        self.count(proc.returncode, why)
        return self

    def count(self, status, why):
        lists = {"ok": self.passed, "not ok": self.failed, "skip": self.skipped}
        for line in self.log.read_text(errors="replace").splitlines():
            m = RESULT.fullmatch(line)
            if m:
                lists[m[1]].append(m[2])
        if why is None and status < 0:
            why = f"ended by signal {-status} ({signal.Signals(-status).name})"
        if why is None and status and not self.failed:
            why = f"exit status {status} without a failed test"
        if why is None and not (self.passed or self.failed or self.skipped):
            why = "printed no result"
        if why:
            self.failed.append(f"({why})")


def limit(path, default):
    with open(path, errors="replace") as f:
        for _, line in zip(range(20), f):
            m = re.search(r"\btimeout: (\d+)", line)
            if m:
                return int(m[1])
    return default


def unit(suite, folder, prefix):
    for src in sorted((ROOT / "tests/unit").glob("*.c")):
        if src.stem.startswith(("hal_", "support_")):
            continue
        binary = ROOT / "build/tests" / folder / src.stem
        yield Program(suite, src.stem, prefix + [str(binary)], limit(src, 120))


def suite_build(make):
    script = (f"{make} -k -j{JOBS} {BUILD_TARGETS} && echo ok build || "
              "{ echo not ok build; false; }")
    return [Program("build", "build", ["sh", "-c", script], 1800)]


def suite_target(_):
    for path in sorted((ROOT / "tests/target").glob("*")):
        if path.suffix in (".sh", ".py") and os.access(path, os.X_OK):
            yield Program("target", path.stem, [str(path)], limit(path, 180))


def suite_fuzz(_):
    for src in sorted((ROOT / "tests/fuzz").glob("*.c")):
        yield Program("fuzz", src.stem, ["tools/fuzz.sh", "replay", src.stem], limit(src, 120))


# name: (programs, how many at a time)
SUITES = {
    "build": (suite_build, 1),
    "lint": (lambda _: [Program("lint", "lint", [sys.executable, "tools/lint/run.py"], 300)], 1),
    "unit-host": (lambda _: unit("unit-host", "host", []), JOBS),
    "unit-a64": (lambda _: unit("unit-a64", "a64", ["qemu-aarch64", "-cpu", "cortex-a72"]), JOBS),
    "fuzz": (suite_fuzz, JOBS),
    "target": (suite_target, 1),
}


def run_suite(name, make, only):
    start = time.monotonic()
    programs = [p for p in SUITES[name][0](make) if not only or any(o in p.name for o in only)]
    with concurrent.futures.ThreadPoolExecutor(SUITES[name][1]) as pool:
        for p in pool.map(Program.run, programs):
            if p.failed:
                print(f"FAILED {p.suite}/{p.name}: {', '.join(p.failed[:5])}", flush=True)
                tail = p.log.read_text(errors="replace").splitlines()[-15:]
                print("\n".join("    | " + line for line in tail), flush=True)
    count = [sum(len(getattr(p, k)) for p in programs) for k in ("passed", "failed", "skipped")]
    print(f"{name:10} {count[0]:5} passed, {count[1]} failed, {count[2]} skipped"
          f"   ({len(programs)} programs, {time.monotonic() - start:.0f} s)", flush=True)
    return programs


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--make", default="make")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("suites", nargs="+", choices=[*SUITES, "all"])
    args = parser.parse_args()
    done = []
    for name in SUITES if "all" in args.suites else args.suites:
        done += run_suite(name, args.make, args.only)
        if name == "build" and done[-1].failed:
            break
    for p in done:
        for what in p.failed:
            print(f"not ok {p.suite}/{p.name}: {what}   (build/test/{p.suite}/{p.name}.log)")
    for p in done:
        for what in p.skipped:
            print(f"skip {p.suite}/{p.name}: {what}")
    total = [sum(len(getattr(p, k)) for p in done) for k in ("passed", "failed", "skipped")]
    print(f"{total[0]} passed, {total[1]} failed, {total[2]} skipped")
    return 1 if total[1] or not total[0] else 0


ENV = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
ENV["PATH"] = ENV.get("PATH", "") + ":/usr/sbin:/sbin"
sys.exit(main())
