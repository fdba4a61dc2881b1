#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# tools/mktfa.sh DIR IMAGE [BOOTARGS [BUNDLE]]: what QEMU's raspi4b needs to start IMAGE under
# Trusted Firmware-A (BL31 at EL3, so PSCI works): DIR/bl31.bin, DIR/board.dtb and DIR/qemu.args,
# QEMU's arguments, one a line. Add serial ports and the rest; no -kernel and no -dtb.
#
# The Pi's firmware tells BL31 where kernel and device tree are by three words at its start; the
# device tree is the one that QEMU's raspi4b would hand to a kernel, with its own changes.
set -eu
dir=$(realpath -m "$1") image=$(realpath "$2") bootargs=${3:-}
bundle=${4:+$(realpath "$4")}
cd "$(dirname "$0")/.."
kernel_pa=0x200000 dtb_pa=0x8000000 bundle_pa=0x9000000
deps=build/deps
mkdir -p "$dir"

# patch_word OFFSET VALUE: 32 bits, little-endian
patch_word() {
	printf '%08x' "$2" | sed 's/\(..\)\(..\)\(..\)\(..\)/\\x\4\\x\3\\x\2\\x\1/' |
		xargs -0 printf '%b' |
		dd of="$dir/bl31.bin.new" bs=1 seek=$(($1)) conv=notrunc status=none
}
cp $deps/tfa/rpi4-bl31.bin "$dir/bl31.bin.new"
patch_word 0xf0 0 # no magic: the two addresses below hold
patch_word 0xf8 $dtb_pa
patch_word 0xfc $kernel_pa
mv "$dir/bl31.bin.new" "$dir/bl31.bin"

qemu-system-aarch64 -M raspi4b,dumpdtb="$dir/board.dtb" -dtb $deps/dtb/bcm2711-rpi-4-b.dtb \
	-kernel "$image" -display none -serial null > "$dir/dumpdtb.log" 2>&1 || {
	cat "$dir/dumpdtb.log" >&2
	exit 1
}
fdtput -t s "$dir/board.dtb" /chosen bootargs "$bootargs"
{
	echo -M
	echo raspi4b
	for part in "bl31.bin 0" "board.dtb $dtb_pa"; do
		echo -device
		echo "loader,file=$dir/${part% *},addr=${part#* },force-raw=on"
	done
	echo -device
	echo "loader,file=$image,addr=$kernel_pa,force-raw=on"
	if [ -n "$bundle" ]; then
		end=$((bundle_pa + $(stat -L -c %s "$bundle")))
		fdtput -t x "$dir/board.dtb" /chosen linux,initrd-start $(printf %x $((bundle_pa)))
		fdtput -t x "$dir/board.dtb" /chosen linux,initrd-end $(printf %x $end)
		echo -device
		echo "loader,file=$bundle,addr=$bundle_pa,force-raw=on"
	fi
} > "$dir/qemu.args"
