# SPDX-License-Identifier: BSD-2-Clause
# Tools, folders and flags that the other pieces share.

B := build
DEPS := $(B)/deps

CROSS ?= aarch64-linux-gnu-
A64_CC := $(CROSS)gcc
A64_AR := $(CROSS)ar
A64_LD := $(CROSS)ld
A64_NM := $(CROSS)nm
A64_OBJCOPY := $(CROSS)objcopy
HOST_CC ?= gcc
HOST_AR ?= ar
BPF_CLANG ?= clang-19
CLANG_FORMAT ?= clang-format-19
BPFTOOL ?= bpftool
QEMU_A64 ?= qemu-aarch64
QEMU_SYSTEM ?= qemu-system-aarch64
PYTHON ?= python3

# Pure folders build for the image, the host and aarch64 Linux from the same sources.
PURE_DIRS := lib bpf bpf/verifier maps jit wire runtime
IMAGE_DIRS := boot kernel mm drivers board $(PURE_DIRS)

# Sources of pure folders that only the image may have: they define libc names.
IMAGE_ONLY := $(wildcard lib/libc_*.c lib/libc_*.S)

PURE_SRCS := $(filter-out $(IMAGE_ONLY),$(foreach d,$(PURE_DIRS),$(wildcard $(d)/*.c)))
IMAGE_SRCS := $(foreach d,$(IMAGE_DIRS),$(wildcard $(d)/*.c $(d)/*.S))

# -Wno-dangling-pointer: lists and stacks of contexts hold addresses of locals by design.
WARN := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla \
	-Wno-dangling-pointer
WARN_PURE := -Wconversion
STD := -std=gnu11 -fno-common -fno-strict-aliasing

# Kernel headers, one version for image, host and eBPF programs; asm/ is arm64's, and only the
# image and aarch64 Linux builds take it.
UAPI := $(DEPS)/uapi
UAPI_ARM64 := $(DEPS)/uapi-arm64

DEPS_READY := $(DEPS)/.ready

# Everything compiled depends on this (order only). It runs set-up when build/deps is missing or
# when set-up itself changed.
$(DEPS_READY): tools/setup.sh $(wildcard tools/setup/*)
	@tools/setup.sh

ifneq ($(V),1)
Q := @
say = @printf '  %-7s %s\n' '$(1)' '$(2)'
else
say = @:
endif

# is_pure(source): non-empty when the source lies in a pure folder
is_pure = $(filter $(PURE_DIRS),$(patsubst %/,%,$(dir $(1))))
# warn_for(source)
warn_for = $(WARN) $(if $(call is_pure,$(1)),$(WARN_PURE))

# $(B)/flags/VARIANT changes when FLAGS_VARIANT does: the objects of that variant depend on it.
.PRECIOUS: $(B)/flags/%
$(B)/flags/%: FORCE | $(DEPS_READY)
	@mkdir -p $(@D)
	@echo '$(FLAGS_$*)' | cmp -s - $@ || echo '$(FLAGS_$*)' > $@
