#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# timeout: 300
"""What goes wrong with boards and lines: every client gets an error that says what to do, soon."""
import errno
import os
import pty
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import tty

sys.path.insert(0, os.path.dirname(__file__))
from cli import BUILD, EXAMPLES, ROOT, Board, HostBoard, Tool  # noqa: E402
from machine import check, check_equal, check_text, run_tests  # noqa: E402

CLIENT = [sys.executable, "tests/target/client.py"]
SMALL = BUILD / "tests/bpf/small.bpf.o"


def hold(board):
    """A client that holds a map and a program; each line on its input makes it use them."""
    p = board.start("exec", "--", *CLIENT, "hold", stdin=subprocess.PIPE)
    check_text(p.stdout.readline(), r"^holding \d+ \d+ 7")
    return p


def ask(p):
    p.stdin.write("use\n")
    p.stdin.flush()
    return p.stdout.readline().split()[1:]


def board_restarts():
    """Objects of before are gone: EIO for them, new ones work."""
    with HostBoard() as board:
        p = hold(board)
        check_equal(ask(p)[:2], ["7", "2"], "before")
        board.run("reset")
        old_map, old_prog, new_map = ask(p)
        check_equal((old_map, old_prog), (str(-errno.EIO),) * 2, "objects of before")
        check(int(new_map) > 0, f"a new map is {new_map}")
        board.finish(p)
        check_text(board.err, "has restarted")
        check_equal([m["name"] for m in board.json("map")], [], "maps")


def emulated_board_restarts():
    with Board() as board:
        p = hold(board)
        before = board.json("info")["boot_id"]
        board.run("reset", timeout=60)
        check(board.json("info")["boot_id"] != before, "the boot id must change")
        check_equal(ask(p)[:2], [str(-errno.EIO)] * 2, "objects of before")
        board.finish(p)


def line_breaks():
    """The board disappears: no call hangs, the next board serves."""
    with HostBoard() as board:
        p = hold(board)
        board.process.kill()
        board.process.wait()
        begun = time.time()
        check_equal(ask(p), [str(-errno.EIO)] * 3, "without a board")
        check(time.time() - begun < 5, "errors must come soon")
        board.run("info", status=1)
        check_text(board.err, "is the board there")
        os.unlink(board.socket)
        board.process = subprocess.Popen([str(BUILD / "tests/hostboard"), board.socket],
                                         stderr=board.log)
        board.wait_socket()
        board.json("info")
        check_equal(ask(p)[:2], [str(-errno.EIO)] * 2, "objects of before")
        board.finish(p)


def emulator_is_killed():
    with Board() as board:
        p = hold(board)
        pid = int(open(f"{board.state}/barebpf/board-virt/pid").read())
        os.kill(pid, signal.SIGKILL)
        check_equal(ask(p), [str(-errno.EIO)] * 3, "without a board")
        board.finish(p)
        board.run("down", status=1)
        check_text(board.err, "had ended before, status 137")
        board.run("info", status=1)
        check_text(board.err, "barebpf up")
        board.cleanup()
        board.target = None


def ring_waiter_wakes_up():
    """A client that waits for records when the board goes away gets an error, not silence."""
    with HostBoard() as board:
        source = board.state + "/wait.c"
        with open(source, "w") as f:
            f.write('#include <bpf/bpf.h>\n#include <bpf/libbpf.h>\n#include <stdio.h>\n'
                    'static int on(void *c, void *d, size_t n) { return 0; }\n'
                    'int main(void) { int m = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "r", 0, 0, 4096,'
                    ' NULL); struct ring_buffer *r = ring_buffer__new(m, on, NULL, NULL);'
                    ' int n = 0, rc = 0; if (!r) return 2; puts("waiting"); fflush(stdout);'
                    ' while (n++ < 5 && (rc = ring_buffer__poll(r, 20000)) >= 0); '
                    ' printf("%d\\n", rc); return 0; }\n')
        subprocess.run(["gcc", "-o", board.state + "/wait", source, "-lbpf"], check=True)
        p = board.start("exec", "--", board.state + "/wait")
        check_equal(p.stdout.readline(), "waiting\n", "first line")
        begun = time.time()
        board.run("reset")
        check_equal(board.finish(p), f"{-errno.EIO}\n", "result of the wait")
        check(time.time() - begun < 15, "the wait must end soon")


def idle_ring_does_not_spin():
    """Polls of an empty ring wait: readiness is taken back."""
    with HostBoard() as board:
        source = board.state + "/spin.c"
        with open(source, "w") as f:
            f.write('#include <bpf/bpf.h>\n#include <bpf/libbpf.h>\n#include <stdio.h>\n'
                    '#include <time.h>\n#include "flows.skel.h"\n'
                    'static int on(void *c, void *d, size_t n) { return 0; }\n'
                    'int main(void) { struct flows_bpf *s = flows_bpf__open_and_load();'
                    ' char pkt[64] = { [12] = 8 }; int n = 0; time_t end;'
                    ' LIBBPF_OPTS(bpf_test_run_opts, o, .data_in = pkt, .data_size_in = 64);'
                    ' struct ring_buffer *r; if (!s) return 1;'
                    ' r = ring_buffer__new(bpf_map__fd(s->maps.records), on, NULL, NULL);'
                    ' bpf_prog_test_run_opts(bpf_program__fd(s->progs.flows), &o);'
                    ' if (ring_buffer__poll(r, 1000) != 1) return 3;'
                    ' for (end = time(NULL) + 2; time(NULL) < end; n++) ring_buffer__poll(r, 100);'
                    ' printf("%d\\n", n); return 0; }\n')
        subprocess.run(["gcc", "-I", EXAMPLES, "-o", board.state + "/spin", source, "-lbpf"],
                       check=True)
        polls = int(board.exec(board.state + "/spin"))
        check(polls < 60, f"{polls} polls of 100 ms in 2 s")


class Silent:
    """A line on which nothing answers, or only noise."""

    def __init__(self, path, noise=b""):
        self.server = socket.socket(socket.AF_UNIX)
        self.server.bind(path)
        self.server.listen()
        self.noise = noise
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            line, _ = self.server.accept()
            threading.Thread(target=self.hold, args=(line,), daemon=True).start()

    def hold(self, line):
        try:
            line.sendall(self.noise)
            while line.recv(4096):
                pass
        except OSError:
            pass


def nobody_answers():
    tool = Tool()
    try:
        for noise in (b"", b"U-Boot 2023.01\r\n=> ", bytes(range(256)) * 64):
            path = f"{tool.state}/silent{len(noise)}"
            Silent(path, noise)
            tool.target = "unix:" + path
            begun = time.time()
            tool.run("info", status=1)
            check_text(tool.err, "no board answers")
            check(time.time() - begun < 15, "giving up must not take that long")
            tool.run("broker", "--stop")
    finally:
        tool.cleanup()


def console_without_board():
    """What the line says shows even when no board answers on it."""
    tool = Tool()
    try:
        Silent(tool.state + "/boot", b"U-Boot 2023.01\r\n=> ")
        tool.target = f"unix:{tool.state}/boot"
        check_text(tool.run("console", input="\n"), "U-Boot 2023.01")
        tool.run("broker", "--stop")
    finally:
        tool.cleanup()


def bad_targets():
    tool = Tool()
    try:
        for target, says in (("/no/such/line", "No such file.*barebpf up"),
                             ("unix:/no/such/line", "No such file"),
                             ("tty:/dev/null", "Inappropriate|is the board there"),
                             ("tty:/dev/null,1234", "not a baud rate"),
                             ("/etc/passwd", "neither a socket nor a serial device"),
                             ("unix:" + "x" * 200, "expected|longer")):
            tool.target = target
            tool.run("info", status=1)
            check_text(tool.err, says)
        tool.target = None
        tool.run("info", status=1)
        check_text(tool.err, "no board is given and none is up")
        tool.run("down", status=1)
    finally:
        tool.cleanup()


def bad_arguments():
    tool = Tool()
    try:
        for args, says in ((["up", "--board", "toaster"], "no board 'toaster'"),
                           (["up", "--smp", "0"], "from 1 to"),
                           (["up", "--image", "/no/image"], "No such file"),
                           (["up", "--board", "raspi4b", "--smp", "2"], "leave out"),
                           (["up", "--tfa"], "raspi4b"),
                           (["up", "surplus"], "not understood"),
                           (["frobnicate"], "no command 'frobnicate'"),
                           (["load"], "which file"),
                           (["run"], "which program|no board"),
                           (["knob", "set", "x"], "usage"),
                           (["help", "nothing"], "no command")):
            tool.run(*args, status=None)
            check(tool.status in (1, 2), f"{args}: status {tool.status}")
            check_text(tool.err, says)
        tool.run(status=2)
        check_text(tool.run("help"), r"\n  exec +run a bpf\(2\) program")
    finally:
        tool.cleanup()


def serial_device():
    """A tty as the line: raw, at the rate that the target says."""
    with HostBoard() as board:
        master, slave = pty.openpty()
        tty.setraw(master)
        link = socket.socket(socket.AF_UNIX)
        link.connect(board.socket)

        def carry():
            while True:
                ready, _, _ = select.select([master, link], [], [])
                try:
                    if master in ready:
                        link.sendall(os.read(master, 4096))
                    if link in ready:
                        data = link.recv(4096)
                        if not data:
                            return
                        os.write(master, data)
                except OSError:
                    return

        threading.Thread(target=carry, daemon=True).start()
        board.target = f"tty:{os.ttyname(slave)},115200"
        check_equal(board.json("info")["target"], board.target, "target")
        loaded = board.json("load", SMALL)
        check_equal(loaded[0]["name"], "small", "loaded")
        board.run("broker", "--stop")
        link.close()


def one_broker_many_starts():
    """Clients that start at once get one broker between them."""
    with HostBoard() as board:
        started = [board.start("--json", "info") for _ in range(8)]
        for p in started:
            board.finish(p)
        brokers = subprocess.run(["pgrep", "-f", "--", f"--target {board.target} broker"],
                                 capture_output=True, text=True, check=False).stdout.split()
        check_equal(len(brokers), 1, "brokers")


def broker_is_killed():
    """The board drops what a dead broker held."""
    with HostBoard() as board:
        p = hold(board)
        out = subprocess.run(["pgrep", "-f", "--", f"--target {board.target} broker"],
                             capture_output=True, text=True, check=True)
        os.kill(int(out.stdout), signal.SIGKILL)
        check_equal(ask(p), [str(-errno.EIO)] * 3, "without a broker")
        board.finish(p)
        check_text(board.err, "broker")
        check_equal(board.json("map"), [], "maps")


def strangers_are_refused():
    """Another user reaches the broker through `exec` only."""
    if os.getuid():
        print("skip strangers_are_refused needs root")
        return
    with HostBoard() as board:
        board.json("info")
        sockets = [f for f in os.listdir(board.state + "/barebpf") if f.endswith(".sock")]
        env = dict(os.environ, BAREBPF_BROKER=f"{board.state}/barebpf/{sockets[0]}",
                   BAREBPF_TOKEN="00" * 16, LD_PRELOAD=str(BUILD / "host/barebpf-shim.so"))
        out = subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
                              *CLIENT, "die"], env=env, capture_output=True, text=True,
                             timeout=30, check=False, cwd=ROOT)
        check_text(out.stderr, "belongs to another user")
        check_equal(board.json("map"), [], "maps")


if __name__ == "__main__":
    os.chdir(ROOT)
    run_tests((f.__name__, f) for f in (
        board_restarts, emulated_board_restarts, line_breaks, emulator_is_killed,
        ring_waiter_wakes_up, idle_ring_does_not_spin, nobody_answers, console_without_board,
        bad_targets, bad_arguments, serial_device, one_broker_many_starts, broker_is_killed,
        strangers_are_refused))
