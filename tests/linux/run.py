#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Linux's selftests against the board: loads every test of core.tsv, compares verdict and return
value with what Linux says, prints a table per file and a total, writes rows for results.jsonl.
Exit status 1 if a gate is missed."""
import argparse
import json
import os
import subprocess
import sys
import threading
from collections import defaultdict

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
FLAGS = {"BPF_F_ANY_ALIGNMENT": 2, "BPF_F_STRICT_ALIGNMENT": 1, "BPF_F_TEST_STATE_FREQ": 8,
         "BPF_F_TEST_RND_HI32": 4, "BPF_F_TEST_REG_INVARIANTS": 128}
SPECIAL = {"any": None, "POINTER_VALUE": None, "TEST_DATA_LEN": 64}


def read_rows(path):
    rows, names = [], None
    for line in open(path):
        if line.startswith("#"):
            continue
        cells = line.rstrip("\n").split("\t")
        if names is None:
            names = cells
            continue
        rows.append(dict(zip(names, cells)))
    return rows


def want_value(text):
    if text in SPECIAL:
        return SPECIAL[text]
    return int(text, 0) & 0xffffffff


def request(row, objdir):
    flags = 0
    for f in row["flags"].replace("|", ",").split(","):
        flags |= FLAGS.get(f.strip(), 0)
    run = 1 if row["retval"] != "-" else 0
    aux = row["aux"].replace(" ", ",").replace(";", ",")
    return f"{objdir}/{row['object']}.bpf.o {row['program']} {flags:x} {run} {aux}\n"


def run_all(rows, runner, objdir, jobs):
    """Results in the order of rows."""
    parts = [rows[i::jobs] for i in range(jobs)]
    procs = []
    for part in parts:
        p = subprocess.Popen(runner, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        procs.append((p, part))
    out = {}

    def feed(p, part):
        p.stdin.write("".join(request(r, objdir) for r in part))
        p.stdin.close()

    threads = [threading.Thread(target=feed, args=(p, part)) for p, part in procs]
    for t in threads:
        t.start()
    for p, part in procs:
        for line in p.stdout:
            c = line.split()
            if len(c) == 6:
                out[(os.path.basename(c[0]).removesuffix(".bpf.o"), c[1])] = c[2:]
        p.wait()
    return out


def judge(row, got):
    """-> (kind, text): ok, false_accept, false_reject, retval, missing"""
    if got is None or got[0] in ("missing", "crash"):
        return "missing", got[0] if got else "no answer"
    if got[0] != row["expected"]:
        return ("false_accept" if got[0] == "accept" else "false_reject"), f"errno {got[1]}"
    if row["retval"] != "-" and row["expected"] == "accept":
        want = want_value(row["retval"])
        if got[2] == "-" or (want is not None and int(got[2]) != want):
            return "retval", f"got {got[2]} want {row['retval']}"
    return "ok", ""


def policy_list():
    path = os.path.join(HERE, "policy.txt")
    if not os.path.exists(path):
        return set()
    return {tuple(l.split()[:2]) for l in open(path) if l.strip() and not l.startswith("#")}


def table_row(name, t):
    return (f"{name:34} {t['n']:5} {t['accepted']:4}/{t['must_accept']:<4} {t['false_accept']:9} "
            f"{t['policy']:6} {t['retval']:6} {t['missing']:7}")


def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--runner", default=os.path.join(ROOT, "build/tests/linux-selftest"))
    ap.add_argument("--objects", default=os.path.join(ROOT, "build/linux/obj"))
    ap.add_argument("--list", default=os.path.join(HERE, "core.tsv"))
    ap.add_argument("--only", help="file name prefix")
    ap.add_argument("--jobs", type=int, default=2)
    ap.add_argument("--show", action="store_true", help="print every test that differs")
    ap.add_argument("--json", help="append result rows to this file")
    a = ap.parse_args()
    rows = [r for r in read_rows(a.list) if not a.only or r["object"].startswith(a.only)]
    got = run_all(rows, a.runner.split(), a.objects, a.jobs)
    policy = policy_list()
    files = defaultdict(lambda: defaultdict(int))
    total = defaultdict(int)
    processed = 0
    for r in rows:
        g = got.get((r["object"], r["program"]))
        kind, text = judge(r, g)
        if kind == "false_accept" and (r["object"], r["program"]) in policy:
            kind = "policy"
        processed += int(g[3]) if g else 0
        for t in (files[r["object"]], total):
            t[kind] += 1
            t["n"] += 1
            t["must_accept"] += r["expected"] == "accept"
            t["accepted"] += r["expected"] == "accept" and kind in ("ok", "retval")
            t["values"] += r["retval"] != "-" and r["expected"] == "accept"
        if a.show and kind not in ("ok", "policy"):
            print(f"{kind:13} {r['object']} {r['program']} {text}")
    print(f"{'file':34} {'tests':>5} {'accept':>9} {'false acc':>9} {'policy':>6} {'retval':>6} "
          f"{'missing':>7}")
    for name in sorted(files):
        print(table_row(name, files[name]))
    t = total
    print(table_row("total", t))
    ratio = t["accepted"] / max(t["must_accept"], 1)
    print(f"accepted {ratio:.4f} of what Linux accepts, {t['false_accept']} false accepts, "
          f"{t['retval']} of {t['values']} return values differ, "
          f"{processed} instructions processed")
    if a.json:
        with open(a.json, "a") as f:
            for metric, value in (("core_accept_ratio", round(ratio, 4)),
                                  ("false_accepts_unlisted", t["false_accept"]),
                                  ("retval_failed", t["retval"])):
                row = {"bench": "linux_tests", "case": "core", "metric": metric, "value": value,
                       "unit": "ratio" if "ratio" in metric else "tests"}
                f.write(json.dumps(row) + "\n")
    sys.exit(0 if ratio >= 0.98 and not t["false_accept"] and not t["retval"] else 1)


if __name__ == "__main__":
    main()
