# SPDX-License-Identifier: BSD-2-Clause
"""Registry of generated tables and a reader of X-macro files; see tools/gen-docs.py."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TABLES = {}


def table(name):
    def register(function):
        TABLES[name] = function
        return function
    return register


def strip_comments(text):
    """C text without comments and preprocessor lines; strings stay as they are."""
    token = re.compile(r'"(?:\\.|[^"\\])*"|/\*.*?\*/|//[^\n]*', re.S)
    text = token.sub(lambda m: m[0] if m[0].startswith('"') else " ", text)
    return re.sub(r"^[ \t]*#.*?(?<!\\)$", "", text, flags=re.M | re.S)


def split_args(text, at):
    """Arguments of the parenthesis that opens at text[at]: (list, index after it)."""
    args, depth, start, i = [], 0, at + 1, at
    while i < len(text):
        c = text[i]
        if c == '"':
            i = re.compile(r'"(?:\\.|[^"\\])*"').match(text, i).end()
            continue
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        if (c == "," and depth == 1) or depth == 0:
            args.append(" ".join(text[start:i].split()))
            start = i + 1
            if depth == 0:
                return args, i + 1
        i += 1
    raise ValueError("parenthesis does not close")


def def_rows(path, macro):
    """Rows `macro(a, b, ...)` of an X-macro file in its order."""
    text = strip_comments((ROOT / path).read_text())
    rows, pos = [], 0
    for m in re.finditer(r"\b" + re.escape(macro) + r"\s*\(", text):
        if m.start() < pos:
            continue
        args, pos = split_args(text, m.end() - 1)
        rows.append(args)
    return rows


def unquote(literal):
    """Text of adjacent C string literals."""
    return "".join(re.findall(r'"((?:\\.|[^"\\])*)"', literal)).replace('\\"', '"')
