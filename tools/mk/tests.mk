# SPDX-License-Identifier: BSD-2-Clause
# Tests. tests/unit/NAME.c is one binary, linked with every pure folder and with
# tests/unit/hal_*.c (the host's include/hal.h). It is built twice from the same sources: for the
# host under ASan and UBSan, and as a static aarch64 Linux program run by qemu-aarch64.

UNIT_SUPPORT := $(wildcard tests/unit/hal_*.c tests/unit/support_*.c)
UNIT_SRCS := $(filter-out $(UNIT_SUPPORT),$(wildcard tests/unit/*.c))
UNIT_NAMES := $(patsubst tests/unit/%.c,%,$(UNIT_SRCS))

T_CFLAGS := $(STD) -g -D_GNU_SOURCE -DBAREBPF_TEST
ASAN := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
T_CFLAGS_host := $(T_CFLAGS) -fPIC -O1 $(ASAN)
T_CFLAGS_a64 := $(T_CFLAGS) -O2 -static -mno-outline-atomics
T_CPP_host := -isystem $(UAPI) -isystem $(DEPS)/fdt/include -I. -Itests/unit
T_CPP_a64 := -isystem $(UAPI) -isystem $(UAPI_ARM64) -isystem $(DEPS)/fdt/include -I. -Itests/unit
T_CC_host := $(HOST_CC)
T_CC_a64 := $(A64_CC)
T_AR_host := $(HOST_AR)
T_AR_a64 := $(A64_AR)

UNIT_EXTRA_ymodem := kernel/ymodem.c
UNIT_EXTRA_ymodem_lrzsz := kernel/ymodem.c

# tests/unit/board*.c read real device trees: QEMU's own and, as QEMU hands it on, the Pi 4's.
UNIT_EXTRA_board := $(wildcard board/*.c)
UNIT_EXTRA_board_fuzz := $(UNIT_EXTRA_board)
UNIT_LIBS_host_board := -lfdt
UNIT_LIBS_host_board_fuzz := -lfdt
UNIT_LIBS_a64_board := $(DEPS)/fdt/lib/libfdt.a
UNIT_LIBS_a64_board_fuzz := $(UNIT_LIBS_a64_board)
TREES := $(patsubst %,$(B)/tests/dtb/%.dtb,virt virt-el2 virt-secure virt-gicv3 virt-16 rpi4)
TREE_OPTS_virt := -M virt -cpu cortex-a72 -smp 4
TREE_OPTS_virt-el2 := -M virt,virtualization=on -cpu cortex-a53 -smp 1
TREE_OPTS_virt-secure := -M virt,secure=on -cpu cortex-a72 -smp 2
TREE_OPTS_virt-gicv3 := -M virt,gic-version=3 -cpu max -smp 4
TREE_OPTS_virt-16 := -M virt,gic-version=3 -cpu cortex-a76 -smp 20
RPI4_DTB := $(DEPS)/dtb/bcm2711-rpi-4-b.dtb
# Any file will do as kernel and initrd: the machine is not run.
TREE_OPTS_rpi4 := -M raspi4b -dtb $(RPI4_DTB) -kernel $(RPI4_DTB) -initrd $(RPI4_DTB) \
	-append uart=mini

$(TREES): $(B)/tests/dtb/%.dtb: tools/mk/tests.mk | $(DEPS_READY)
	$(call say,DTB,$@)
	@mkdir -p $(@D)
	$(Q)$(QEMU_SYSTEM) $(TREE_OPTS_$*) -machine dumpdtb=$@ \
		$(if $(filter virt%,$*),-m 512 -kernel $(RPI4_DTB) -append test=1) \
		-nic none -display none >$(@:.dtb=.log) 2>&1 || { cat $(@:.dtb=.log); exit 1; }

$(foreach t,board board_fuzz,$(B)/tests/host/$(t) $(B)/tests/a64/$(t)): | $(TREES)

# unit_rules(variant)
define unit_rules
UNIT_BINS_$(1) := $$(patsubst %,$$(B)/tests/$(1)/%,$$(UNIT_NAMES))
UNIT_LIB_OBJS_$(1) := $$(patsubst %.c,$$(B)/tests/$(1)/obj/%.o,$$(PURE_SRCS) $$(UNIT_SUPPORT))

FLAGS_test-$(1) = $$(T_CC_$(1)) $$(T_CFLAGS_$(1)) $$(WARN) $$(WARN_PURE) $$(T_CPP_$(1))

$$(B)/tests/$(1)/obj/%.o: %.c $$(B)/flags/test-$(1) | $$(DEPS_READY)
	$$(call say,CC-$(1),$$<)
	@mkdir -p $$(@D)
	$$(Q)$$(T_CC_$(1)) $$(T_CFLAGS_$(1)) $$(call warn_for,$$<) $$(T_CPP_$(1)) \
		-MMD -MP -c -o $$@ $$<

$$(B)/tests/$(1)/libpure.a: $$(UNIT_LIB_OBJS_$(1))
	@mkdir -p $$(@D)
	@rm -f $$@
	$$(Q)$$(T_AR_$(1)) rcsD $$@ $$^

$$(UNIT_BINS_$(1)): $$(B)/tests/$(1)/%: $$(B)/tests/$(1)/obj/tests/unit/%.o \
		$$(B)/tests/$(1)/libpure.a
	$$(call say,LD-$(1),$$@)
	$$(Q)$$(T_CC_$(1)) $$(T_CFLAGS_$(1)) -o $$@ $$^ $$(B)/tests/$(1)/libpure.a \
		$$(UNIT_LIBS_$(1)_$$*) -lpthread

# Sources outside the pure folders that a test links: UNIT_EXTRA_NAME, UNIT_LIBS_VARIANT_NAME.
$$(foreach t,$$(UNIT_NAMES),$$(eval $$(B)/tests/$(1)/$$(t): \
	$$(patsubst %.c,$$(B)/tests/$(1)/obj/%.o,$$(UNIT_EXTRA_$$(t)))))

UNIT_OBJS_$(1) := $$(patsubst %,$$(B)/tests/$(1)/obj/tests/unit/%.o,$$(UNIT_NAMES))
UNIT_OBJS_$(1) += $$(UNIT_LIB_OBJS_$(1)) $$(foreach t,$$(UNIT_NAMES), \
	$$(patsubst %.c,$$(B)/tests/$(1)/obj/%.o,$$(UNIT_EXTRA_$$(t))))
.SECONDARY: $$(UNIT_OBJS_$(1))
-include $$(sort $$(UNIT_OBJS_$(1):.o=.d))
endef
$(eval $(call unit_rules,host))
$(eval $(call unit_rules,a64))

unit-build-host: $(UNIT_BINS_host)
unit-build-a64: $(UNIT_BINS_a64)

# One unit test by name on both machines: make unit-NAME
.PHONY: $(addprefix unit-,$(UNIT_NAMES))
$(addprefix unit-,$(UNIT_NAMES)): unit-%: $(B)/tests/host/% $(B)/tests/a64/%
	@timeout 300 $(B)/tests/host/$*
	@timeout 600 $(QEMU_A64) -cpu cortex-a72 $(B)/tests/a64/$*

## unit: unit tests on the host (ASan, UBSan) and as aarch64; make unit-NAME runs one
unit: unit-build-host unit-build-a64
	@$(PYTHON) tools/test.py unit-host unit-a64
unit-host: unit-build-host
	@$(PYTHON) tools/test.py unit-host
unit-a64: unit-build-a64
	@$(PYTHON) tools/test.py unit-a64

## test: everything; closes with `N passed, N failed, N skipped`
test: setup
	@$(PYTHON) tools/test.py --make '$(MAKE)' all

## target: only the tests that boot boards in QEMU
target: all test-bpf-objects hostboard disk
	@$(PYTHON) tools/test.py target

## lint: style, layers, sizes, licences, registers, generated docs
lint: image
	@$(PYTHON) tools/lint/run.py

## bench: boot under icount, print tables, write build/bench/results.jsonl
bench: all bench-objects
	@$(PYTHON) tools/bench.py

## format: clang-format every C source in place
format:
	@git ls-files '*.c' '*.h' | xargs $(CLANG_FORMAT) -i

# The board as a process (tests/hostboard/hostboard.c), for tests of the host tools.
## hostboard: build/tests/hostboard, a board in a process, for tests of the host tools
hostboard: $(B)/tests/hostboard
$(B)/tests/hostboard: $(B)/tests/host/obj/tests/hostboard/hostboard.o $(B)/tests/host/libpure.a
	$(call say,LD-host,$@)
	$(Q)$(T_CC_host) $(T_CFLAGS_host) -Wl,--wrap=hal_trace -o $@ $^ -lpthread
