# SPDX-License-Identifier: BSD-2-Clause
"""Each header compiles alone, with the flags of the code that includes it, and has #pragma once."""
import concurrent.futures
import os
import shlex

from common import KERNEL, PURE, command, files, make_var, name


def compile_alone(job):
    path, flags = job
    out = command(*flags, "-fsyntax-only", "-x", "c", "-include", name(path), "/dev/null")
    return [line for line in out.stderr.splitlines() if "error" in line][:3] if out.returncode \
        else []


def alone():
    warn = "-Wall -Wextra -Werror -Wno-unused-function -Wno-unused-variable"
    image = shlex.split(make_var("A64_CC") + " " + make_var("KFLAGS") + " " +
                        make_var("KCPPFLAGS") + " " + warn)
    host = shlex.split(make_var("HOST_CC") + " " + make_var("HOST_CFLAGS") + " " +
                       make_var("HOST_CPPFLAGS") + " -Itests/unit " + warn)
    jobs, bad = [], []
    for path in files(".h"):
        folder = name(path).split("/")[0]
        if "#pragma once" not in path.read_text():
            bad.append(f"{name(path)}: no #pragma once")
        if folder in PURE + KERNEL + ("include",):
            jobs.append((path, image))
        elif folder in ("host", "tests"):
            jobs.append((path, host))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for result in pool.map(compile_alone, jobs):
            bad += result
    return bad
