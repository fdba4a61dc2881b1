#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Assembly source of the image's symbol table, from the output of `nm -n` (no file: empty table).

Section .rodata.ksyms; kernel/ksyms.c reads it:
  u64 ksyms_base             link address that the offsets count from (the lowest function)
  u32 ksyms_count            number of functions
  u32 ksyms_offset[count]    offsets of the functions, ascending
  u32 ksyms_index[]          where in ksyms_names the name of every 16th function begins
  u8  ksyms_pairs[128][2]    what the bytes 128 to 255 of a name stand for: two bytes each, which
                             may stand for two bytes themselves
  u8  ksyms_names[]          names: a length, then so many bytes
Mapping symbols ($x, $d) and compiler-local labels are left out; of several names at one address
the first global one is kept.
"""
import collections
import sys

GROUP = 16
FIRST_PAIR = 128


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


def replace(name, pair, byte):
    out, i = [], 0
    while i < len(name):
        if i + 1 < len(name) and (name[i], name[i + 1]) == pair:
            out.append(byte)
            i += 2
        else:
            out.append(name[i])
            i += 1
    return out


def compress(names):
    """Byte pair encoding: the most frequent pair becomes a byte of its own, 128 times over."""
    names = [list(name.encode("ascii")[:250]) for name in names]
    pairs = []
    while FIRST_PAIR + len(pairs) < 256:
        count = collections.Counter(pair for name in names for pair in zip(name, name[1:]))
        if not count:
            break
        # The order of equals must not depend on anything but the names.
        pair, times = max(count.items(), key=lambda item: (item[1], item[0]))
        if times < 3:
            break
        byte = FIRST_PAIR + len(pairs)
        names = [replace(name, pair, byte) for name in names]
        pairs.append(pair)
    return names, pairs


def main():
    syms = functions(sys.argv[1]) if len(sys.argv) > 1 else []
    base = syms[0][0] if syms else 0
    names, pairs = compress([name for _, name in syms])
    pairs += [(0, 0)] * (256 - FIRST_PAIR - len(pairs))
    index, size = [], 0
    for i, name in enumerate(names):
        if i % GROUP == 0:
            index.append(size)
        size += 1 + len(name)
    out = ['\t.section .rodata.ksyms, "a"', "\t.balign 8"]

    def obj(name, lines, align=4):
        out.extend([f"\t.balign {align}", f"\t.globl {name}", f"\t.type {name}, %object",
                    f"{name}:"])
        out.extend(lines)
        out.append(f"\t.size {name}, . - {name}")

    obj("ksyms_base", [f"\t.quad {base:#x}"], 8)
    obj("ksyms_count", [f"\t.word {len(syms)}"])
    obj("ksyms_offset", [f"\t.word {addr - base:#x}" for addr, _ in syms])
    obj("ksyms_index", [f"\t.word {at}" for at in index])
    obj("ksyms_pairs", [f"\t.byte {a}, {b}" for a, b in pairs], 1)
    obj("ksyms_names", ["\t.byte " + ", ".join(map(str, [len(name), *name])) for name in names], 1)
    out.append('\t.section .note.GNU-stack, "", %progbits')
    print("\n".join(out))


main()
