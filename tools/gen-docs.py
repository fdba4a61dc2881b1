#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes the generated tables in docs/*.md; with --check only says whether they are up to date.

A table stands between two marker lines:

    <!-- generated: NAME -->
    <!-- end -->

and comes from the function registered as NAME in a module tools/docgen/*.py:

    from docgen import table, def_rows

    @table("helpers")
    def helpers():
        return ["| id | name |", "|---|---|", ...]

def_rows(file, macro) gives the rows of an X-macro file, each a list of its arguments as written.
"""
import importlib
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
sys.dont_write_bytecode = True
import docgen  # noqa: E402

MARKED = re.compile(r"(<!-- generated: (\S+) -->\n)(.*?)(<!-- end -->)", re.S)


def main():
    check = "--check" in sys.argv[1:]
    for module in sorted((ROOT / "tools/docgen").glob("[a-z]*.py")):
        importlib.import_module("docgen." + module.stem)
    used, stale = set(), 0
    for path in sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]):
        if not path.exists():
            continue
        text = path.read_text()

        def fill(m):
            used.add(m[2])
            if m[2] not in docgen.TABLES:
                sys.exit(f"{path.relative_to(ROOT)}: no generator for the table {m[2]}")
            return m[1] + "\n".join(docgen.TABLES[m[2]]()) + "\n" + m[4]

        new = MARKED.sub(fill, text)
        if new != text:
            stale += 1
            if check:
                print(f"{path.relative_to(ROOT)}: tables are out of date: make docs")
            else:
                path.write_text(new)
                print(f"{path.relative_to(ROOT)}: written")
    unused = sorted(set(docgen.TABLES) - used)
    if unused:
        print(f"tables that no page shows: {', '.join(unused)}")
    return 1 if check and (stale or unused) else 0


sys.exit(main())
