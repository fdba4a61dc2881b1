#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# tools/fuzz.sh run SECONDS KEEP NAME...   fuzz, from the kept corpus and what earlier runs found
# tools/fuzz.sh replay NAME                every kept input once and a short fixed exploration
#
# Inputs found go to build/fuzz/corpus/NAME, or with KEEP=1 those that reach new code go to
# tests/fuzz/corpus/NAME. An input that breaks something is left as build/fuzz/NAME-crash-*.
set -eu
cd "$(dirname "$0")/.."
verb=$1
shift

common=(-timeout=10 -rss_limit_mb=2048 -max_len=8192)

run_one() {
	local name=$1 seconds=$2 keep=$3
	local found=build/fuzz/corpus/$name kept=tests/fuzz/corpus/$name log=build/fuzz/$name.log
	mkdir -p "$found" "$kept"
	printf '%-24s' "$name"
	if ! "build/fuzz/$name" "${common[@]}" -max_total_time="$seconds" -print_final_stats=1 \
		-artifact_prefix="build/fuzz/$name-" "$found" "$kept" > "$log" 2>&1; then
		echo FAILED
		tail -n 30 "$log"
		return 1
	fi
	sed -n 's/^stat::number_of_executed_units: */runs /p
		s/^stat::average_exec_per_sec: */per s /p' "$log" | paste -sd' '
	[ "$keep" != 1 ] || "build/fuzz/$name" -merge=1 "$kept" "$found" > /dev/null 2>&1
	rmdir "$kept" 2> /dev/null || true
}

case $verb in
run)
	seconds=$1 keep=$2 failed=0
	shift 2
	for name in "$@"; do
		run_one "$name" "$seconds" "$keep" || failed=1
	done
	exit $failed
	;;
replay)
	name=$1
	inputs=(tests/fuzz/corpus/"$name"/*)
	[ -e "${inputs[0]}" ] || inputs=()
	scratch=$(mktemp -d build/fuzz/replay-XXXXXX)
	trap 'rm -rf "$scratch"' EXIT
	if [ ${#inputs[@]} = 0 ] || "build/fuzz/$name" "${common[@]}" \
		-artifact_prefix="build/fuzz/$name-" "${inputs[@]}"; then
		echo "ok $name: ${#inputs[@]} kept inputs"
	else
		echo "not ok $name: kept inputs"
	fi
	[ ${#inputs[@]} = 0 ] || cp "${inputs[@]}" "$scratch"
	if "build/fuzz/$name" "${common[@]}" -seed=1 -runs=20000 -max_total_time=20 \
		-artifact_prefix="build/fuzz/$name-" "$scratch"; then
		echo "ok $name: short exploration"
	else
		echo "not ok $name: short exploration"
	fi
	;;
esac
