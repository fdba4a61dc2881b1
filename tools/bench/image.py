# SPDX-License-Identifier: BSD-2-Clause
"""Size of the board image, and what it takes to come up."""
import re

from bench import BUILD, VIRT, Row
from machine import Machine


def rows():
    yield Row("image", "Image", "bytes", (BUILD / "Image").stat().st_size, "bytes", most=512 << 10)
    with Machine(VIRT, append="") as machine:
        text = machine.boot()
        machine.power_off(0)
    # The board's clock starts at reset, and a nanosecond of it is an instruction.
    ready = re.search(r"\[ *(\d+)\.(\d{6})\] ready", text)
    used = re.search(r"memory: \d+ MB, of which (\d+) KB in use", text)
    yield Row("boot", "virt", "insns_to_ready", int(ready[1] + ready[2]) * 1000, "insns",
              most=3_000_000)
    yield Row("boot", "virt", "ram_bytes", int(used[1]) << 10, "bytes", most=4 << 20)
