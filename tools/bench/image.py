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
    ready = re.search(r"ready: .* (\d+) instructions to the first frame, (\d+) KB of memory", text)
    yield Row("boot", "virt", "insns_to_ready", int(ready[1]), "insns", most=3_000_000)
    yield Row("boot", "virt", "ram_bytes", int(ready[2]) << 10, "bytes", most=4 << 20)
