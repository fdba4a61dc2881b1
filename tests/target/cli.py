# SPDX-License-Identifier: BSD-2-Clause
"""Boards and the host tool for tests: Board (an emulator) and HostBoard (a process)."""
import ctypes
import json
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
import time

from machine import check, check_equal

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build"
BAREBPF = str(BUILD / "host/barebpf")
EXAMPLES = BUILD / "examples"
CAPTURE = ROOT / "examples/capture.pcap"
NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--inh-caps=-all"]

SYS_BPF, SYS_MOUNT = 321, 165  # x86-64


def forbid_bpf():
    """For preexec_fn: from now on bpf(2) and mount(2) of the host's kernel end the process.

    A seccomp filter: load the number, compare, kill the process or allow.
    """
    if os.uname().machine != "x86_64":
        return
    ret_kill, ret_allow = 0x80000000, 0x7fff0000
    program = [(0x20, 0, 0, 0), (0x15, 2, 0, SYS_BPF), (0x15, 1, 0, SYS_MOUNT),
               (0x06, 0, 0, ret_allow), (0x06, 0, 0, ret_kill)]
    code = b"".join(struct.pack("HBBI", *insn) for insn in program)
    buffer = ctypes.create_string_buffer(code, len(code))
    fprog = struct.pack("HxxxxxxP", len(program), ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, fprog, 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp")


class Tool:
    """The host tool with run-time state of its own, and a target once there is one."""

    def __init__(self):
        self.state = tempfile.mkdtemp(prefix="bb-")
        os.chmod(self.state, 0o711)  # other users' clients pass through
        self.target = None

    def env(self):
        env = dict(os.environ, XDG_RUNTIME_DIR=self.state)
        env.pop("BAREBPF_TARGET", None)
        if self.target:
            env["BAREBPF_TARGET"] = self.target
        return env

    def start(self, *args, forbid=True, **how):
        return subprocess.Popen([BAREBPF, *map(str, args)], env=self.env(), cwd=ROOT,
                                preexec_fn=forbid_bpf if forbid else None,
                                stdin=how.pop("stdin", subprocess.DEVNULL),
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how)

    def finish(self, process, status=0, timeout=120, input=None):
        try:
            out, err = process.communicate(input, timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            check(False, f"{process.args} does not end: {out}{err}")
        if status is not None:
            check(process.returncode == status,
                  f"{process.args}: status {process.returncode}, not {status}: {out}{err}")
        self.err = err
        self.status = process.returncode
        return out

    def run(self, *args, status=0, timeout=120, input=None, **how):
        """Output of `barebpf ARGS`, whose status is checked (None: not)."""
        if input is not None:
            how["stdin"] = subprocess.PIPE
        return self.finish(self.start(*args, **how), status, timeout, input)

    def json(self, *args, **how):
        return json.loads(self.run("--json", *args, **how))

    def exec(self, *command, **how):
        return self.run("exec", "--", *command, **how)

    def bpftool(self, *args, **how):
        return self.exec("bpftool", *args, **how)

    def bpftool_json(self, *args, **how):
        text = self.bpftool("-j", *args, **how)
        return json.loads(text) if text.strip() else None

    def line(self):
        """Counters of the host's end."""
        return self.json("line")["host"]

    def live(self):
        """Bytes and objects that are in use on the board, once what was closed is gone."""
        time.sleep(0.3)
        return {p["name"]: (p["bytes"], p["objects"]) for p in self.json("mem")["purposes"]
                if p["name"].startswith("[")}

    def wait_objects(self, nr, timeout=10):
        """Until the broker holds that many objects."""
        end = time.time() + timeout
        while time.time() < end:
            if self.line()["objects"] == nr:
                return
            time.sleep(0.05)
        check_equal(self.line()["objects"], nr, "objects held by clients")

    def cleanup(self):
        if self.target:
            subprocess.run([BAREBPF, "broker", "--stop"], env=self.env(), timeout=30, check=False)
        shutil.rmtree(self.state, ignore_errors=True)


class Board(Tool):
    """An emulated board: arguments of `barebpf up`."""

    def __init__(self, *args):
        super().__init__()
        self.args = args

    def __enter__(self):
        out = self.run("up", *self.args, timeout=200)
        self.target = out.splitlines()[-1]
        return self

    def __exit__(self, *exc):
        try:
            if self.target:
                self.run("down", timeout=60, status=None)
                if not exc[0]:
                    check_equal(self.status, 0, f"status of `down` ({self.err})")
        finally:
            self.cleanup()


class HostBoard(Tool):
    """build/tests/hostboard: the runtime in a process. It reports leaks when it ends."""

    def __init__(self, *args):
        super().__init__()
        self.args = args

    def __enter__(self):
        self.socket = self.state + "/board.sock"
        self.log = open(self.state + "/board.log", "w+")
        self.process = subprocess.Popen([str(BUILD / "tests/hostboard"), self.socket,
                                         *map(str, self.args)], stderr=self.log)
        self.wait_socket()
        self.target = "unix:" + self.socket
        return self

    def wait_socket(self):
        end = time.time() + 20
        while not os.path.exists(self.socket):
            check(time.time() < end and self.process.poll() is None, "hostboard does not start")
            time.sleep(0.02)

    def __exit__(self, *exc):
        subprocess.run([BAREBPF, "broker", "--stop"], env=self.env(), timeout=30, check=False)
        self.process.terminate()
        try:
            self.process.wait(20)
            self.log.seek(0)
            if not exc[0]:
                text = self.log.read()
                check(self.process.returncode == 0, f"hostboard: {text}")
        finally:
            self.process.kill()
            self.cleanup()
