# SPDX-License-Identifier: BSD-2-Clause
"""Emulated machines for the target tests: start one, type on its console, read what it says.

A test module defines functions and runs them through run_tests(); each prints `ok NAME`,
`not ok NAME` or `skip NAME reason` as tools/test.py wants it.
"""
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import traceback

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build"
IMAGE = BUILD / "Image"
DEPS = BUILD / "deps"
RPI4_DTB = DEPS / "dtb/bcm2711-rpi-4-b.dtb"
QEMU = os.environ.get("QEMU_SYSTEM", "qemu-system-aarch64")

VIRT = ["-M", "virt", "-cpu", "cortex-a72", "-smp", "4", "-m", "512", "-nic", "none"]
RASPI4B = ["-M", "raspi4b", "-dtb", str(RPI4_DTB)]
SEMIHOSTING = ["-semihosting-config", "enable=on,target=native"]
PROMPT = "barebpf> "
READY = r"\] ready\b[^\n]*\n"


class Failure(Exception):
    """A check that did not hold."""


class TextFilter:
    """Takes the frames out of what a board sends: 00 F5 ... 00, where one 00 may end one frame and
    begin the next. What is left is text."""

    def __init__(self):
        self.state = "text"
        self.frames = 0

    def feed(self, data):
        text = bytearray()
        for byte in data:
            if self.state == "frame":
                if byte == 0:
                    self.frames += 1
                    self.state = "delimiter"
            elif byte == 0:
                self.state = "delimiter"
            elif self.state == "delimiter" and byte == 0xF5:
                self.state = "frame"
            else:
                self.state = "text"
                text.append(byte)
        return bytes(text)


class Machine:
    """A QEMU process whose serial ports are sockets. Use it in a `with`: it never outlives that.

    args: QEMU's, without serial ports. console: number of the serial port that is talked to; those
    before it are kept in files. seen: the console's text so far, without frames.
    """

    def __init__(self, args, console=0, kernel=IMAGE, append=None, semihosting=True):
        self.dir = tempfile.mkdtemp(prefix="barebpf-")
        self.console = console
        self.seen = b""
        self.filter = TextFilter()
        command = [QEMU, *map(str, args), "-display", "none", "-monitor", "none"]
        if kernel:
            command += ["-kernel", str(kernel)]
        if append is not None:
            command += ["-append", append + (" semihosting" if semihosting else "")]
        if semihosting:
            command += SEMIHOSTING
        for n in range(console):
            command += ["-serial", f"file:{self.dir}/serial{n}"]
        command += ["-serial", f"unix:{self.dir}/console,server=on,wait=on"]
        self.log = open(f"{self.dir}/qemu.log", "wb")
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.log,
                                        stderr=self.log)
        self.line = self._connect()

    def _connect(self):
        end = time.monotonic() + 20
        line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        while True:
            try:
                line.connect(f"{self.dir}/console")
                return line
            except OSError:
                if self.process.poll() is not None or time.monotonic() > end:
                    text = pathlib.Path(f"{self.dir}/qemu.log").read_text(errors="replace")
                    self.close()
                    raise Failure(f"QEMU did not start: {text}")
                time.sleep(0.02)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind:
            tail = self.seen.decode(errors="replace").splitlines()[-25:]
            print("\n".join("# console: " + line for line in tail))
        self.close()

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.log.close()
        shutil.rmtree(self.dir, ignore_errors=True)

    def send(self, data):
        self.line.sendall(data.encode() if isinstance(data, str) else data)

    def read_some(self, timeout):
        """Read what is there within the time; False at the end of the line."""
        self.line.settimeout(max(timeout, 0.001))
        try:
            data = self.line.recv(65536)
        except (TimeoutError, socket.timeout):
            return True
        except ConnectionError:
            return False
        self.seen += self.filter.feed(data)
        return bool(data)

    def expect(self, pattern, timeout=20, start=0):
        """Wait for a regular expression in all text from position start; returns the match."""
        end = time.monotonic() + timeout
        regex = re.compile(pattern.encode(), re.S)
        while True:
            match = regex.search(self.seen, start)
            if match:
                return match
            left = end - time.monotonic()
            if left <= 0 or not self.read_some(left):
                raise Failure(f"no {pattern!r} in the console's text")

    def boot(self, timeout=30):
        """Wait until the board is up; its text so far."""
        self.expect(READY, timeout)
        return self.seen.decode(errors="replace")

    def command(self, line, timeout=10):
        """Run a console command; its output as text."""
        start = len(self.seen)
        self.send(line + "\r")
        match = self.expect(re.escape(line) + r"\r\n(.*?)" + PROMPT, timeout, start)
        return match[1].decode(errors="replace").replace("\r\n", "\n")

    def wait_exit(self, timeout=15):
        """Wait for QEMU's end; its exit status."""
        end = time.monotonic() + timeout
        while self.process.poll() is None:
            if time.monotonic() > end:
                raise Failure("QEMU does not end")
            self.read_some(0.05)
        return self.process.returncode

    def power_off(self, status=None):
        """Turn the board off by its console; QEMU's exit status."""
        self.send("poweroff" + (f" {status}" if status is not None else "") + "\r")
        return self.wait_exit()


def check(condition, what):
    if not condition:
        raise Failure(what)


def check_equal(got, want, what):
    check(got == want, f"{what} is {got!r}, not {want!r}")


def check_text(text, pattern):
    match = re.search(pattern, text)
    check(match, f"no {pattern!r} in {text!r}")
    return match


def make_bundle(path):
    """A bundle of two objects: two maps, four programs. Returns its size."""
    objects = [BUILD / "bench" / (name + ".bpf.o") for name in ("hash8", "array_lookup")]
    subprocess.run([BUILD / "host/barebpf", "bundle", *objects, "-o", path], check=True,
                   stdout=subprocess.DEVNULL)
    return os.path.getsize(path)


def check_bundle_loaded(machine):
    """The console lists what make_bundle()'s bundle holds, and nothing else."""
    progs = machine.command("progs").splitlines()[1:]
    check_equal([line.split()[:2] for line in progs],
                [["1", "init"], ["2", "bench"], ["3", "init"], ["4", "bench"]], "programs")
    maps = machine.command("maps").splitlines()[1:]
    check_equal([line.split()[:6] for line in maps],
                [["1", "h", "hash", "8", "8", "256"], ["2", "arr", "array", "4", "8", "64"]],
                "maps")


def check_nothing_loaded(machine):
    check_equal(len(machine.command("progs").splitlines()), 1, "lines about programs")
    check_equal(len(machine.command("maps").splitlines()), 1, "lines about maps")


def run_tests(tests):
    """tests: (name, function) pairs. Arguments choose by substring. Exits."""
    failed = ran = 0
    for name, function in tests:
        if len(sys.argv) > 1 and not any(a in name for a in sys.argv[1:]):
            continue
        ran += 1
        try:
            function()
            print(f"ok {name}", flush=True)
        except Failure as e:
            failed += 1
            print(f"# {e}\nnot ok {name}", flush=True)
        except Exception:  # a broken test is a failed test
            failed += 1
            print("# " + traceback.format_exc().replace("\n", "\n# ") + f"\nnot ok {name}",
                  flush=True)
    sys.exit(1 if failed or not ran else 0)
