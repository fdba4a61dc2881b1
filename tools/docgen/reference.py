# SPDX-License-Identifier: BSD-2-Clause
"""Tables of docs/reference.md: knobs, helpers, map types, console commands."""
import re

from docgen import def_rows, table, unquote


def flags(text, *prefixes):
    """`A | B` without the prefixes of its names; `0` is a dash."""
    for prefix in prefixes:
        text = re.sub(r"\b" + prefix, "", text)
    return "–" if text in ("0", "") else text.replace(" | ", " ").replace("|", " ").lower()


@table("knobs")
def knobs():
    out = ["| knob | default | range | what it does |", "|---|---|---|---|"]
    for _, name, default, low, high, bits, text in def_rows("runtime/knobs.def", "KNOB"):
        only = " (read only)" if bits == "1" else ""
        high = re.sub(r"(?<=\d)[ul]+\b", "", high)
        out.append(f"| `{unquote(name)}` | {default} | {low} … {high} | {unquote(text)}{only} |")
    return out


@table("console-commands")
def console_commands():
    out = ["| command | arguments | what it does |", "|---|---|---|"]
    for name, args, text in def_rows("kernel/commands.def", "COMMAND"):
        args = f"`{unquote(args)}`" if unquote(args) else "–"
        out.append(f"| `{name}` | {args} | {unquote(text)} |")
    return out


@table("helpers")
def helpers():
    out = ["| helper | arguments | returns | programs | maps |", "|---|---|---|---|---|"]
    for name, ret, args, _, progs, maps, *_ in def_rows("bpf/helpers.def", "HELPER"):
        args = [a.strip() for a in args.strip("()").split(",")]
        args = ", ".join(flags(a, "ARG_") for a in args if a != "0") or "–"
        maps = re.sub(r"HELPER_MAP\((\w+)\)", r"\1", maps)
        out.append(f"| `bpf_{name}` | {args} | {flags(ret, 'RET_')} | "
                   f"{flags(progs, 'HELPER_PROGS_')} | "
                   f"{flags(maps, 'HELPER_MAPS_', 'BPF_MAP_TYPE_')} |")
    return out


@table("map-types")
def map_types():
    out = ["| map type | name in bpftool | features | flags at creation |", "|---|---|---|---|"]
    for kind, name, _, features, ok in def_rows("maps/map_types.def", "MAP_TYPE"):
        out.append(f"| `BPF_MAP_TYPE_{kind}` | {unquote(name)} | {flags(features, 'MAP_FEAT_')} | "
                   f"{flags(ok, 'BPF_F_')} |")
    return out
