# SPDX-License-Identifier: BSD-2-Clause
# The board image: build/kernel.elf and build/Image.
#
# The image is linked at one fixed virtual address. Code built with -fno-pie and the small code
# model reaches everything by ADRP, so it also runs at any physical address before the MMU is on,
# as long as early code reads no pointer out of initialised data. No run-time relocation is needed.

KFLAGS := $(STD) -O2 -g -ffreestanding -fno-pie -mcmodel=small -mgeneral-regs-only \
	-march=armv8-a -mno-outline-atomics -fno-stack-protector -fno-omit-frame-pointer \
	-fno-asynchronous-unwind-tables -fno-unwind-tables -fno-delete-null-pointer-checks \
	-ffunction-sections -fdata-sections
KCPPFLAGS = -nostdinc -isystem $(shell $(A64_CC) -print-file-name=include) \
	-isystem $(DEPS)/newlib/include -isystem $(DEPS)/fdt/include \
	-isystem $(UAPI) -isystem $(UAPI_ARM64) -I. -DBAREBPF_IMAGE
# Code that runs before the MMU is on: RAM is Device memory, an unaligned access faults.
KFLAGS_boot := -mstrict-align
# Functions that are memcpy and the like must not be compiled into calls of themselves.
KFLAGS_libc := -fno-builtin -fno-tree-loop-distribute-patterns

KLDFLAGS := -nostdlib -static -no-pie -Wl,-T,linker.ld -Wl,--gc-sections -Wl,--build-id=none \
	-Wl,-z,norelro -Wl,-z,noexecstack -Wl,--no-warn-rwx-segments -Wl,-z,max-page-size=4096
KLIBS = -Wl,--start-group $(DEPS)/newlib/lib/libc.a $(DEPS)/fdt/lib/libfdt.a \
	$(shell $(A64_CC) -print-libgcc-file-name) -Wl,--end-group

IMAGE_OBJS := $(patsubst %,$(B)/image/%.o,$(basename $(IMAGE_SRCS)))

## image: the board image (build/Image, build/kernel.elf)
image: $(B)/Image

FLAGS_image = $(A64_CC) $(KFLAGS) $(KFLAGS_boot) $(KFLAGS_libc) $(WARN) $(WARN_PURE) $(KCPPFLAGS)

$(B)/image/%.o: %.c $(B)/flags/image | $(DEPS_READY)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(A64_CC) $(KFLAGS) $(call warn_for,$<) $(KFLAGS_$(firstword $(subst /, ,$<))) \
		$(if $(filter $(IMAGE_ONLY),$<),$(KFLAGS_libc)) $(KCPPFLAGS) -MMD -MP -c -o $@ $<

$(B)/image/%.o: %.S $(B)/flags/image | $(DEPS_READY)
	$(call say,AS,$<)
	@mkdir -p $(@D)
	$(Q)$(A64_CC) $(KFLAGS) $(KCPPFLAGS) -D__ASSEMBLY__ -MMD -MP -c -o $@ $<

# Two links: the first with an empty symbol table, the second with the table made from the first.
# The table is the last thing in .rodata, so the addresses of functions do not move between links.
$(B)/kernel.elf: $(IMAGE_OBJS) linker.ld tools/gen-ksyms.py tools/mk/image.mk
	$(call say,LD,$@)
	$(Q)tools/link-image.sh $@ $(A64_CC) $(KFLAGS) $(KLDFLAGS) -- $(IMAGE_OBJS) -- $(KLIBS)

$(B)/Image: $(B)/kernel.elf
	$(call say,IMAGE,$@)
	$(Q)$(A64_OBJCOPY) -O binary $< $@

-include $(IMAGE_OBJS:.o=.d)
