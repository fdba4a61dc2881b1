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
sys.path.insert(0, str(ROOT / "tools"))
sys.dont_write_bytecode = True


def number(value):
    return f"{value:,.3f}" if isinstance(value, float) and value % 1 else f"{value:,.0f}"


def show(rows):
    """A table a benchmark: a line a case, a column a metric; then the bounds."""
    for bench in dict.fromkeys(r.bench for r in rows):
        mine = [r for r in rows if r.bench == bench]
        metrics = list(dict.fromkeys(r.metric for r in mine))
        cells = {(r.case, r.metric): number(r.value) for r in mine}
        wide = max(len(r.case) for r in mine)
        print(f"\n{bench:{wide}}  " + "  ".join(f"{m:>14}" for m in metrics))
        for case in dict.fromkeys(r.case for r in mine):
            print(f"{case:{wide}}  " + "  ".join(
                f"{cells.get((case, m), ''):>{max(14, len(m))}}" for m in metrics))
    for row in rows:
        for word, bound in (("at most", row.most), ("at least", row.least)):
            if bound is not None:
                print(f"{row.bench}/{row.metric} ({row.case}): {number(row.value)} {row.unit}, "
                      f"{word} {number(bound)}: {'ok' if row.holds() else 'BEYOND ITS BOUND'}")


def main():
    names = sys.argv[1:] or sorted(p.stem for p in (ROOT / "tools/bench").glob("[a-z]*.py"))
    rows = []
    for name in names:
        found = list(importlib.import_module("bench." + name).rows())
        if found:
            show(found)
        rows += found
    out = ROOT / "build/bench/results.jsonl"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("".join(json.dumps(r.result()) + "\n" for r in rows))
    print(f"{len(rows)} results in {out.relative_to(ROOT)}")
    return 0 if rows and all(r.holds() for r in rows) else 1


sys.exit(main())
