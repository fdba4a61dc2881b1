#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Links the image with its own symbol table inside:
#   tools/link-image.sh OUT CC FLAGS... -- OBJECTS... -- LIBRARIES...
#
# The table (tools/gen-ksyms.py, section .rodata.ksyms) is made from a first link that holds an
# empty one. linker.ld puts .rodata.ksyms after all code, so that its growth moves no function;
# when addresses moved all the same, the link is repeated, and it is an error if they never settle.
# OUT.map is the link map of the last link.
set -eu
out=$1
cc=$2
shift 2
flags=() objs=()
while [ "$1" != -- ]; do flags+=("$1"); shift; done
shift
while [ "$1" != -- ]; do objs+=("$1"); shift; done
shift
libs=("$@")
nm=${cc%gcc}nm
dir=${out%.elf}.link
mkdir -p "$dir"

link() {
	"$cc" "${flags[@]}" -Wl,-Map="$2.map" -o "$2" "${objs[@]}" "$dir/$1.o" "${libs[@]}"
}

table() {
	python3 tools/gen-ksyms.py $2 > "$dir/$1.S"
	"$cc" -c -o "$dir/$1.o" "$dir/$1.S"
}

functions() {
	"$nm" -n "$1" | grep -i ' t '
}

table empty ""
link empty "$dir/0.elf"
for pass in 1 2 3; do
	"$nm" -n "$dir/$((pass - 1)).elf" > "$dir/symbols"
	table syms "$dir/symbols"
	link syms "$dir/$pass.elf"
	if cmp -s <(functions "$dir/$((pass - 1)).elf") <(functions "$dir/$pass.elf"); then
		mv "$dir/$pass.elf" "$out"
		mv "$dir/$pass.elf.map" "$out.map"
		rm -f "$dir"/*.elf "$dir"/*.elf.map
		exit 0
	fi
done
echo "link-image: addresses of functions do not settle: is .rodata.ksyms after the code?" >&2
exit 1
