# SPDX-License-Identifier: BSD-2-Clause
# Fuzzers: tests/fuzz/NAME.c holds LLVMFuzzerTestOneInput and becomes build/fuzz/NAME, linked with
# every pure folder and the host's hal, built by clang with libFuzzer, ASan and UBSan. Seeds and
# inputs worth keeping are in tests/fuzz/corpus/NAME/.

FUZZ_NAMES := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/*.c))
FUZZ_BINS := $(addprefix $(B)/fuzz/,$(FUZZ_NAMES))
FUZZ_LIB_OBJS := $(patsubst %.c,$(B)/fuzz/obj/%.o,$(PURE_SRCS) $(UNIT_SUPPORT))
FUZZ_CFLAGS := $(STD) -O1 -g -D_GNU_SOURCE -DBAREBPF_TEST -fno-omit-frame-pointer \
	-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
FUZZ_SECONDS ?= 60

# Warnings are gcc's business: the same sources pass it with -Werror.
FLAGS_fuzz = $(BPF_CLANG) $(FUZZ_CFLAGS) $(T_CPP_host)

$(B)/fuzz/obj/%.o: %.c $(B)/flags/fuzz | $(DEPS_READY)
	$(call say,FUZZCC,$<)
	@mkdir -p $(@D)
	$(Q)$(BPF_CLANG) $(FUZZ_CFLAGS) -w $(T_CPP_host) -MMD -MP -c -o $@ $<

$(B)/fuzz/libpure.a: $(FUZZ_LIB_OBJS)
	@rm -f $@
	$(Q)$(HOST_AR) rcsD $@ $^

$(FUZZ_BINS): $(B)/fuzz/%: $(B)/fuzz/obj/tests/fuzz/%.o $(B)/fuzz/libpure.a
	$(call say,FUZZLD,$@)
	$(Q)$(BPF_CLANG) $(FUZZ_CFLAGS) -fsanitize=fuzzer -o $@ $^ $(B)/fuzz/libpure.a \
		$(FUZZ_LIBS_$*) -lpthread

# Sources outside the pure folders that a fuzzer links, and libraries.
FUZZ_EXTRA_fuzz_tree := $(wildcard board/*.c)
FUZZ_LIBS_fuzz_tree := -lfdt
FUZZ_EXTRA_fuzz_ymodem := kernel/ymodem.c
FUZZ_EXTRA_OBJS = $(patsubst %.c,$(B)/fuzz/obj/%.o,$(FUZZ_EXTRA_$(1)))
$(foreach f,$(FUZZ_NAMES),$(eval $(B)/fuzz/$(f): $(call FUZZ_EXTRA_OBJS,$(f))))

fuzz-build: $(FUZZ_BINS)

## fuzz: every fuzzer for FUZZ_SECONDS=60 (FUZZ=NAME: one; KEEP=1: keep what it finds)
fuzz: fuzz-build
	@tools/fuzz.sh run $(FUZZ_SECONDS) "$(KEEP)" $(or $(FUZZ),$(FUZZ_NAMES))

.SECONDARY: $(FUZZ_LIB_OBJS)
-include $(foreach f,$(FUZZ_NAMES),$(patsubst %.o,%.d,$(call FUZZ_EXTRA_OBJS,$(f))))
-include $(FUZZ_LIB_OBJS:.o=.d) $(patsubst %,$(B)/fuzz/obj/tests/fuzz/%.d,$(FUZZ_NAMES))
