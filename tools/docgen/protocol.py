# SPDX-License-Identifier: BSD-2-Clause
"""Tables of docs/protocol.md: commands and info pointers, from wire/bpf_cmds.def."""
import re

from docgen import def_rows, split_args, table

FIELDS = re.compile(r"\b(FD|PTR|SCALAR)\(")


def fields(text):
    """Rows FD(..) PTR(..) SCALAR(..) in the last argument of a CMD row: (kind, arguments)."""
    pos = 0
    while m := FIELDS.search(text, pos):
        args, pos = split_args(text, m.end() - 1)
        yield m[1], args


def field_name(path):
    """`bpf.test.data_in` without the member of the union."""
    return path.split(".", 1)[1]


def expression(text):
    """A length or condition in words of the attr: no A(), casts and suffixes of C."""
    text = re.sub(r"\b[AI]\(([\w.]+)\)", lambda m: "`" + m[1].split(".", 1)[1] + "`", text)
    text = re.sub(r"\(uint64_t\)", "", text)
    text = re.sub(r"\b(KEY|VALUE|CURSOR|KEYS|VALUES|INFO)\(\w+\.", lambda m: m[1] + "(", text)
    text = re.sub(r"!BY_IFINDEX\([^)]*\)", "the target is no interface", text)
    text = re.sub(r"BY_IFINDEX\([^)]*\)", "the target is an interface", text)
    text = re.sub(r"LINK_FOR\((\w+)\)", r"the attach type is \1", text)
    text = re.sub(r"MAP_TYPE\(\w+\.(\w+)\)", r"type of `\1`", text)
    return re.sub(r"(?<=\d)ull\b", "", text).replace("|", "\\|")


def length(text):
    m = re.fullmatch(r"BYTES\((.*)\)", text)
    if m:
        return expression(m[1])
    return expression(text).lower() if "(" not in text else \
        re.sub(r"^[A-Z_]+", lambda m: m[0].lower(), expression(text))


def when(text):
    return "" if text == "ALWAYS" else f" if {expression(text)}"


@table("bpf-cmds")
def bpf_cmds():
    out = ["| number | command | buffers (direction: length) | fds | written back | returns |",
           "|---|---|---|---|---|---|"]
    for number, name, result, last, *rest in def_rows("wire/bpf_cmds.def", "CMD"):
        ptrs, fds, scalars = [], [], []
        for kind, args in fields(" ".join(rest)):
            if kind == "PTR":
                path, way, size, cond = args
                ptrs.append(f"`{field_name(path)}` {way.lower()}: {length(size)}{when(cond)}")
            elif kind == "FD":
                path, how, cond = args
                need = "" if how == "NEEDED" else "?"
                fds.append(f"`{field_name(path)}`{need}{when(cond)}")
            else:
                scalars.append(f"`{field_name(args[0])}`")
        returns = {"PLAIN": "number", "HANDLE": "handle", "LOCAL": "host: -ENOTSUPP"}[result]
        out.append(f"| {number} | `{name}` | {'; '.join(ptrs) or '–'} | {', '.join(fds) or '–'} | "
                   f"{', '.join(scalars) or '–'} | {returns} |")
    return out


@table("info-pointers")
def info_pointers():
    out = ["| object | pointer | length | only if |", "|---|---|---|---|"]
    for kind, path, size, cond in def_rows("wire/bpf_cmds.def", "INFO_PTR"):
        cond = expression(cond).replace("LINK_TYPE", "link type") if cond != "ALWAYS" else "–"
        out.append(f"| {kind.lower()} | `{field_name(path)}` | {length(size)} | {cond} |")
    return out
