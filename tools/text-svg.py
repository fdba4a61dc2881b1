#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Terminal output on standard input to an SVG picture on standard output. Bold escape sequences are
kept, everything else that is not text is dropped; a line redrawn with carriage returns shows its
last state. For the pictures of docs/: `script -qc 'make run' /dev/null | tools/text-svg.py`."""
import html
import re
import sys

COLUMNS, CHAR, LINE, PAD = 100, 7.8, 17, 14


def last_state(line):
    """What is left to see of a line that was redrawn."""
    parts = [p for p in line.rstrip("\r").split("\r") if p]
    return parts[-1] if parts else ""


def spans(line):
    """The line as SVG tspans, bold where the terminal would be bold; so are lines that begin with a
    prompt."""
    bold, out = line.startswith("$ "), []
    for piece in re.split(r"(\x1b\[[0-9;]*[A-Za-z])", line):
        if piece.startswith("\x1b["):
            bold = piece == "\x1b[1m" or (bold and piece != "\x1b[0m" and piece != "\x1b[m")
        elif piece:
            style = ' font-weight="bold" fill="#ffffff"' if bold else ""
            out.append(f"<tspan{style}>{html.escape(piece)}</tspan>")
    return "".join(out)


def main():
    lines = [last_state(line)[:400] for line in sys.stdin.read().split("\n")]
    while lines and not lines[-1].strip():
        lines.pop()
    width, height = COLUMNS * CHAR + 2 * PAD, len(lines) * LINE + 2 * PAD
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}">')
    print('<rect width="100%" height="100%" rx="6" fill="#1d2127"/>')
    print('<g font-family="DejaVu Sans Mono, Menlo, monospace" font-size="13" fill="#c9d1d9" '
          'xml:space="preserve">')
    for n, line in enumerate(lines):
        print(f'<text x="{PAD}" y="{PAD + (n + 1) * LINE - 4}">{spans(line)}</text>')
    print("</g>\n</svg>")


main()
