#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make lint: every check below, one `ok` or `not ok` line each. Arguments choose checks by name.

A check is a function in a module of this folder that returns a list of complaints.
"""
import sys

sys.dont_write_bytecode = True
import headers
import image
import layers
import sources
import tables

CHECKS = {
    "layers": layers.includes,
    "pure-includes": layers.pure_system_includes,
    "pure-state": image.pure_state,
    "headers-alone": headers.alone,
    "licence-line": sources.licence,
    "file-size": sources.file_size,
    "function-size": sources.function_size,
    "columns": sources.columns,
    "words": sources.words,
    "board-ifs": sources.board_ifs,
    "paths": sources.paths,
    "format": sources.clang_format,
    "scripts": sources.scripts,
    "no-vector-registers": image.vector_registers,
    "write-xor-execute": image.write_xor_execute,
    "docs-tables": tables.docs,
}


def main():
    failed = 0
    for name, check in CHECKS.items():
        if len(sys.argv) > 1 and name not in sys.argv[1:]:
            continue
        complaints = check()
        for text in complaints[:40]:
            print(text)
        if len(complaints) > 40:
            print(f"... and {len(complaints) - 40} more")
        failed += bool(complaints)
        print(f"{'not ok' if complaints else 'ok'} {name}", flush=True)
    return 1 if failed else 0


sys.exit(main())
