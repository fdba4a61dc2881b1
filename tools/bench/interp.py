# SPDX-License-Identifier: BSD-2-Clause
"""The programs of bench/ in the interpreter: instructions of the machine per run, and for each
eBPF instruction of the compute programs.

insns_per_run is what the board spends in one run of BPF_PROG_TEST_RUN, by its clock, which under
icount counts instructions. `F` is that less what the run loop costs, known from the empty program:
it counts the program and what it calls, as the figures for Linux in bench/expected.tsv do, but for
the few instructions that an empty program needs itself.
"""
import math

from bench import Row, board, programs

# Programs that compute and call nothing: one path, known lengths.
COMPUTE = ("alu32", "alu64", "bubble_sort", "crc32", "csum", "divmod", "http_parse", "jhash",
           "loop_bounded", "memcpy_cmp", "pkt_parse", "siphash")
CHECKED, FAST = 1, 2


def rows():
    fast, ebpf = {}, {}
    with board() as b:
        b.set_knob("bpf.unverified", 1)
        for mode, runs in ((FAST, 100), (CHECKED, 4)):
            b.set_knob("bpf.run_mode", mode)
            for program in programs():
                if mode == CHECKED and program.name not in (*COMPUTE, "empty"):
                    continue
                before = b.knob("bpf.checked_insns")
                result = b.run(program, runs)
                if mode == FAST:
                    fast[program.name] = result["ns_per_run"]
                else:
                    ebpf[program.name] = (b.knob("bpf.checked_insns") - before) / runs
    for name, insns in fast.items():
        yield Row("interp", name, "insns_per_run", insns, "insns")
    for name, insns in fast.items():
        yield Row("interp", name, "F", insns - fast["empty"], "insns")
    ratios = {n: (fast[n] - fast["empty"]) / (ebpf[n] - ebpf["empty"]) for n in COMPUTE}
    for name, ratio in ratios.items():
        yield Row("interp", name, "a64_per_insn", ratio, "insns/insn")
    yield Row("interp", "compute", "a64_per_insn_geomean",
              math.exp(sum(map(math.log, ratios.values())) / len(ratios)), "insns/insn", most=8)
