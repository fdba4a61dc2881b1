# SPDX-License-Identifier: BSD-2-Clause
# eBPF programs: examples/*.bpf.c and bench/*.bpf.c -> build/examples/*.bpf.o, build/bench/*.bpf.o;
# programs that only tests use: tests/bpf/*.bpf.c -> build/tests/bpf/*.bpf.o.
#
# A source may name the eBPF CPU it wants in one of its first five lines: `cpu v4`.
# examples/NAME.c is a user program for examples/NAME.bpf.c: it gets build/examples/NAME.skel.h
# from `bpftool gen skeleton` and becomes build/examples/NAME.

BPF_CFLAGS := -O2 -g -target bpf -Wall -Werror -isystem $(UAPI) -isystem $(UAPI_ARM64) -iquote .

EXAMPLE_OBJS := $(patsubst %.bpf.c,$(B)/%.bpf.o,$(wildcard examples/*.bpf.c))
BENCH_OBJS := $(patsubst %.bpf.c,$(B)/%.bpf.o,$(wildcard bench/*.bpf.c))
TEST_BPF_OBJS := $(patsubst %.bpf.c,$(B)/%.bpf.o,$(wildcard tests/bpf/*.bpf.c))
EXAMPLE_USERS := $(filter-out %.bpf.c,$(wildcard examples/*.c))
EXAMPLE_BINS := $(patsubst %.c,$(B)/%,$(EXAMPLE_USERS))

## examples: the example programs as eBPF objects, and their skeleton programs
examples: $(EXAMPLE_OBJS) $(EXAMPLE_BINS)
skeletons: $(EXAMPLE_BINS)
bench-objects: $(BENCH_OBJS)
test-bpf-objects: $(TEST_BPF_OBJS)

FLAGS_bpf = $(BPF_CLANG) $(BPF_CFLAGS)

$(B)/%.bpf.o: %.bpf.c $(B)/flags/bpf | $(DEPS_READY)
	$(call say,BPF,$<)
	@mkdir -p $(@D)
	$(Q)$(BPF_CLANG) $(BPF_CFLAGS) \
		-mcpu=$$(sed -n '1,5s/.*cpu:\{0,1\} \(v[1-4]\).*/\1/p' $< | grep . || echo v3) \
		-MMD -MP -c -o $@ $<

$(B)/%.skel.h: $(B)/%.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $(subst -,_,$(notdir $*))_bpf > $@

$(EXAMPLE_BINS): $(B)/examples/%: examples/%.c $(B)/examples/%.skel.h
	$(call say,HOSTCC,$<)
	$(Q)$(HOST_CC) $(STD) -O2 -g $(WARN) -isystem $(B)/examples -iquote . \
		-MMD -MP -MF $@.d -o $@ $< -lbpf -lelf -lz

-include $(EXAMPLE_OBJS:.o=.d) $(BENCH_OBJS:.o=.d) $(TEST_BPF_OBJS:.o=.d) $(EXAMPLE_BINS:=.d)
