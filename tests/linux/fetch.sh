#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Linux's selftests, from Debian's packages into build/linux/ (GPL-2.0: fetched for the test, never
# part of this repository): the source tree's parts that the tests need, vmlinux.h, compiled objects
# in build/linux/obj.
set -eu
cd "$(dirname "$0")/../.."
. tools/setup/common.sh
. tools/setup/packages.sh
. tools/setup/unpack.sh

out=build/linux
recipe=1
src=$out/src
clang=${CLANG:-clang-19}

fetch_tree() {
	local tar
	private_apt_open
	unpack linux-source-6.12 './usr/src/*'
	unpack linux-bpf-dev '*vmlinux.h'
	tar=$(find "$apt_root/root/usr/src" -name 'linux-source-6.12.tar.*' | head -n 1)
	say "unpacking the selftests"
	mkdir -p "$src"
	tar -xf "$tar" -C "$src" --strip-components=1 --wildcards \
		'*/tools/testing/selftests/bpf/*' '*/tools/lib/bpf/*.h' '*/tools/include/*' \
		'*/scripts/bpf_doc.py' '*/lib/test_bpf.c' '*/include/linux/*' \
		'*/include/uapi/linux/*' '*/tools/lib/bpf/*.c' '*/kernel/bpf/disasm.*'
	mkdir -p $out/include/bpf
	cp "$(find "$apt_root/root" -name vmlinux.h | head -n 1)" $out/include/
	cp "$src"/tools/lib/bpf/*.h $out/include/bpf/
	python3 "$src/scripts/bpf_doc.py" --header \
		--file "$src/tools/include/uapi/linux/bpf.h" > $out/include/bpf/bpf_helper_defs.h
	rm -rf "$apt_root"
}

# One object per test file; files that need what this compiler lacks are counted, not fatal: the
# harness reports a listed test without an object as failed.
compile() {
	local f o failed=0 tests=$src/tools/testing/selftests/bpf
	mkdir -p $out/obj $out/log
	for f in "$tests"/progs/{verifier_*,test_global_func*}.c \
		"$tests"/progs/{tailcall_bpf2bpf_hierarchy*,jeq_infer_not_null_fail}.c; do
		o=$out/obj/$(basename "${f%.c}").bpf.o
		[ -e "$o" ] && continue
		"$clang" -g -O2 --target=bpf -mcpu=v3 -mlittle-endian -D__TARGET_ARCH_arm64 \
			-DENABLE_ATOMICS_TESTS -Wno-compare-distinct-pointer-types \
			-Wno-unknown-attributes -I$out/include -I"$tests" \
			-I"$src/tools/include/uapi" -I"$tests/progs" \
			-idirafter /usr/include -idirafter /usr/include/x86_64-linux-gnu \
			-idirafter /usr/include/aarch64-linux-gnu -c "$f" -o "$o" \
			2> "$out/log/$(basename "$f").log" || failed=$((failed + 1))
	done
	say "compiled $(ls $out/obj/*.bpf.o | wc -l) objects, $failed failed"
}

if ! stamp_is $out/stamp "$recipe"; then
	rm -rf "$src" $out/obj
	mkdir -p $out
	fetch_tree
	echo "$recipe" > $out/stamp
fi
compile
