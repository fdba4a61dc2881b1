# SPDX-License-Identifier: BSD-2-Clause
"""Which folder may include which (layers.txt), and what pure folders may take from outside."""
import re

from common import CODE, PURE, ROOT, files, lines, name

INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')
# The compiler's own headers, kernel ABI headers, and libc's mem*/str*, which the image supplies.
PURE_SYSTEM = re.compile(r"(std(arg|atomic|bool|def|int|align)|limits|string|inttypes)\.h"
                         r"|(linux|asm-generic)/.*")


def table():
    allowed = {}
    for _, text in lines(ROOT / "tools/lint/layers.txt"):
        text = text.split("#")[0].strip()
        if text:
            folder, _, deps = text.partition(":")
            allowed[folder] = {folder, "include", *deps.split()}
    return allowed


def includes():
    bad = []
    for folder, allowed in table().items():
        for path in files(*CODE, under=folder):
            for number, text in lines(path):
                m = INCLUDE.match(text)
                if not m or m[1] == "<":
                    continue
                target = m[2].split("/")[0]
                if "/" not in m[2]:
                    bad.append(f'{name(path)}:{number}: "{m[2]}": includes start at the root')
                elif target not in allowed and m[2] not in allowed:
                    bad.append(f"{name(path)}:{number}: {folder}/ may not include {m[2]}")
    return bad


def pure_system_includes():
    bad = []
    for folder in PURE + ("include",):
        for path in files(*CODE, under=folder):
            for number, text in lines(path):
                m = INCLUDE.match(text)
                if m and m[1] == "<" and not PURE_SYSTEM.fullmatch(m[2]):
                    bad.append(f"{name(path)}:{number}: <{m[2]}> in a pure folder")
    return bad
