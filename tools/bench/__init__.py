# SPDX-License-Identifier: BSD-2-Clause
"""What the benchmarks of tools/bench/ share; see tools/bench.py."""
import contextlib
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build"
CLI = BUILD / "host/barebpf"
CPU = "cortex-a72"


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


class Failed(Exception):
    """A command of the CLI did not do what a benchmark needs."""


class Board:
    """An emulated board that the CLI started, driven by the CLI."""

    def __init__(self, folder, *options):
        self.env = {**os.environ, "XDG_RUNTIME_DIR": folder}
        self.env.pop("BAREBPF_TARGET", None)
        self.packet = os.path.join(folder, "packet")
        with open(self.packet, "wb") as f:
            f.write(bench_packet())
        self.call("up", "--cpu", CPU, *options)

    def text(self, *args, timeout=120):
        """Run a command of the CLI; what it prints."""
        out = subprocess.run([CLI, *map(str, args)], env=self.env, text=True, timeout=timeout,
                             capture_output=True, stdin=subprocess.DEVNULL)
        if out.returncode:
            raise Failed(f"barebpf {' '.join(map(str, args))}: {out.stderr.strip()}")
        return out.stdout

    def call(self, *args):
        """Run a command of the CLI; its JSON, or None when it prints none."""
        text = self.text("--json", *args)
        return json.loads(text) if text.startswith(("{", "[")) else None

    def knob(self, name):
        return self.call("knob", "get", name)["value"]

    def set_knob(self, name, value):
        self.call("knob", "set", name, value)

    def run(self, program, runs):
        """Load a program of bench/, run its `init` if it has one, then `bench` over the packet by
        BPF_PROG_TEST_RUN, and take it off the board again. The CLI's figures; checks the result.
        """
        if not program.has_init:
            # In one go: a prog array is emptied when its loader ends, as in Linux.
            return self.run_one(program, runs, program.object, "--prog", "bench")
        pin = f"/sys/fs/bpf/{program.name}"
        ids = {p["name"]: p["id"] for p in self.call("load", program.object, "--pin", pin)}
        try:
            self.call("run", "id", ids["init"], "--data-in", self.packet)
            return self.run_one(program, runs, "id", ids["bench"])
        finally:
            made = [e["path"].rstrip("/") for e in self.call("ls")]
            for path in sorted((p for p in made if p.startswith(pin)), key=len, reverse=True):
                self.call("rm", path)

    def run_one(self, program, runs, *what):
        result = self.call("run", *what, "--repeat", runs, "--data-in", self.packet)
        codes = {"XDP_ABORTED": 0, "XDP_DROP": 1, "XDP_PASS": 2, "XDP_TX": 3, "XDP_REDIRECT": 4}
        got = [codes[v] if v in codes else int(v) & 0xffffffff for v in result["verdicts"]]
        if got != [int(program.expected["retval"], 0)]:
            raise Failed(f"{program.name} returned {got}, not {program.expected['retval']}")
        return result


@contextlib.contextmanager
def board(*options):
    """A board under icount for the length of a `with`."""
    with tempfile.TemporaryDirectory() as folder:
        made = Board(folder, "--icount", *options)
        try:
            yield made
        finally:
            made.call("down")


@dataclasses.dataclass
class Program:
    name: str
    object: pathlib.Path
    has_init: bool
    expected: dict  # its row of bench/expected.tsv


def programs():
    """The programs of bench/, with what bench/expected.tsv says of each."""
    lines = [x.split("\t") for x in (ROOT / "bench/expected.tsv").read_text().splitlines()
             if not x.startswith("#")]
    for row in lines[1:]:
        source = (ROOT / "bench" / (row[0] + ".bpf.c")).read_text()
        yield Program(row[0], BUILD / "bench" / (row[0] + ".bpf.o"), " init(" in source,
                      dict(zip(lines[0], row)))


def bench_packet():
    """The bytes of bench/packet.h."""
    text = (ROOT / "bench/packet.h").read_text()
    text = re.sub(r"/\*.*?\*/", "", text[text.index("bench_packet"):], flags=re.S)
    literal = "".join(re.findall(r'"((?:\\.|[^"\\])*)"', text))
    return literal.encode().decode("unicode_escape").encode("latin-1").ljust(128, b"\0")
