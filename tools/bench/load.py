# SPDX-License-Identifier: BSD-2-Clause
"""What `bpftool prog load` costs on the line: a small object on a board that has just started, and
the largest one, where what counts is the share of the payload and the board's work per byte.
"""
from bench import BUILD, Row, board

SMALL, LARGE = "alu32", "siphash"


def load(b, name):
    """Figures of the line before and after, as differences: (host's, board's)."""
    before = b.call("line")
    b.text("exec", "--", "bpftool", "prog", "load", BUILD / f"bench/{name}.bpf.o",
           f"/sys/fs/bpf/{name}")
    after = b.call("line")
    return tuple({k: after[side][k] - before[side][k] for k in after[side]}
                 for side in ("host", "board"))


def rows():
    with board() as b:
        idle = load_nothing(b)
        small, _ = load(b, SMALL)
        large, large_board = load(b, LARGE)
    for name, host in ((SMALL, small), (LARGE, large)):
        yield Row("load", name, "round_trips", host["round_trips"] - idle["round_trips"],
                  "round trips", most=15)
        yield Row("load", name, "line_bytes",
                  host["tx_bytes"] + host["rx_bytes"] - idle["tx_bytes"] - idle["rx_bytes"],
                  "bytes", most=4096 if name == SMALL else None)
    yield Row("load", LARGE, "payload_ratio", large["tx_payload_bytes"] / large["tx_bytes"],
              "payload/line", least=0.92)
    yield Row("load", LARGE, "insns_per_byte",
              large_board["rx_insns"] / large_board["rx_payload_bytes"], "insns/byte", most=60)


def load_nothing(b):
    """What reading the figures costs itself."""
    before = b.call("line")["host"]
    after = b.call("line")["host"]
    return {k: after[k] - before[k] for k in after}
