# SPDX-License-Identifier: BSD-2-Clause
"""Size of the board image, and what it takes to come up: from reset to the first frame sent."""
import re

from bench import BUILD, Row, board


def rows():
    yield Row("image", "Image", "bytes", (BUILD / "Image").stat().st_size, "bytes", most=512 << 10)
    with board() as b:
        log, info = b.text("log"), b.call("info")
    ready = re.search(r"(\d+) instructions to the first frame", log)
    yield Row("boot", "virt", "insns_to_ready", int(ready[1]), "insns", most=3_000_000)
    yield Row("boot", "virt", "ram_bytes", info["boot_ram_used_bytes"], "bytes", most=4 << 20)
