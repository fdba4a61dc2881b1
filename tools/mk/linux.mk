# SPDX-License-Identifier: BSD-2-Clause
# Linux's selftests (tests/linux/): objects from Debian's source package, loaded through libbpf.
# The board in the process is a library of its own: some of its functions have the names of
# libbpf's.
LINUX_RUNNER := $(B)/tests/linux-selftest
$(B)/tests/libinproc.so: tests/linux/inproc.c tests/linux/inproc.h tests/linux/inproc.map \
		$(B)/tests/host/libpure.a
	$(call say,LD-host,$@)
	$(Q)$(T_CC_host) $(T_CPP_host) $(T_CFLAGS_host) -Itests/linux -shared -fPIC -o $@ \
		-Wl,--version-script=tests/linux/inproc.map tests/linux/inproc.c \
		$(B)/tests/host/libpure.a -ldl -lpthread
$(LINUX_RUNNER): tests/linux/selftest.c tests/linux/inproc.h $(B)/tests/libinproc.so
	$(call say,LD-host,$@)
	$(Q)$(T_CC_host) $(T_CPP_host) $(T_CFLAGS_host) -Itests/linux -DINPROC -o $@ $< \
		$(B)/tests/libinproc.so -Wl,-rpath,'$$ORIGIN' -lbpf -lelf -lz

## linux-tests: Linux's own verifier tests against this one (their source: Debian's packages)
.PHONY: linux-tests
linux-tests: setup $(LINUX_RUNNER)
	$(Q)tests/linux/fetch.sh
	@$(PYTHON) tests/linux/run.py
