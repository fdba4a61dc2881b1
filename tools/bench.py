#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Benchmarks: tools/bench.py [NAME...]. Prints tables and writes build/bench/results.jsonl.

Each module tools/bench/NAME.py has a function rows() that yields Row objects; a row becomes one
line {"bench","case","metric","value","unit"} of the results. Boards run under
`-icount shift=0,sleep=off` with one fixed core model, so every figure that counts guest
instructions is the same in every run. They are an emulator's figures: instructions, not time.

A row may carry a bound (`most` or `least`); one beyond its bound is marked and makes the exit
status 1.
"""
import importlib
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests/target")]
sys.dont_write_bytecode = True


def show(rows):
    wide = max(len(f"{r.case}") for r in rows)
    for row in rows:
        bound = ""
        if row.most is not None:
            bound = f"at most {row.most:,}"
        if row.least is not None:
            bound = f"at least {row.least:,}"
        mark = "" if row.holds() else "  BEYOND ITS BOUND"
        value = f"{row.value:,.3f}" if isinstance(row.value, float) else f"{row.value:,}"
        print(f"  {row.case:{wide}}  {row.metric:24} {value:>16} {row.unit:14} {bound}{mark}",
              flush=True)


def main():
    names = sys.argv[1:] or sorted(p.stem for p in (ROOT / "tools/bench").glob("[a-z]*.py"))
    rows = []
    for name in names:
        found = list(importlib.import_module("bench." + name).rows())
        if found:
            print(name)
            show(found)
        rows += found
    out = ROOT / "build/bench/results.jsonl"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("".join(json.dumps(r.result()) + "\n" for r in rows))
    print(f"{len(rows)} results in {out.relative_to(ROOT)}")
    return 0 if rows and all(r.holds() for r in rows) else 1


sys.exit(main())
