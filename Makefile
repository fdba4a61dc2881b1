# SPDX-License-Identifier: BSD-2-Clause
#
# barebpf. `make help` lists the targets.
#
# Sources are found by folder, so a new file needs no edit here. Everything made goes under build/:
#   build/deps/      what tools/setup.sh unpacks or builds from Debian packages (newlib, libfdt, ...)
#   build/image/     objects of the board image       build/kernel.elf build/Image
#   build/host/      the CLI, the shim and their objects
#   build/tests/     unit tests: host/ (ASan, UBSan) and a64/ (aarch64, run by qemu-aarch64)
#   build/examples/  build/bench/  eBPF objects and skeleton headers

MAKEFLAGS += --no-builtin-rules
export PATH := $(PATH):/usr/sbin:/sbin
.SUFFIXES:
.DELETE_ON_ERROR:

all: image host examples

include tools/mk/config.mk
include tools/mk/image.mk
include tools/mk/host.mk
include tools/mk/bpf.mk
include tools/mk/tests.mk
include tools/mk/linux.mk
include tools/mk/fuzz.mk
include tools/mk/media.mk

.PHONY: all setup image host examples bench-objects skeletons run test unit unit-host unit-a64 \
	target lint fuzz bench format hostboard disk sdcard docs clean distclean help FORCE

## setup: install missing Debian packages, fill build/deps (quick when nothing is missing)
setup:
	@tools/setup.sh

## run: set up, build, boot QEMU and run the demonstration
run: setup
	@$(MAKE) --no-print-directory all
	@tools/run-demo.sh

## docs: regenerate the tables in docs/ from the .def files
docs:
	@$(PYTHON) tools/gen-docs.py

## clean: delete what was built, keep build/deps
clean:
	@find $(B) -mindepth 1 -maxdepth 1 ! -name deps ! -name apt -exec rm -rf {} + 2>/dev/null || true

## distclean: delete build/ whole
distclean:
	@rm -rf $(B)

help:
	@sed -n 's/^## \([a-z0-9-]*\): \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | sort -t'|' -k1,1 \
		| awk -F'|' '{ printf "  make %-12s %s\n", $$1, $$2 }'
