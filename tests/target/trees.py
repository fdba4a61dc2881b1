#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# timeout: 240
"""No device tree, a wrong one, a damaged one: the board says so and goes on, or says why it stops.

A loader of five instructions, started by -kernel in place of the image, puts an address of our
choice into x0 and jumps to the image.
"""
import functools
import os
import random
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(__file__))
from machine import (DEPS, IMAGE, QEMU, RASPI4B, READY, VIRT, Machine, check,  # noqa: E402
                     check_equal, check_text, run_tests)

# machine: QEMU's arguments, where the image goes, where a tree goes, the compiled-in board
BOARDS = {
    "virt": (VIRT, 0x40800000, 0x44000000, "qemu-virt"),
    "raspi4b": (["-M", "raspi4b"], 0x200000, 0x8000000, "rpi4"),
}


def mov(register, value):
    """movz and movk: a 64-bit constant."""
    code = struct.pack("<I", 0xD2800000 | (value & 0xFFFF) << 5 | register)
    for shift in (1, 2, 3):
        code += struct.pack("<I", 0xF2800000 | shift << 21 |
                            (value >> 16 * shift & 0xFFFF) << 5 | register)
    return code


def make_loader(x0, image_pa):
    return mov(0, x0) + mov(9, image_pa) + struct.pack("<I", 0xD61F0120)  # br x9


class Boot(Machine):
    """A machine whose image finds x0 as given and the bytes of tree at the board's tree address."""

    def __init__(self, board, folder, x0, tree=None):
        args, image_pa, tree_pa, _ = BOARDS[board]
        self.loader = os.path.join(folder, "loader")
        with open(self.loader, "wb") as f:
            f.write(make_loader(tree_pa if x0 is None else x0, image_pa))
        args = [*args, "-device", f"loader,file={IMAGE},addr={image_pa:#x},force-raw=on"]
        if tree is not None:
            with open(os.path.join(folder, "tree"), "wb") as f:
                f.write(tree)
            args += ["-device", f"loader,file={folder}/tree,addr={tree_pa:#x},force-raw=on"]
        super().__init__(args, kernel=self.loader, semihosting=False)


def get_tree(machine, args, folder):
    """The tree that QEMU would give to a kernel on this machine."""
    path = os.path.join(folder, "dumped")
    subprocess.run([QEMU, *map(str, args), "-machine", f"dumpdtb={path}", "-kernel", str(IMAGE),
                    "-display", "none", "-serial", "null"], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    with open(path, "rb") as f:
        tree = f.read()
    # QEMU leaves room behind the tree; what counts ends with the later of its two blocks.
    structs, strings = struct.unpack_from(">I", tree, 8)[0], struct.unpack_from(">I", tree, 12)[0]
    strings_len, structs_len = struct.unpack_from(">II", tree, 32)
    end = (max(structs + structs_len, strings + strings_len) + 7) & ~7
    return tree[:4] + struct.pack(">I", end) + tree[8:end].ljust(end - 8, b"\0")


def tree_of(board, folder):
    return get_tree(board, RASPI4B if board == "raspi4b" else VIRT, folder)


def check_fallback(m, board, reason):
    text = m.boot()
    check_text(text, rf"warning: device tree at [0-9a-fx]+: {reason}; "
                     rf"using the compiled-in board {BOARDS[board][3]}")
    check_text(m.command("board"), "compiled in")
    check_equal(m.power_off(), 0, "exit status")


def falls_back(board, x0, tree, reason):
    with tempfile.TemporaryDirectory() as folder:
        if callable(tree):
            tree = tree(board, folder)
        with Boot(board, folder, x0, tree) as m:
            check_fallback(m, board, reason)


def cut(board, folder):
    return tree_of(board, folder)[:300]


def wrong_board(board, folder):
    return tree_of("virt" if board == "raspi4b" else "raspi4b", folder)


def huge(board, folder):
    tree = tree_of(board, folder)
    return tree[:4] + struct.pack(">I", 1 << 30) + tree[8:]


def torn(board, folder):
    """Its middle is lost."""
    tree = bytearray(tree_of(board, folder))
    tree[len(tree) // 3:len(tree) // 2] = b"\xff" * (len(tree) // 2 - len(tree) // 3)
    return bytes(tree)


def test_good_tree():
    """The loader itself changes nothing."""
    for board in BOARDS:
        with tempfile.TemporaryDirectory() as folder:
            with Boot(board, folder, None, tree_of(board, folder)) as m:
                text = m.boot()
                check("warning" not in text, text)
                check_text(m.command("board"), "from its device tree")
                check_equal(m.power_off(), 0, "exit status")


def test_physical_hole():
    """Reading there ends in an external abort."""
    for board, hole in (("virt", 0x0B000000), ("raspi4b", 0xFD000000)):
        falls_back(board, hole, None, "no device tree there")


def edited(folder, *edits):
    """virt's tree after these fdtput commands."""
    path = os.path.join(folder, "edited")
    with open(path, "wb") as f:
        f.write(tree_of("virt", folder))
    for edit in edits:
        options, rest = (edit[:1], edit[1:]) if edit[0] == "-d" else (["-t", "s"], edit)
        subprocess.run(["fdtput", *options, path, *rest], check=True)
    with open(path, "rb") as f:
        return f.read()


def boot_edited(folder, *edits):
    return Boot("virt", folder, None, edited(folder, *edits))


def test_unknown_board():
    """All that is needed is in the tree: no row of its own is."""
    with tempfile.TemporaryDirectory() as folder:
        with boot_edited(folder, ("/", "compatible", "acme,anvil"),
                         ("/", "model", "Anvil")) as m:
            text = m.boot()
            check_text(text, r"generic \(Anvil\)")
            check_equal(m.power_off(), 0, "exit status")


def test_console_without_interrupt():
    """Looked after by a timer instead."""
    with tempfile.TemporaryDirectory() as folder:
        with boot_edited(folder, ("-d", "/pl011@9000000", "interrupts")) as m:
            check_text(m.boot(), "the console has no interrupt")
            check_text(m.command("line"), "INTID 0,")
            check_equal(m.command("x" * 200), "x" * 64 + ": no such command (try help)\n",
                        "the answer to a long line")
            check_equal(m.power_off(), 0, "exit status")


def test_unusable_boards():
    """What is missing is said on the port that there is, or that there should be."""
    cases = (
        (("/intc@8000000", "compatible", "acme,intc"), "it has no GIC"),
        (("/pl011@9000000", "compatible", "acme,uart"), "it has no serial port"),
    )
    for edit, reason in cases:
        with tempfile.TemporaryDirectory() as folder:
            with boot_edited(folder, edit) as m:
                m.expect(f"error: cannot run on linux,dummy-virt: {reason}", 20)


def test_raspi4b_without_dtb():
    """What QEMU passes then is an ATAGS list."""
    with Machine(["-M", "raspi4b"], append="") as m:
        text = m.boot()
        check_text(text, "device tree at 0x100: no device tree there; using the compiled-in")
        check_equal(m.command("cpu").count(" online "), 4, "cores online")
        check_equal(m.power_off(), 0, "exit status")


def test_raspi3b_stops():
    """A board without a GIC, with and without its tree: one clear line on its first port."""
    dtbs = sorted(DEPS.glob("dtb/bcm2837*.dtb"))
    for args in [[]] + [["-dtb", str(dtb)] for dtb in dtbs[:1]]:
        with Machine(["-M", "raspi3b", *args], append="") as m:
            m.expect(r"error: [^\r]*not supported[^\r]*\r\n", 20)


def test_damaged_trees():
    """Random damage: comes up, or says why not; never silent, never a fault."""
    rng = random.Random(4711)
    with tempfile.TemporaryDirectory() as folder:
        whole = tree_of("virt", folder)
        for _ in range(12):
            tree = bytearray(whole)
            for _ in range(rng.randint(1, 30)):
                tree[rng.randrange(8, len(tree))] ^= 1 << rng.randrange(8)
            with Boot("virt", folder, None, bytes(tree)) as m:
                text = m.expect(READY + "|cannot run on|using the compiled-in|panic", 20)[0]
                m.read_some(0.2)
                seen = m.seen.decode(errors="replace")
                check(b"panic" not in text or "cannot run on" in seen, seen)
                check("ESR" not in seen, f"a fault: {seen}")


CASES = {
    "null": (0, None, "no device tree there"),
    "unaligned": (0x40000004, None, "no device tree there"),
    "no_memory": (0x7FFFFFFF0000, None, "no device tree there"),
    "nothing_there": (None, b"\0" * 64, "no device tree there"),
    "cut": (None, cut, "[^;]+"),
    "wrong_board": (None, wrong_board, "its memory does not hold this image"),
    "huge": (None, huge, "device tree too large"),
    "torn": (None, torn, "FDT_ERR_[A-Z]+"),
}

run_tests([(f"{name}_{board}", functools.partial(falls_back, board, *case))
           for name, case in CASES.items() for board in BOARDS] +
          [(n[5:], f) for n, f in list(globals().items()) if n.startswith("test_")])
