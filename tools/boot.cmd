# SPDX-License-Identifier: BSD-2-Clause
# U-Boot script of build/disk.img, for QEMU virt and the Raspberry Pi 4. Beside Image the disk may
# hold barebpf.env (a line bootargs=...) and bundle (the recorded calls that the board replays).
echo "barebpf: boot.scr from ${devtype} ${devnum}:${distro_bootpart}"
if test -e ${devtype} ${devnum}:${distro_bootpart} barebpf.env; then
	load ${devtype} ${devnum}:${distro_bootpart} ${kernel_addr_r} barebpf.env
	env import -t ${kernel_addr_r} ${filesize} bootargs
fi
setenv barebpf_initrd -
if test -e ${devtype} ${devnum}:${distro_bootpart} bundle; then
	load ${devtype} ${devnum}:${distro_bootpart} ${ramdisk_addr_r} bundle
	setenv barebpf_initrd ${ramdisk_addr_r}:${filesize}
fi
if load ${devtype} ${devnum}:${distro_bootpart} ${kernel_addr_r} Image; then
	booti ${kernel_addr_r} ${barebpf_initrd} ${fdtcontroladdr}
fi
echo "barebpf: Image could not be started"
