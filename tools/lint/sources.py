# SPDX-License-Identifier: BSD-2-Clause
"""Checks on the text of sources."""
import re

from common import CODE, command, files, lines, make_var, name

FILE_LINES, FUNCTION_LINES, COLUMNS, TAB = 500, 60, 100, 8
LICENCE = "SPDX-License-Identifier: BSD-2-Clause"
SCRIPT = (".sh", ".py", ".mk")


def is_script(path):
    return path.suffix in SCRIPT or name(path) in ("Makefile", ".ci/run")


def licence():
    """Every source and script says its licence in the first five lines; data and prose need not."""
    wanted = CODE + SCRIPT + (".ld", ".cmd")
    return [f"{name(p)}: no line `{LICENCE}` at its head" for p in files()
            if (p.suffix in wanted or is_script(p)) and
            LICENCE not in "\n".join(p.read_text(errors="replace").splitlines()[:5])]


def file_size():
    bad = []
    for path in files(".c", ".h", ".S", *SCRIPT):
        size = len(path.read_text(errors="replace").splitlines())
        if size > FILE_LINES:
            bad.append(f"{name(path)}: {size} lines, more than {FILE_LINES}")
    return bad


def function_size():
    """Between the `{` and the `}` of column 0, which is where the code style puts them."""
    bad = []
    for path in files(".c", ".h"):
        start = None
        for number, text in lines(path):
            if text == "{":
                start = number
            elif text == "}" and start:
                if number - start - 1 > FUNCTION_LINES:
                    bad.append(f"{name(path)}:{start}: function of {number - start - 1} lines, "
                               f"more than {FUNCTION_LINES}")
                start = None
    return bad


def columns():
    """Rows of .def tables may be longer: one row is one line."""
    bad = []
    for path in files(".c", ".h", ".S", *SCRIPT):
        for number, text in lines(path):
            if len(text.expandtabs(TAB)) > COLUMNS:
                bad.append(f"{name(path)}:{number}: more than {COLUMNS} columns")
            if text != text.rstrip():
                bad.append(f"{name(path)}:{number}: blanks at the end of the line")
    return bad


def words():
    """Notes to oneself are finished or filed, not left in the source."""
    note = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
    return [f"{name(p)}:{n}: {t.strip()}" for p in files(*CODE, *SCRIPT)
            for n, t in lines(p) if note.search(t)]


def board_ifs():
    return [f"{name(p)}:{n}: board #if outside board/" for p in files(".c", ".h", ".S")
            if not name(p).startswith("board/")
            for n, t in lines(p) if re.match(r"\s*#\s*(if|elif).*\bBOARD_", t)]


def paths():
    """Nothing is fetched by address, and nothing refers to the machine that it was written on."""
    address = re.compile(r"(https?|ftp)" r"://")
    place = re.compile(r"(?<![\w.$}>)*-])/(wor" r"k|roo" r"t|hom" r"e)/")
    bad = []
    for path in files():
        for number, text in lines(path):
            if is_script(path) and address.search(text) and "xmlns" not in text:
                bad.append(f"{name(path)}:{number}: address in a script")
            if place.search(text):
                bad.append(f"{name(path)}:{number}: path of one machine")
    return bad


def clang_format():
    out = command(make_var("CLANG_FORMAT"), "--dry-run", "-Werror", *map(name, files(".c", ".h")))
    return [line for line in out.stderr.splitlines() if "error:" in line]


def scripts():
    """Shell and Python sources parse."""
    bad = []
    for path in files():
        head = path.read_bytes()[:60].split(b"\n")[0]
        if path.suffix == ".sh" or (head.startswith(b"#!") and head.endswith(b"sh")):
            bad += command("bash", "-n", str(path)).stderr.splitlines()
        elif path.suffix == ".py":
            try:
                compile(path.read_text(), name(path), "exec")
            except SyntaxError as e:
                bad.append(f"{name(path)}:{e.lineno}: {e.msg}")
    return bad
