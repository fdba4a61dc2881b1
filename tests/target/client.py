# SPDX-License-Identifier: BSD-2-Clause
"""A bpf(2) client for tests that runs under `barebpf exec`: python3 client.py SCENARIO.

It calls libc's syscall(), as libbpf does, and prints what the test wants to know.
"""
import ctypes
import errno
import os
import signal
import struct
import sys

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
BPF = {"x86_64": 321, "aarch64": 280}[os.uname().machine]
MAP_CREATE, LOOKUP, UPDATE, PROG_LOAD, TEST_RUN, NEXT_ID, BY_ID = 0, 1, 2, 5, 10, 12, 14
ARRAY, XDP = 2, 6


def bpf(cmd, attr):
    """Result, or -errno."""
    buffer = ctypes.create_string_buffer(attr, len(attr))
    rc = libc.syscall(BPF, cmd, buffer, len(attr))
    return (rc, buffer.raw) if rc >= 0 else (-ctypes.get_errno(), buffer.raw)


def name(text):
    return text.encode().ljust(16, b"\0")


def map_create(text, entries=1, kind=ARRAY, value=8):
    attr = struct.pack("IIIIIII16s", kind, 4, value, entries, 0, 0, 0, name(text))
    return bpf(MAP_CREATE, attr)[0]


def element(cmd, fd, key, value):
    k = ctypes.create_string_buffer(struct.pack("I", key), 4)
    v = ctypes.create_string_buffer(struct.pack("Q", value), 8)
    attr = struct.pack("IxxxxQQQ", fd, ctypes.addressof(k), ctypes.addressof(v), 0)
    rc, _ = bpf(cmd, attr)
    return rc if rc < 0 else struct.unpack("Q", v.raw)[0]


def prog_load(text, result=2):
    insns = ctypes.create_string_buffer(struct.pack("BBhiBBhi", 0xb7, 0, 0, result, 0x95, 0, 0, 0))
    gpl = ctypes.create_string_buffer(b"GPL")
    attr = struct.pack("IIQQIIQII16s", XDP, 2, ctypes.addressof(insns), ctypes.addressof(gpl), 0, 0,
                       0, 0, 0, name(text))
    return bpf(PROG_LOAD, attr)[0]


def test_run(fd):
    data = ctypes.create_string_buffer(64)
    attr = struct.pack("IIIIQQII", fd, 0, 64, 0, ctypes.addressof(data), 0, 1, 0).ljust(80, b"\0")
    rc, out = bpf(TEST_RUN, attr)
    return rc if rc < 0 else struct.unpack_from("I", out, 4)[0]


def say(*words):
    print(*words, flush=True)


def hold():
    """Hold a map and a program until told, then use them again."""
    m, p = map_create("victim"), prog_load("victim")
    say("holding", m, p, element(UPDATE, m, 0, 7))
    for line in sys.stdin:
        say("now", element(LOOKUP, m, 0, 0), test_run(p), map_create("later"))


def die():
    """End by SIGKILL while holding objects."""
    map_create("victim")
    prog_load("victim")
    os.kill(os.getpid(), signal.SIGKILL)


def files():
    """Descriptors of objects are descriptors: dup, fork, exec, close-on-exec, bad pointers."""
    m = map_create("files")
    element(UPDATE, m, 0, 7)
    import fcntl
    say("cloexec", fcntl.fcntl(m, fcntl.F_GETFD))
    copy = fcntl.fcntl(m, fcntl.F_DUPFD_CLOEXEC, 100)
    os.close(m)
    say("closed", element(LOOKUP, m, 0, 0), "copy", element(LOOKUP, copy, 0, 0))
    if not os.fork():
        element(UPDATE, copy, 0, 8)
        os._exit(0)
    os.wait()
    say("child wrote", element(LOOKUP, copy, 0, 0))
    os.dup2(copy, 50, inheritable=True)
    os.close(copy)
    if not os.fork():
        os.execv(sys.executable, [sys.executable, __file__, "look", "50"])
    os.wait()
    say("bad pointer", bpf(LOOKUP, struct.pack("IxxxxQQQ", 50, 8, 8, 0))[0])
    say("no object", element(LOOKUP, 0, 0, 0), "no fd", element(LOOKUP, 77, 0, 0))
    attr = struct.pack("II", 0, 0).ljust(12, b"\0")
    _, out = bpf(NEXT_ID, attr)
    map_id = struct.unpack_from("I", out, 4)[0]
    os.close(50)
    say("gone", bpf(BY_ID, struct.pack("III", map_id, 0, 0))[0] == -errno.ENOENT)


def look():
    say("after exec", element(LOOKUP, int(sys.argv[2]), 0, 0))


def cycles():
    """Load and close as many objects as told; the last of each kind is used."""
    nr = int(sys.argv[2])
    for i in range(nr):
        p = prog_load("cycle")
        if p < 0:
            return say("cycle", i, "load", p)
        if i % 20 == 0:
            m = map_create("cycle", entries=100)
            if m < 0 or element(UPDATE, m, 3, i) < 0 or element(LOOKUP, m, 3, 0) != i:
                return say("cycle", i, "map")
            os.close(m)
            if test_run(p) != 2:
                return say("cycle", i, "run")
        os.close(p)
    say("done", nr)


def count():
    """Count in a map of our own, to be run several times at once."""
    nr, m = int(sys.argv[2]), map_create("count")
    for i in range(nr):
        if element(LOOKUP, m, 0, 0) != i:
            return say("lost at", i)
        element(UPDATE, m, 0, i + 1)
    say("counted", element(LOOKUP, m, 0, 0))


def cpus():
    say("conf", os.sysconf("SC_NPROCESSORS_CONF"))
    for path in ("possible", "online"):
        say(path, open("/sys/devices/system/cpu/" + path).read().strip())
    try:
        open("/sys/kernel/btf/vmlinux")
        say("vmlinux there")
    except FileNotFoundError:
        say("vmlinux", os.access("/sys/kernel/btf/vmlinux", os.R_OK))
    say("jit", open("/proc/sys/net/core/bpf_jit_limit").read().strip())
    symbols = open("/proc/kallsyms").read().splitlines()
    say("kallsyms", len(symbols) > 10 and all(len(s.split()) == 3 for s in symbols))


if __name__ == "__main__":
    globals()[sys.argv[1]]()
