#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Makes a disk image that U-Boot starts barebpf from, on QEMU virt and on the Pi 4 (real or QEMU).

tools/mkdisk.py --image Image --script boot.cmd [--bundle FILE] [--append BOOTARGS] -o disk.img

One MBR partition, FAT32, 64 MiB in all (QEMU wants SD cards of a power of two). Needs mkimage,
mkfs.vfat and mcopy, no root. The image is made whole or not at all.
"""
import argparse
import os
import struct
import subprocess
import tempfile

SECTOR = 512
DISK_BYTES = 64 << 20
FIRST_SECTOR = 2048
FAT32_LBA = 0x0C


def mbr():
    """One active partition from FIRST_SECTOR to the end; CHS fields say `use LBA`."""
    sectors = DISK_BYTES // SECTOR - FIRST_SECTOR
    chs = b"\xfe\xff\xff"
    entry = struct.pack("<B3sB3sII", 0x80, chs, FAT32_LBA, chs, FIRST_SECTOR, sectors)
    disk_id = struct.pack("<I", 0x42504642)
    return (b"\0" * 440 + disk_id + b"\0\0" + entry).ljust(510, b"\0") + b"\x55\xaa"


def run(*args):
    subprocess.run(args, check=True, stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--image", required=True)
    parser.add_argument("--script", required=True)
    parser.add_argument("--bundle")
    parser.add_argument("--append")
    parser.add_argument("-o", dest="out", required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=os.path.dirname(os.path.abspath(args.out))) as tmp:
        disk, script = tmp + "/disk.img", tmp + "/boot.scr"
        files = {"Image": args.image, "boot.scr": script}
        run("mkimage", "-A", "arm64", "-O", "linux", "-T", "script", "-C", "none",
            "-n", "barebpf", "-d", args.script, script)
        if args.bundle:
            files["bundle"] = args.bundle
        if args.append is not None:
            files["barebpf.env"] = tmp + "/env"
            with open(files["barebpf.env"], "w") as f:
                f.write(f"bootargs={args.append}\n")
        with open(disk, "wb") as f:
            f.write(mbr())
            f.truncate(DISK_BYTES)
        blocks = (DISK_BYTES - FIRST_SECTOR * SECTOR) // 1024
        run("mkfs.vfat", "-F", "32", "-n", "BAREBPF", "-i", "42504642", "--offset",
            str(FIRST_SECTOR), disk, str(blocks))
        for name, path in files.items():
            run("mcopy", "-i", f"{disk}@@{FIRST_SECTOR * SECTOR}", path, "::" + name)
        os.replace(disk, args.out)


main()
