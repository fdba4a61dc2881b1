# SPDX-License-Identifier: BSD-2-Clause
"""Checks on the linked image and its objects. They need `make image` first."""
import bisect
import re

from common import PURE, ROOT, command, make_var

ELF = ROOT / "build/kernel.elf"
MAP = ROOT / "build/kernel.elf.map"
# Archives whose code may use vector registers: they are called in thread context only.
FP_ARCHIVES = ("libc.a", "libfdt.a")


def pure_state():
    """No object of a pure folder has .data or .bss: state lives in what the caller hands in."""
    objects = [str(o) for f in PURE for o in sorted((ROOT / "build/image" / f).rglob("*.o"))
               if (ROOT / o.relative_to(ROOT / "build/image").with_suffix(".c")).exists()]
    bad = []
    if objects:
        for line in command(make_var("A64_NM"), "-A", *objects).stdout.splitlines():
            m = re.match(r".*/build/image/(\S+)\.o:\S* ([dDbBC]) (\S+)", line)
            if m and not m[3].startswith("$"):
                bad.append(f"{m[1]}.c: mutable file-scope state: {m[3]}")
    return bad


def archive_ranges():
    """[(start, end, path)] of every input section, from the link map."""
    ranges = []
    pattern = re.compile(r"^ \.\S+\s+0x([0-9a-f]+)\s+"
                         r"0x([0-9a-f]+)\s+(\S.*)$", re.M)
    text = re.sub(r"\n {16,}(0x)", r" \1", MAP.read_text())
    text = text[text.find("Linker script and memory map"):]
    for m in pattern.finditer(text):
        start, size = int(m[1], 16), int(m[2], 16)
        if size:
            ranges.append((start, start + size, m[3]))
    return sorted(ranges)


def vector_registers():
    if not ELF.exists():
        return [f"{ELF.name} is missing: make image"]
    ranges = archive_ranges()
    starts = [r[0] for r in ranges]
    register = re.compile(r"\b(?:[qdshb](?:[12]?\d|3[01])|v(?:[12]?\d|3[01])\.\d*[bhsdq])\b")
    insn = re.compile(r"^\s*([0-9a-f]+):\t[0-9a-f]{8} \t([^/<]*)")
    bad, seen, where = [], set(), "?"
    out = command(make_var("CROSS") + "objdump", "-d", str(ELF)).stdout
    if not ranges or not out:
        return ["no code found in the link map or the disassembly"]
    for line in out.splitlines():
        if line.endswith(">:"):
            where = line.split("<")[1][:-2]
            continue
        m = insn.match(line)
        if not m or not register.search(m[2].partition("\t")[2].replace("#", " ")):
            continue
        at = int(m[1], 16)
        i = bisect.bisect_right(starts, at) - 1
        origin = ranges[i][2] if i >= 0 and at < ranges[i][1] else "unknown"
        if re.search(r"/(" + "|".join(map(re.escape, FP_ARCHIVES)) + r")\(", origin):
            continue
        if (where, origin) not in seen:
            seen.add((where, origin))
            bad.append(f"{origin}: {where} at {m[1]}: {m[2].strip()}")
    return bad


def write_xor_execute():
    if not ELF.exists():
        return [f"{ELF.name} is missing: make image"]
    out = command(make_var("CROSS") + "readelf", "-SW", str(ELF)).stdout
    bad = []
    for line in out.splitlines():
        m = re.match(r"\s*\[ *\d+\] (\S+) +\S+ +[0-9a-f]{16} .* ([WAXMSILOGTEp]+) +\d+ +\d+ +\d+$",
                     line)
        if m and "W" in m[2] and "X" in m[2]:
            bad.append(f"section {m[1]} is writable and executable")
    return bad
