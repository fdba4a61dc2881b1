#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# timeout: 300
"""The distribution's bpftool against a board. A process that asks the host's bpf(2) dies."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(__file__))
from cli import BUILD, EXAMPLES, NOBODY, Board, forbid_bpf  # noqa: E402
from machine import check, check_equal, check_text, run_tests  # noqa: E402

FILTER = EXAMPLES / "filter.bpf.o"
SMALL = BUILD / "tests/bpf/small.bpf.o"
CORES = 4
board = None


def host_bpffs():
    """What the host has below /sys/fs/bpf and mounted there; tracefs too."""
    mounts = [line for line in open("/proc/mounts") if " bpf " in line or "tracefs" in line]
    return mounts, sorted(os.listdir("/sys/fs/bpf"))


def refused(*args, says):
    board.bpftool(*args, status=None)
    check(board.status != 0, f"bpftool {args} must fail")
    check_text(board.err, says)


def forbidden_means_forbidden():
    pid = os.fork()
    if not pid:
        forbid_bpf()
        import ctypes
        ctypes.CDLL(None).syscall(321, 0, 0, 0)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    check(os.WIFSIGNALED(status), "a process that asks the host's bpf(2) must die")


def prog_load_and_pin():
    board.bpftool("prog", "load", FILTER, "/sys/fs/bpf/filter")
    shown = board.bpftool_json("prog", "show", "pinned", "/sys/fs/bpf/filter")
    check_equal(shown["type"], "xdp", "type")
    check_equal(shown["name"], "filter", "name")
    check_equal(shown["gpl_compatible"], True, "gpl_compatible")
    check_equal(len(shown["map_ids"]), 5, "number of maps")
    text = board.bpftool("prog", "show", "id", shown["id"])
    check_text(text, r"xdp  name filter  tag [0-9a-f]{16}  gpl\n\tloaded_at 2")
    again = board.bpftool("-p", "prog", "show", "name", "filter")
    check_text(again, r'\n    "type": "xdp",\n')
    refused("prog", "load", FILTER, "/sys/fs/bpf/filter", says="failed to pin program")


def prog_loaded_now():
    """The board's clock is another: load times must be the host's."""
    import time
    shown = board.bpftool_json("prog", "show", "pinned", "/sys/fs/bpf/filter")
    check(abs(shown["loaded_at"] - time.time()) < 120, f"loaded_at {shown['loaded_at']}")


def prog_dump_xlated():
    text = board.bpftool("prog", "dump", "xlated", "pinned", "/sys/fs/bpf/filter")
    check_text(text, r"int filter\(struct xdp_md \* ?ctx\):\n")
    check_text(text, r"call bpf_map_lookup_elem#1\n")
    check_text(text, r"\(18\) r\d = map\[id:\d+\]")
    check_text(text, r"\(95\) exit")
    insns = board.bpftool_json("prog", "dump", "xlated", "pinned", "/sys/fs/bpf/filter",
                               "opcodes")
    check(len(insns) > 20 and "opcodes" in insns[0], "opcodes in JSON")


def prog_run():
    packet = board.state + "/packet"
    with open(packet, "wb") as f:
        f.write(bytes(12) + b"\x08\x06" + bytes(46))  # ARP
    text = board.bpftool("prog", "run", "pinned", "/sys/fs/bpf/filter", "data_in", packet,
                         "data_out", board.state + "/out", "repeat", 3)
    check_text(text, r"Return value: 2, duration \(average\): \d+ns")
    check_equal(open(board.state + "/out", "rb").read(), open(packet, "rb").read(), "data_out")
    counts = board.bpftool_json("map", "dump", "name", "protocols")
    arp = next(e["formatted"]["value"] for e in counts if e["formatted"]["key"] == 1)
    check_equal(arp["packets"], 3, "ARP packets counted")


def map_life():
    pin = "/sys/fs/bpf/m1"
    board.bpftool("map", "create", pin, "type", "hash", "key", 4, "value", 8, "entries", 2,
                  "name", "lively")
    update = ["map", "update", "pinned", pin, "key", 1, 0, 0, 0, "value", 1, 2, 3, 4, 5, 6, 7, 8]
    board.bpftool(*update)
    board.bpftool(*update, "exist")
    refused(*update, "noexist", says="File exists")
    text = board.bpftool("map", "lookup", "pinned", pin, "key", 1, 0, 0, 0)
    check_equal(text, "key: 01 00 00 00  value: 01 02 03 04 05 06 07 08\n", "looked up")
    text = board.bpftool("map", "getnext", "pinned", pin)
    check_text(text, r"key: None\nnext key:\n01 00 00 00")
    board.bpftool("map", "update", "pinned", pin, "key", 2, 0, 0, 0, "value", *[0] * 8)
    refused("map", "update", "pinned", pin, "key", 3, 0, 0, 0, "value", 0, 0, 0, 0, 0, 0, 0, 0,
            says="Argument list too long")
    board.bpftool("map", "delete", "pinned", pin, "key", 1, 0, 0, 0)
    dump = board.bpftool_json("map", "dump", "pinned", pin)
    check_equal([e["key"] for e in dump], [["0x02", "0x00", "0x00", "0x00"]], "keys left")
    check_text(board.bpftool("map", "lookup", "pinned", pin, "key", 1, 0, 0, 0, status=None),
               "Not found")
    shown = board.bpftool_json("map", "show", "pinned", pin)
    check_equal((shown["type"], shown["name"], shown["bytes_key"], shown["bytes_value"],
                 shown["max_entries"]), ("hash", "lively", 4, 8, 2), "map")
    board.bpftool("map", "pin", "id", shown["id"], "/sys/fs/bpf/m2")
    board.run("rm", pin)
    board.bpftool("map", "freeze", "pinned", "/sys/fs/bpf/m2")
    refused("map", "update", "pinned", "/sys/fs/bpf/m2", "key", 2, 0, 0, 0, "value",
            0, 0, 0, 0, 0, 0, 0, 0, says="not permitted")
    board.run("rm", "/sys/fs/bpf/m2")
    refused("map", "show", "id", shown["id"], says="No such file")


def map_of_every_core():
    """The board has more cores than many a host: the client's buffers must fit its count."""
    pin = "/sys/fs/bpf/percpu"
    board.bpftool("map", "create", pin, "type", "percpu_array", "key", 4, "value", 4, "entries", 2,
                  "name", "percpu")
    board.bpftool("map", "update", "pinned", pin, "key", 1, 0, 0, 0, "value", 9, 0, 0, 0)
    text = board.bpftool("map", "dump", "pinned", pin)
    check_equal(len(re.findall(r"value \(CPU \d\d\): 09 00 00 00", text)), CORES, "values of key 1")
    check_equal(len(re.findall(r"value \(CPU \d\d\): 00 00 00 00", text)), CORES, "values of key 0")
    dump = board.bpftool_json("map", "dump", "pinned", pin)
    check_equal([v["cpu"] for v in dump[1]["values"]], list(range(CORES)), "cores in JSON")
    board.run("rm", pin)


def pinned_paths():
    text = board.bpftool("-f", "prog", "show")
    check_text(text, r"\tpinned /sys/fs/bpf/filter")
    board.bpftool("prog", "loadall", FILTER, "/sys/fs/bpf/all", "pinmaps", "/sys/fs/bpf/all/maps")
    paths = {e["path"]: e["kind"] for e in board.json("ls")}
    check_equal(paths.get("/sys/fs/bpf/all/filter"), "prog", "kind of the program's pin")
    check_equal(paths.get("/sys/fs/bpf/all/maps/senders"), "map", "kind of a map's pin")
    for path in sorted(paths, reverse=True):
        if path.startswith("/sys/fs/bpf/all"):
            board.run("rm", path)
    refused("map", "show", "pinned", "/sys/fs/bpf/all/filter", says="No such file")


def btf():
    prog = board.bpftool_json("prog", "show", "pinned", "/sys/fs/bpf/filter")
    listed = board.bpftool_json("btf", "show")
    check(prog["btf_id"] in [b["id"] for b in listed], "the program's BTF is not listed")
    text = board.bpftool("btf", "dump", "id", prog["btf_id"])
    check_text(text, r"STRUCT 'count' size=16 vlen=2")
    text = board.bpftool("btf", "dump", "id", prog["btf_id"], "format", "c")
    check_text(text, r"struct count \{\n\t__u64 packets;")


def other_subcommands():
    board.bpftool("link", "show")
    check_equal(board.bpftool_json("link", "show"), [], "links")
    board.bpftool("perf", "show")
    refused("prog", "show", "id", 1 << 30, says="No such file")
    refused("map", "dump", "id", 1 << 30, says="No such file")


def tracelog_is_the_boards():
    board.run("run", EXAMPLES / "hello.bpf.o")
    process = board.start("exec", "--", "stdbuf", "-oL", "bpftool", "prog", "tracelog")
    try:
        line = process.stdout.readline()
        check_text(line, r"hello from core \d+ at \d+ ns, run 1")
    finally:
        process.terminate()
        board.finish(process, status=None)


def few_round_trips():
    """libbpf's probes are answered from what the board said before."""
    def load():
        before = board.line()
        board.bpftool("prog", "load", SMALL, "/sys/fs/bpf/cost")
        after = board.line()
        board.run("rm", "/sys/fs/bpf/cost")
        return (after["round_trips"] - before["round_trips"],
                after["tx_bytes"] + after["rx_bytes"] - before["tx_bytes"] - before["rx_bytes"])

    load()
    trips, size = load()
    print(f"# {trips} round trips, {size} bytes")
    check(trips - 1 <= 15, f"{trips - 1} round trips")  # one is the counter's own
    check(size <= 4000, f"{size} bytes on the line")


def feature_probe():
    text = board.bpftool("feature", "probe", timeout=250)
    check_text(text, r"eBPF program_type xdp is available")
    check_text(text, r"eBPF map_type hash is available")
    check_text(text, r"eBPF map_type cgroup_storage is NOT available")
    section = text[text.index("eBPF helpers supported for program type xdp:"):]
    section = section[:section.index("eBPF helpers", 10)]
    check("bpf_map_lookup_elem" in section, "map lookup in xdp programs")
    before = board.line()["round_trips"]
    again = board.exec(*NOBODY, "bpftool", "-j", "feature", "probe", timeout=250)
    check_text(again, r'"have_xdp_prog_type":true')
    check(board.line()["round_trips"] - before < 400, "the second time must come from the memo")


def host_untouched():
    mounts, names = before
    check_equal(host_bpffs(), (mounts, names), "the host's bpffs and tracefs")


if __name__ == "__main__":
    before = host_bpffs()
    with Board("--smp", CORES) as board:
        run_tests((f.__name__, f) for f in (
            forbidden_means_forbidden, prog_load_and_pin, prog_loaded_now, prog_dump_xlated,
            prog_run, map_life, map_of_every_core, pinned_paths, btf, other_subcommands,
            tracelog_is_the_boards, few_round_trips, feature_probe, host_untouched))
