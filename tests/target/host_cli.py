#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# timeout: 400
"""The commands of the host tool on an emulated board."""
import collections
import os
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(__file__))
from cli import BUILD, CAPTURE, EXAMPLES, ROOT, Board, Tool  # noqa: E402
from machine import check, check_equal, check_text, run_tests  # noqa: E402

FILTER, HELLO, SMALL = (str(p) for p in (EXAMPLES / "filter.bpf.o", EXAMPLES / "hello.bpf.o",
                                         BUILD / "tests/bpf/small.bpf.o"))
OTHER, ARP, ICMP, ICMPV6, TCP, UDP = range(6)
board = None


def frames(path=CAPTURE):
    """Packets of the capture, read without the host tool."""
    data = open(path, "rb").read()
    at = 24
    while at < len(data):
        size = struct.unpack_from("<I", data, at + 8)[0]
        yield data[at + 16:at + 16 + size]
        at += 16 + size


def expected():
    """What filter.bpf.c should find: verdicts, packets and bytes by protocol, by sender."""
    verdicts, protocols, senders = (collections.Counter() for _ in range(3))
    sizes = collections.Counter()
    for f in frames():
        kind, at, proto, port = struct.unpack_from("!H", f, 12)[0], 14, OTHER, 0
        if kind == 0x8100:
            kind, at = struct.unpack_from("!H", f, 16)[0], 18
        if kind == 0x0806:
            proto = ARP
        elif kind in (0x0800, 0x86dd):
            number = f[at + 9] if kind == 0x0800 else f[at + 6]
            l4 = at + (f[at] & 15) * 4 if kind == 0x0800 else at + 40
            proto = {1: ICMP, 58: ICMPV6, 6: TCP, 17: UDP}.get(number, OTHER)
            port = struct.unpack_from("!H", f, l4 + 2)[0]
            if kind == 0x0800:
                senders[tuple(f[at + 12:at + 16])] += 1
        protocols[proto] += 1
        sizes[min(len(f).bit_length() - 1, 11)] += 1
        verdicts["XDP_DROP" if proto == TCP and port == 23 else "XDP_PASS"] += 1
    return verdicts, protocols, senders, sizes


def info():
    i = board.json("info")
    check_equal((i["cpus"], i["online_mask"], i["abi"]), (4, 15, 1), "cores and ABI")
    check_text(i["cpu"], "Cortex-A72")
    check(0 < i["ram_free_bytes"] <= i["ram_bytes"] == 512 << 20, "memory")
    check_text(board.run("info"), r"board .*, 4 x Cortex-A72")


def run_over_capture():
    verdicts, protocols, senders, sizes = expected()
    r = board.json("run", FILTER, "--pcap", CAPTURE, "--maps")
    check_equal(r["verdicts"], dict(verdicts), "verdicts")
    check_equal((r["packets"], r["runs"]), (sum(verdicts.values()),) * 2, "packets")
    check(r["ns_per_run"] > 0, "time per run")
    maps = {m["map"]["name"]: m["rows"] for m in r["maps"]}
    check_equal({row["key"]["key"]: row["value"]["packets"] for row in maps["protocols"]},
                dict(protocols), "packets by protocol")
    check_equal({tuple(row["key"][k] for k in "abcd"): row["value"]["packets"]
                 for row in maps["senders"]}, dict(senders), "packets by sender")
    by_size = collections.Counter()
    for row in maps["sizes"]:
        by_size[row["key"]["key"]] += row["value"]["value"]
    check_equal(by_size, sizes, "packets by size, all cores together")
    check_equal(maps["filter.rodata"][0]["value"]["blocked_port"], 23, "rodata")
    check_equal(maps["filter.bss"][0]["value"]["dropped"], verdicts["XDP_DROP"], "bss")
    text = board.run("run", FILTER, "--pcap", CAPTURE, "--maps")
    check_text(text, r"XDP_DROP +5\n")
    check_text(text, r"\n  a   b    c   d  packets  bytes\n")
    check_text(text, r"\n198  51  100  66 +5 ") # where in the table is the hash's affair


def other_captures():
    """pcapng, the other byte order, and files that are none of these."""
    name = board.state + "/capture"
    some = list(frames())[:7]

    def write(data):
        with open(name, "wb") as f:
            f.write(data)

    def block(kind, body):
        body = body.ljust((len(body) + 3) // 4 * 4, b"\0")
        return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)

    def packets():
        return board.json("run", FILTER, "--pcap", name)["packets"]

    def refused(data, says):
        write(data)
        board.run("run", FILTER, "--pcap", name, status=1)
        check_text(board.err, says)

    write(struct.pack(">IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 65535, 1) +
          b"".join(struct.pack(">IIII", 0, 0, len(f), len(f)) + f for f in some))
    check_equal(packets(), 7, "packets of a big-endian capture")
    section = block(0x0a0d0d0a, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1))
    ethernet = block(1, struct.pack("<HHI", 1, 0, 0))
    enhanced = b"".join(block(6, struct.pack("<IIIII", 0, 0, 0, len(f), len(f)) + f) for f in some)
    simple = block(3, struct.pack("<I", len(some[0])) + some[0])
    write(section + ethernet + enhanced + simple)
    check_equal(packets(), 8, "packets of a pcapng capture")
    refused(section + block(1, struct.pack("<HHI", 113, 0, 0)) + enhanced, "not Ethernet")
    refused(section + ethernet + enhanced[:40], "length is wrong|damaged")
    refused(section + ethernet, "no packets")
    refused(open(CAPTURE, "rb").read()[:2000], "cut off")
    refused(b"\x7fELF" + bytes(100), "neither pcap nor pcapng")
    refused(b"", "neither")


def run_variants():
    board.run("run", FILTER, "--data-in", "/no/packet", status=1)
    r = board.json("run", SMALL, "--repeat", 50)
    check_equal((r["verdicts"], r["runs"], r["run_cnt"]), ({"XDP_PASS": 1}, 50, 50), "50 runs")
    r = board.json("run", SMALL, "--type", "tc")
    check_equal((r["type"], r["verdicts"]), ("sched_cls", {"TC_ACT_SHOT": 1}), "as a tc program")
    board.run("run", SMALL, "--type", "nonsense", status=1)
    check_text(board.err, "no program type")
    board.run("run", SMALL, "--prog", "nothing", status=1)
    check_text(board.err, "there are: small")
    board.run("run", "id", 1 << 30, status=1)
    board.run("run", str(ROOT / "README.md"), status=1)
    with open(board.state + "/junk.o", "wb") as f:
        f.write(b"\x7fELF" + bytes(200))
    board.run("load", board.state + "/junk.o", status=1)
    packet = board.state + "/packet"
    with open(packet, "wb") as f:
        f.write(bytes(range(64)))
    board.run("run", SMALL, "--data-in", packet, "--data-out", packet + ".out")
    check_equal(open(packet + ".out", "rb").read(), bytes(range(64)), "packet after the run")


def load_and_pin():
    loaded = board.json("load", SMALL, "--pin", "/sys/fs/bpf/small")
    check_equal((loaded[0]["name"], loaded[0]["type"]), ("small", "xdp"), "loaded")
    check_equal(board.json("ls"), [{"path": "/sys/fs/bpf/small", "kind": "prog"}], "pins")
    r = board.json("run", "/sys/fs/bpf/small")
    check_equal(r["verdicts"], {"XDP_PASS": 1}, "run by path")
    check_equal(board.json("run", "name", "small")["id"], r["id"], "by name")
    check_equal(board.json("run", "id", r["id"])["run_cnt"], 3, "runs so far")
    rows = board.json("map", "show", "name", "counts")["rows"]
    check_equal(rows, [{"key": {"key": 1}, "value": {"value": 3}}], "counts")
    check_text(board.run("map", "dump", "name", "counts"), r"key  value\n  1      3\n")
    check_text(board.run("map", "dump", "name", "counts", "--all"), r"\n  3      0\n")
    board.run("load", SMALL, "--pin", "/sys/fs/bpf/small", status=1)
    check_text(board.err, "File exists")
    board.run("load", SMALL, "--pin", "/tmp/x", status=1)
    check_text(board.err, "not below /sys/fs/bpf")
    board.run("load", FILTER, SMALL)
    board.run("rm", "/sys/fs/bpf/small")
    board.run("rm", "/sys/fs/bpf/small", status=1)
    check_equal(board.json("map"), [], "maps left")


def trace():
    """Each line goes to a reader once; what came before the first reader is kept."""
    def hello(follower):
        line = follower.stdout.readline()
        while line and not line.startswith("hello"):
            line = follower.stdout.readline()  # of programs in tests before
        check_text(line, r"^hello from core 0 at \d+ ns, run 1\n")

    board.run("run", HELLO)
    follower = board.start("trace")
    try:
        hello(follower)
        board.run("run", HELLO)
        hello(follower)
    finally:
        follower.terminate()
        board.finish(follower, status=None)
    board.run("run", HELLO)
    line = board.json("trace", "--lines", 1)
    check_text(line["trace"], "^hello from core 0")


def raw():
    def program(*insns):
        return " ".join(struct.pack("<BBhi", *i).hex(" ") for i in insns) + "\n"

    mov, leave = (0xb7, 0, 0, 0x2a), (0x95, 0, 0, 0)
    load = (0x71, 0x10, 1, 0)  # r0 = *(u8 *)(r1 + 1)
    board.run("raw", input=program(mov, leave), status=1)
    check_text(board.err, "bpf.unverified 1")
    board.run("knob", "set", "bpf.unverified", 1)
    for mode in ("interp", "checked"):
        out = board.run("raw", "--mode", mode, input=program(mov, leave))
        check_equal(out, "2a\n", f"r0 in mode {mode}")
        out = board.run("raw", "--mode", mode, "aa bbcc", input=program(load, leave))
        check_equal(out, "bb\n", f"loaded in mode {mode}")
    check_equal(board.json("raw", "--mem", "0011", input=program(load, leave))["r0"], "11", "--mem")
    for text, args, says in (("zz", [], "no hex digit"), ("b7", [], "whole number"),
                             ("b70", [], "odd number"), (program(mov), [], "not a valid"),
                             (program(mov, leave), ["1"], "odd number")):
        board.run("raw", *args, input=text, status=1)
        check_text(board.err, says)
    board.run("raw", "--mode", "checked", "00", input=program(load, leave), status=1)
    check_text(board.err, "fault")
    board.run("knob", "set", "bpf.unverified", 0)


def knobs():
    names = {k["name"]: k for k in board.json("knob")}
    check_equal(names["bpf.unverified"]["value"], 0, "bpf.unverified")
    check_text(board.run("knob"), r"\nbpf\.jit_limit +67108864 ")
    board.run("knob", "set", "bpf.run_budget_ms", 500)
    check_equal(board.run("knob", "get", "bpf.run_budget_ms"), "500\n", "knob")
    board.run("knob", "set", "bpf.run_budget_ms", 1000)
    for args, says in ((["set", "bpf.unverified", "7"], "out of range"),
                       (["set", "no.such", "1"], "no knob"), (["get", "no.such"], "no such knob"),
                       (["set", "bpf.unverified", "x"], "not a number")):
        board.run("knob", *args, status=1)
        check_text(board.err, says)


def words():
    check_text(board.run("log"), r"\] ready\b")
    check_text(board.run("console", input="help\n"), r"\n  reboot +start over")
    check_text(board.run("mem"), r"\nimage +\d+ ")
    counters = board.json("line")
    check(counters["board"]["requests"] > 0 and counters["host"]["rx_bad"] == 0, "line counters")
    out = board.json("selftest", "wx")
    check_equal(out["failed"], 0, f"failed self-tests: {out['log']}")
    check_text(out["log"], "ok wx: ")
    board.run("selftest", "no-such-test", status=1)


def bundle():
    name = board.state + "/boot.bundle"
    made = board.json("bundle", SMALL, FILTER, "-o", name)
    check(made["bytes"] == os.path.getsize(name) and made["calls"] > 10, f"bundle: {made}")
    again = board.state + "/again.bundle"
    board.run("bundle", SMALL, FILTER, "-o", again)
    check_equal(open(again, "rb").read(), open(name, "rb").read(), "the same bundle")
    board.run("bundle", SMALL, "-o", "/no/such/folder/x", status=1)
    with Board("--bundle", name) as booted:
        names = [p["name"] for p in booted.bpftool_json("prog", "show")]
        check_equal(sorted(names), ["filter", "small"], "programs of the bundle")
        check_equal(booted.json("run", "name", "small")["verdicts"], {"XDP_PASS": 1}, "run")
        rows = booted.json("map", "show", "name", "filter.rodata")["rows"]
        check_equal(rows[0]["value"]["blocked_port"], 23, "rodata of the bundle")


def up_twice():
    tool = Tool()
    tool.state, tool.target = board.state, None
    tool.run("up", status=1)
    check_text(tool.err, "up already")
    check_equal(tool.json("info")["target"], board.target, "the only board is found")


def other_boards():
    for args, core in ((["--board", "raspi4b"], "Cortex-A72"),
                       (["--board", "raspi4b", "--u-boot"], "Cortex-A72"),
                       (["--board", "raspi4b", "--tfa"], "Cortex-A72"),
                       (["--u-boot"], "Cortex-A72"), (["--el1"], "Cortex-A72"),
                       (["--cpu", "cortex-a53", "--smp", 1, "--mem", 128], "Cortex-A53"),
                       (["--cpu", "max", "--gic", 3, "--icount"], "")):
        with Board(*args) as other:
            i = other.json("info")
            check_text(i["cpu"], core)
            r = other.json("run", FILTER, "--pcap", CAPTURE)
            check_equal(r["verdicts"], dict(expected()[0]), f"verdicts on {args}")
            print(f"# {' '.join(map(str, args))}: {i['board']}, {i['start']}")


def manual_names_every_command():
    text = (ROOT / "host/barebpf.1").read_text()
    completion = (ROOT / "host/barebpf.bash").read_text()
    for line in board.run("help").splitlines():
        if line.startswith("  "):
            command = line.split()[0]
            check_text(text, rf"\n\.SS {command}\b|\n\.B {command}\b")
            check_text(completion, rf"\b{command}\b")


if __name__ == "__main__":
    os.chdir(ROOT)
    with Board() as board:
        run_tests((f.__name__, f) for f in (
            info, run_over_capture, other_captures, run_variants, load_and_pin, trace, raw, knobs,
            words, bundle, up_twice, other_boards, manual_names_every_command))
