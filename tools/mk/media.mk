# SPDX-License-Identifier: BSD-2-Clause
# Boot media: a disk image for U-Boot, a folder for the Pi's SD card, the pieces for TF-A.

## disk: build/disk.img, for U-Boot on QEMU virt and raspi4b (Image, boot.scr, BUNDLE=file)
disk: $(B)/disk.img
$(B)/disk.img: $(B)/Image tools/mkdisk.py tools/boot.cmd $(BUNDLE)
	$(call say,DISK,$@)
	$(Q)$(PYTHON) tools/mkdisk.py --image $(B)/Image --script tools/boot.cmd \
		$(if $(BUNDLE),--bundle $(BUNDLE)) -o $@

## sdcard: build/sdcard/, what goes on a Raspberry Pi 4's SD card beside the Pi's firmware
sdcard: $(B)/Image
	$(call say,SDCARD,$(B)/sdcard)
	$(Q)tools/mksdcard.sh $(B)/sdcard $(B)/Image $(BUNDLE)
