# SPDX-License-Identifier: BSD-2-Clause
# The host side: build/host/barebpf (CLI and broker) and build/host/barebpf-shim.so (preloaded
# into bpf(2) clients). host/*.c makes the first, host/shim/*.c the second; host/common/*.c goes
# into both. Pure folders are built once, position independent, and linked into both.

# Quoted includes start at the root; <bpf/...> stays libbpf's.
HOST_CPPFLAGS := -isystem $(UAPI) -iquote . -D_GNU_SOURCE
# Hidden by default: the shim lives in other people's programs and exports what it replaces only.
HOST_CFLAGS := $(STD) -O2 -g -fPIC -fvisibility=hidden
HOST_LIBS := -lbpf -lelf -lz -lcapstone -lpthread

HOST_PURE_OBJS := $(patsubst %.c,$(B)/host/obj/%.o,$(PURE_SRCS))
HOST_COMMON_OBJS := $(patsubst %.c,$(B)/host/obj/%.o,$(wildcard host/common/*.c))
HOST_CLI_OBJS := $(patsubst %.c,$(B)/host/obj/%.o,$(wildcard host/*.c))
HOST_SHIM_OBJS := $(patsubst %.c,$(B)/host/obj/%.o,$(wildcard host/shim/*.c))

## host: the host tool (build/host/barebpf) and the bpf(2) shim
host: $(if $(HOST_CLI_OBJS),$(B)/host/barebpf) $(if $(HOST_SHIM_OBJS),$(B)/host/barebpf-shim.so)

FLAGS_host = $(HOST_CC) $(HOST_CFLAGS) $(WARN) $(WARN_PURE) $(HOST_CPPFLAGS)

$(B)/host/obj/%.o: %.c $(B)/flags/host | $(DEPS_READY)
	$(call say,HOSTCC,$<)
	@mkdir -p $(@D)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) $(call warn_for,$<) $(HOST_CPPFLAGS) -MMD -MP -c -o $@ $<

$(B)/host/libpure.a: $(HOST_PURE_OBJS)
	@mkdir -p $(@D)
	@rm -f $@
	$(Q)$(HOST_AR) rcsD $@ $^

$(B)/host/barebpf: $(HOST_CLI_OBJS) $(HOST_COMMON_OBJS) $(B)/host/libpure.a
	$(call say,HOSTLD,$@)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -o $@ $^ $(HOST_LIBS)

# The shim exports only what it means to interpose.
$(B)/host/barebpf-shim.so: $(HOST_SHIM_OBJS) $(HOST_COMMON_OBJS) $(B)/host/libpure.a
	$(call say,HOSTLD,$@)
	$(Q)$(HOST_CC) $(HOST_CFLAGS) -shared -Wl,--exclude-libs,ALL -o $@ $^ -ldl -lpthread

-include $(HOST_PURE_OBJS:.o=.d) $(HOST_COMMON_OBJS:.o=.d) $(HOST_CLI_OBJS:.o=.d) \
	$(HOST_SHIM_OBJS:.o=.d)
