# SPDX-License-Identifier: BSD-2-Clause
"""What the checks of tools/lint share."""
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PURE = ("lib", "bpf", "maps", "jit", "wire", "runtime")
KERNEL = ("boot", "kernel", "mm", "drivers", "board")
CODE = (".c", ".h", ".S", ".def")


def files(*suffixes, under=""):
    """Sources of the project, sorted; no suffixes: all of them."""
    out = []
    for path in sorted((ROOT / under).rglob("*")):
        rel = path.relative_to(ROOT)
        if rel.parts[0] in ("build", ".git") or "__pycache__" in rel.parts or not path.is_file():
            continue
        if not suffixes or path.suffix in suffixes:
            out.append(path)
    return out


def name(path):
    return str(path.relative_to(ROOT))


def lines(path):
    """(number, text) of a file."""
    return enumerate(path.read_text(errors="replace").splitlines(), 1)


def command(*args, **kw):
    return subprocess.run(args, cwd=ROOT, text=True, capture_output=True, **kw)


def make_var(var):
    """A variable of the Makefile, expanded."""
    out = command("make", "-s", "--no-print-directory", "-f", "Makefile",
                  "--eval", f"print-var: ; $(info $({var}))", "print-var")
    return out.stdout.strip()
