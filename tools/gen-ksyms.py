#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Assembly source of the image's symbol table, from the output of `nm -n` (no file: empty table).

Section .rodata.ksyms, four objects:
  u64 ksyms_base             link address that the offsets count from (the lowest function)
  u32 ksyms_count            number of functions
  u32 ksyms_offset[count]    offsets of the functions, ascending
  u32 ksyms_name[count]      offset of each function's name in ksyms_names
  char ksyms_names[]         names, each ended by a NUL
Mapping symbols ($x, $d) and compiler-local labels are left out; of several names at one address
the first global one is kept.
"""
import sys


def functions(path):
    best = {}
    for line in open(path):
        fields = line.split()
        if len(fields) != 3 or fields[1] not in "tT" or fields[2].startswith(("$", ".L")):
            continue
        addr, kind, name = int(fields[0], 16), fields[1], fields[2]
        if addr not in best or (kind == "T" and best[addr][0] == "t"):
            best[addr] = (kind, name)
    return [(addr, best[addr][1]) for addr in sorted(best)]


def main():
    syms = functions(sys.argv[1]) if len(sys.argv) > 1 else []
    base = syms[0][0] if syms else 0
    names, name_at = [], []
    size = 0
    for _, name in syms:
        name_at.append(size)
        names.append(name)
        size += len(name) + 1
    out = ['\t.section .rodata.ksyms, "a"', "\t.balign 8"]

    def obj(name, lines, align=4):
        out.extend([f"\t.balign {align}", f"\t.globl {name}"])
        out.extend([f"\t.type {name}, %object", f"{name}:"])
        out.extend(lines)
        out.append(f"\t.size {name}, . - {name}")

    obj("ksyms_base", [f"\t.quad {base:#x}"], 8)
    obj("ksyms_count", [f"\t.word {len(syms)}"])
    obj("ksyms_offset", [f"\t.word {addr - base:#x}" for addr, _ in syms])
    obj("ksyms_name", [f"\t.word {at}" for at in name_at])
    obj("ksyms_names", [f'\t.asciz "{name}"' for name in names])
    out.append('\t.section .note.GNU-stack, "", %progbits')
    print("\n".join(out))


main()
