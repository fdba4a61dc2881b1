#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# tools/mksdcard.sh DIR IMAGE [BUNDLE]: the files that barebpf needs on the FAT partition of a
# Raspberry Pi 4's SD card, into DIR. The Pi's own firmware is not among them: DIR/README.txt says
# what to add.
set -eu
dir=$1 image=$2 bundle=${3:-}
rm -rf "$dir"
mkdir -p "$dir"
cp "$image" "$dir/kernel8.img"

cat > "$dir/config.txt" <<EOF
# barebpf on the Raspberry Pi 4
arm_64bit=1
kernel=kernel8.img
# PL011 (the good UART) on GPIO 14 and 15; by default they carry the mini-UART.
enable_uart=1
dtoverlay=disable-bt
# The clock that the PL011 divides, in Hz; the baud rates below 3 Mbaud all come out of it.
init_uart_clock=48000000
# No pull of the firmware at the kernel's clocks.
arm_boost=0
force_turbo=1
disable_splash=1
EOF
echo "uart=pl011 baud=115200" > "$dir/cmdline.txt"
if [ -n "$bundle" ]; then
	cp "$bundle" "$dir/bundle"
	# A fixed place: right behind the kernel's file lies memory that the image takes for itself.
	echo "initramfs bundle 0x3000000" >> "$dir/config.txt"
fi

cat > "$dir/README.txt" <<EOF
Copy everything in this folder to the first (FAT) partition of the SD card, and add the Pi's own
firmware, which is not ours to give:

  start4.elf fixup4.dat             the firmware (Debian: package raspi-firmware, non-free-firmware,
                                    /usr/lib/raspi-firmware/)
  bcm2711-rpi-4-b.dtb               the device tree (here: build/deps/dtb/, from Debian's kernel)
  overlays/disable-bt.dtbo          the overlay that config.txt names (Debian: package
                                    linux-image-arm64, or the Raspberry Pi's own card image)

Wire a 3.3 V serial adapter to GPIO 14 (TXD, pin 8), GPIO 15 (RXD, pin 10) and ground (pin 6), then

  build/host/barebpf --target /dev/ttyUSB0 info

The layout follows the Pi's documentation; no real board has been at hand to try it on.
EOF
