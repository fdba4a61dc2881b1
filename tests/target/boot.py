#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# timeout: 300
"""Every machine, core and way to start: comes up, knows what it is, takes input, turns off."""
import functools
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(__file__))
from machine import (DEPS, IMAGE, RASPI4B, READY, ROOT, VIRT, Machine,  # noqa: E402
                     check, check_bundle_loaded, check_equal, check_nothing_loaded, check_text,
                     make_bundle, run_tests)


def virt(options="", cpu="cortex-a72", smp=4, mem=512):
    return ["-M", "virt" + options, "-cpu", cpu, "-smp", str(smp), "-m", str(mem), "-nic", "none"]


# name: QEMU's arguments, entry EL, interrupt controller, how cores start, core, cores, RAM in MB
MACHINES = {
    "virt_a53": (virt(cpu="cortex-a53"), 1, "GICv2", "PSCI by HVC", "Cortex-A53", 4, 512),
    "virt_a72": (virt(), 1, "GICv2", "PSCI by HVC", "Cortex-A72", 4, 512),
    "virt_a76_gicv3": (virt(",gic-version=3", "cortex-a76"), 1, "GICv3", "PSCI by HVC",
                       "Cortex-A76", 4, 512),
    "virt_max": (virt(cpu="max"), 1, "GICv2", "PSCI by HVC", "MIDR", 4, 512),
    "virt_a72_el2": (virt(",virtualization=on"), 2, "GICv2", "PSCI by SMC", "Cortex-A72", 4, 512),
    "virt_a53_el2_gicv3": (virt(",virtualization=on,gic-version=3", "cortex-a53"), 2, "GICv3",
                           "PSCI by SMC", "Cortex-A53", 4, 512),
    "virt_max_el2_gicv3": (virt(",virtualization=on,gic-version=3", "max"), 2, "GICv3",
                           "PSCI by SMC", "MIDR", 4, 512),
    "virt_a72_secure": (virt(",secure=on"), 1, "GICv2", "PSCI by HVC", "Cortex-A72", 4, 512),
    "virt_max_secure_el2": (virt(",secure=on,virtualization=on", "max"), 2, "GICv2",
                            "PSCI by SMC", "MIDR", 4, 512),
    "virt_a72_secure_gicv3": (virt(",secure=on,gic-version=3"), 1, "GICv3", "PSCI by HVC",
                              "Cortex-A72", 4, 512),
    "virt_one_core": (virt(smp=1, mem=128), 1, "GICv2", "PSCI by HVC", "Cortex-A72", 1, 128),
    "virt_eight_cores": (virt(",gic-version=3", smp=8, mem=3072), 1, "GICv3", "PSCI by HVC",
                         "Cortex-A72", 8, 3072),
    "raspi4b": (RASPI4B, 2, "GICv2", "spin table", "Cortex-A72", 4, 960),
}


def check_machine(machine, el, gic, method, core, cores, mb):
    text = machine.boot()
    check_text(text, rf"memory: {mb} MB")
    check_text(text, rf"{core}.*, \d+ CPUs, entered at EL{el}")
    check(("warning" in text or "error" in text) is False, f"complaints at boot: {text}")
    board = machine.command("board")
    check_text(board, rf"interrupts by {gic}, cores by {method}")
    check_text(board, "from its device tree")
    cpus = machine.command("cpu")
    check_equal(cpus.count(" online "), cores, "cores online")
    return board


def boots(args, *facts):
    with Machine(args, append="arg=1") as m:
        board = check_machine(m, *facts)
        check_text(board, "boot arguments: arg=1 semihosting")
        check_equal(m.power_off(5), 5, "exit status")


def make_disk(folder, bundle):
    disk = os.path.join(folder, "disk.img")
    subprocess.run([sys.executable, ROOT / "tools/mkdisk.py", "--image", IMAGE, "--script",
                    ROOT / "tools/boot.cmd", "--bundle", bundle, "--append",
                    "arg=disk semihosting", "-o", disk], check=True)
    return disk


def make_initrd(folder):
    path = os.path.join(folder, "initrd")
    make_bundle(path)
    return path


def check_initrd(m, folder):
    """The bundle was found where the loader has put it, and replayed."""
    size = os.path.getsize(os.path.join(folder, "initrd"))
    check_text(m.seen.decode(errors="replace"), f"boot bundle: loaded, {size} bytes")
    match = check_text(m.command("board"), r"initrd +0x([0-9a-f]+) - 0x([0-9a-f]+)")
    check_equal(int(match[2], 16) - int(match[1], 16) + 1, size, "length of the initrd")
    check_bundle_loaded(m)


def test_initrd():
    with tempfile.TemporaryDirectory() as folder:
        for args in (VIRT, RASPI4B):
            with Machine([*args, "-initrd", make_initrd(folder)], append="") as m:
                m.boot()
                check_initrd(m, folder)
                check_equal(m.power_off(1), 1, "exit status")


def test_bad_initrd():
    """Not a bundle, cut short, damaged: said, nothing kept, and the board is there all the same."""
    with tempfile.TemporaryDirectory() as folder:
        with open(make_initrd(folder), "rb") as f:
            good = f.read()
        damaged = bytearray(good)
        damaged[len(good) // 2] ^= 1
        for data in (b"not a bundle\n" * 1000, good[:-7], bytes(damaged), b"\0"):
            path = os.path.join(folder, "bad")
            with open(path, "wb") as f:
                f.write(data)
            with Machine([*VIRT, "-initrd", path], append="") as m:
                check_text(m.boot(), "error: boot bundle: .*nothing of it was kept")
                check_nothing_loaded(m)
                check_equal(m.power_off(1), 1, "exit status")


def test_u_boot_virt():
    with tempfile.TemporaryDirectory() as folder:
        disk = make_disk(folder, make_initrd(folder))
        args = ["-bios", DEPS / "u-boot/virt.bin", "-drive",
                f"file={disk},format=raw,if=none,id=d0", "-device", "virtio-blk-device,drive=d0"]
        for machine, el, method in ((virt(), 1, "PSCI by HVC"),
                                    (virt(",virtualization=on"), 2, "PSCI by SMC")):
            with Machine([*machine, *args], kernel=None) as m:
                m.expect("Starting kernel", 40)
                board = check_machine_after_firmware(m, folder, el, "GICv2", method, 512)
                check_text(board, "boot arguments: arg=disk semihosting")
                check_equal(m.power_off(6), 6, "exit status")


def check_machine_after_firmware(m, folder, el, gic, method, mb):
    m.boot(40)
    check_text(m.seen.decode(errors="replace"), rf"memory: {mb} MB")
    board = m.command("board")
    check_text(board, rf"entered at EL{el}")
    check_text(board, rf"interrupts by {gic}, cores by {method}")
    check_initrd(m, folder)
    check_equal(m.command("cpu").count(" online "), 4, "cores online")
    return board


def test_u_boot_raspi4b():
    with tempfile.TemporaryDirectory() as folder:
        disk = make_disk(folder, make_initrd(folder))
        args = [*RASPI4B, "-drive", f"file={disk},format=raw,if=sd"]
        with Machine(args, kernel=DEPS / "u-boot/rpi4.bin") as m:
            board = check_machine_after_firmware(m, folder, 2, "GICv2", "spin table", 960)
            check_text(board, "boot arguments: .*arg=disk semihosting")
            check_equal(m.power_off(6), 6, "exit status")


def test_tfa_raspi4b():
    """Trusted Firmware-A at EL3: cores and power by PSCI, and its own memory left alone."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([ROOT / "tools/mktfa.sh", folder, IMAGE, "arg=tfa semihosting",
                        make_initrd(folder)], check=True)
        with open(os.path.join(folder, "qemu.args")) as f:
            args = f.read().split("\n")[:-1]
        with Machine(args, kernel=None) as m:
            m.expect("BL31", 20)
            board = check_machine_after_firmware(m, folder, 2, "GICv2", "PSCI by SMC", r"9\d\d")
            check_text(board, r"firmware +0 - 0x[0-9a-f]+")
            check_equal(m.power_off(6), 6, "exit status")


def test_power_off_without_semihosting():
    """PSCI on virt, the watchdog's halt on raspi4b: QEMU ends, a status has no way out."""
    for args in (VIRT, RASPI4B):
        with Machine(args, append="", semihosting=False) as m:
            m.boot()
            check_equal(m.power_off(9), 0, "exit status")


def test_reboot():
    for args in (VIRT, RASPI4B):
        with Machine(args, append="") as m:
            m.boot()
            start = len(m.seen)
            m.send("reboot\r")
            m.expect(READY, 30, start)
            check_equal(m.power_off(2), 2, "exit status")


run_tests([(name, functools.partial(boots, *facts)) for name, facts in MACHINES.items()] +
          [(n[5:], f) for n, f in list(globals().items()) if n.startswith("test_")])
