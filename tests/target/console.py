#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# timeout: 240
"""The board's shell on the serial line: editing, every command, bytes at full speed, YMODEM."""
import functools
import os
import random
import select
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
from machine import (PROMPT, RASPI4B, VIRT, Machine, check,  # noqa: E402
                     check_bundle_loaded, check_equal, check_nothing_loaded, check_text,
                     make_bundle, run_tests)

# port: QEMU's arguments, number of its serial port, boot arguments, driver
PORTS = {
    "virt_pl011": (VIRT, 0, "", "pl011"),
    "raspi4b_pl011": (RASPI4B, 0, "", "pl011"),
    "raspi4b_mini": (RASPI4B, 1, "uart=mini", "mini-uart"),
}


class Port(Machine):
    def __init__(self, port, more=""):
        args, number, append, self.driver = PORTS[port]
        super().__init__(args, console=number, append=f"{append} {more}")
        self.boot()


def shell(port):
    with Port(port) as m:
        check_text(m.command("line"), rf"{m.driver} at 0x[0-9a-f]+, INTID [1-9]\d+")
        usage = m.command("help")
        names = [line.split()[0] for line in usage.splitlines()]
        check("help" in names and "poweroff" in names, usage)
        for name in names:
            if name in ("load", "reboot", "poweroff"):
                continue
            text = m.command(name)
            check(text and "usage:" not in text and "no such" not in text, f"{name}: {text!r}")
            check_text(m.command(f"{name} 1 2 3 4"), f"usage: {name}")
            check_text(m.command(f"help {name}"), name)
        check_text(m.command("nonsense"), "nonsense: no such command")
        check_text(m.command("help nonsense"), "no such command")
        check_text(m.command("poweroff 256"), "usage: poweroff")
        check_text(m.command(" ".join(["x"] * 13)), "more than 12 words")
        check_equal(m.power_off(17), 17, "exit status")


def check_typed(m, keys, want):
    """These keys and Enter make the screen show this, then a prompt."""
    start = len(m.seen)
    m.send(keys + "\r")
    m.expect(rf"\r\n({want}).*" + PROMPT, 10, start)


def test_editing():
    with Port("virt_pl011") as m:
        m.send("\r")
        m.expect(PROMPT + "\r\n" + PROMPT)
        cases = {
            "abx\x7fc": "abc: no such",
            "abx\bc": "abc: no such",
            "wrong\x15right": "right: no such",
            "one two\x17three": "one: no such",
            "junk\x03": PROMPT + "\r\n",
            "noise\x03good": "good: no such",
            "\x7f\x7f\x7fempty": "empty: no such",
            "\x01\x02t\x1b[1;5Cab": "tab: no such",
            "  spaced   ": "spaced: no such",
            "\x1b[A": "spaced: no such",
            "\x1b[A\x1b[A": "tab: no such",
            "\x1b[A\x1b[B": "",
            "\x1b[A" * 50: "spaced|abc|tab|empty|good",
            "poweroff 999\x15boa\t": "qemu-virt ",
            "caf\xe9": "caf\xe9: no such",
        }
        for keys, want in cases.items():
            check_typed(m, keys, want)
        # A line feed after a carriage return is not a second line.
        m.send("first\r\nsecond\n")
        m.expect(rf"first: no such command \(try help\)\r\n{PROMPT}second\r\n", 10)
        # A line longer than the editor's, then a short one.
        m.send("y" * 3000 + "\x15")
        check_typed(m, "short", "short: no such")
        check_equal(m.power_off(3), 3, "exit status")


def burst(port, lines):
    """Lines sent as fast as the line takes them: each is answered once, in order."""
    rng = random.Random(1)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=rng.randint(1, 60)))
             for _ in range(lines)]
    text = ("\r".join(words) + "\r").encode()
    with Port(port) as m:
        m.send("\r")
        m.expect(PROMPT)
        start = len(m.seen)
        m.line.settimeout(60)
        # Answers are read while the text is sent: the board waits for room to answer.
        m.line.setblocking(False)
        while text:
            try:
                text = text[m.line.send(text[:4096]):]
            except BlockingIOError:
                m.read_some(0.05)
                m.line.setblocking(False)
        m.expect(words[-1] + ": no such command[^\n]*\n" + PROMPT, 60, start)
        got = [line.split(":")[0] for line in m.seen[start:].decode().split("\r\n")
               if line.endswith(": no such command (try help)")]
        check_equal(len(got), len(words), "number of answers")
        check(got == words, "an answer differs from what was sent")
        status = m.command("line")
        check_text(status, "overruns 0, line errors 0,")
        check_equal(m.power_off(4), 4, "exit status")


def send_by_ymodem(m, path):
    """Run sz on the console's line; its exit status and messages. What the board says is kept."""
    m.send("load\r")
    m.expect(r"gives up\)\r\n", 10, len(m.seen))
    ours, its = socket.socketpair()
    with ours, subprocess.Popen(["sz", "--ymodem", path], stdin=its, stdout=its,
                                stderr=subprocess.PIPE) as sz:
        its.close()
        end = time.monotonic() + 60
        while time.monotonic() < end:
            ready = select.select([ours, m.line], [], [], 1)[0]
            if m.line in ready:
                start = len(m.seen)
                m.read_some(0)
                try:
                    ours.sendall(m.seen[start:])
                except BrokenPipeError:
                    pass
            if ours in ready:
                try:
                    data = ours.recv(65536)
                except ConnectionResetError:
                    break
                if not data:
                    break
                m.send(data)
        sz.kill()
        messages = sz.stderr.read().decode(errors="replace")
        return sz.wait(), messages


def ymodem(port, size):
    """A bundle is loaded; a file of this size, which is none, is received whole and refused."""
    with tempfile.TemporaryDirectory() as folder, Port(port) as m:
        bundle, noise = os.path.join(folder, "boot.bundle"), os.path.join(folder, "noise")
        with open(noise, "wb") as f:
            f.write(random.Random(size).randbytes(size))
        status, messages = send_by_ymodem(m, noise)
        check_equal(status, 0, f"sz's exit status ({messages})")
        m.expect(rf"received noise, {size} bytes\r\n"
                 r"noise: call 0 failed, error \d+; nothing of it was kept\r\n" + PROMPT, 20)
        check_nothing_loaded(m)
        size = make_bundle(bundle)
        status, messages = send_by_ymodem(m, bundle)
        check_equal(status, 0, f"sz's exit status ({messages})")
        m.expect(rf"received boot.bundle, {size} bytes\r\n.*boot.bundle loaded\r\n" + PROMPT, 20)
        check_bundle_loaded(m)
        check_equal(m.power_off(8), 8, "exit status")


def test_ymodem_given_up():
    with Port("virt_pl011") as m:
        start = len(m.seen)
        m.send("load\r")
        m.expect(r"gives up\)\r\nCC", 10, start)
        m.send("\x03")
        m.expect("load: interrupted.*" + PROMPT, 10, start)
        start = len(m.seen)
        m.send("load\r")
        m.expect(r"gives up\)\r\nC", 10, start)
        m.send(b"\x18\x18\x18")
        m.expect("load: cancelled by the sender.*" + PROMPT, 10, start)
        # Too large to be a bundle; sz says so too.
        with tempfile.NamedTemporaryFile() as f:
            f.truncate(25 << 20)
            status, messages = send_by_ymodem(m, f.name)
            check(status != 0, f"sz thinks that the file was taken ({messages})")
        m.expect("load: the file was not accepted .error 27.", 10)
        m.send("\x03")
        check_equal(m.power_off(8), 8, "exit status")


def test_boot_arguments():
    with Machine(VIRT, append="uart=mini baud=x") as m:
        text = m.boot()
        check_text(text, "warning: boot argument baud=x: not a number")
        check_equal(m.power_off(1), 1, "exit status")
    with Machine(VIRT, append="uart=mini") as m:
        check_text(m.boot(), "warning: boot argument uart=mini: no such port")
        check_equal(m.power_off(1), 1, "exit status")
    # The firmware's clock makes 115200 baud, not a rate beyond it.
    with Machine(RASPI4B, append="baud=100000000") as m:
        check_text(m.boot(), "warning: console: 100000000 baud cannot be made from")
        check_equal(m.power_off(1), 1, "exit status")


run_tests([(f"shell_{port}", functools.partial(shell, port)) for port in PORTS] +
          [(f"burst_{port}", functools.partial(burst, port, 2000)) for port in PORTS] +
          [(f"ymodem_{port}", functools.partial(ymodem, port, 100001)) for port in PORTS] +
          [(n[5:], f) for n, f in list(globals().items()) if n.startswith("test_")])
