# SPDX-License-Identifier: BSD-2-Clause
"""Tables in docs/ are what their generators say."""
import sys

from common import command


def docs():
    out = command(sys.executable, "tools/gen-docs.py", "--check")
    return (out.stdout + out.stderr).splitlines() if out.returncode else []
