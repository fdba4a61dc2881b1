# SPDX-License-Identifier: BSD-2-Clause
"""What the benchmarks of tools/bench/ share; see tools/bench.py."""
import dataclasses
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build"

CPU = "cortex-a72"
# One instruction is one nanosecond of virtual time, idle or not: the same figures in every run.
ICOUNT = ["-icount", "shift=0,sleep=off"]
VIRT = ["-M", "virt,dtb-randomness=off", "-cpu", CPU, "-smp", "4", "-m", "512", "-nic", "none",
        *ICOUNT]


@dataclasses.dataclass
class Row:
    """bench/metric name what is measured, case the program or configuration it is measured on."""
    bench: str
    case: str
    metric: str
    value: float
    unit: str
    most: float = None
    least: float = None

    def holds(self):
        return (self.most is None or self.value <= self.most) and \
            (self.least is None or self.value >= self.least)

    def result(self):
        return {k: getattr(self, k) for k in ("bench", "case", "metric", "value", "unit")}
