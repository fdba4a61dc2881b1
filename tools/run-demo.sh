#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What `make run` shows: an emulated board boots, gets programs over its serial line, runs one over
# a capture file and serves an ordinary libbpf program. Ends by itself with the board shut down.
#
#	tools/run-demo.sh [--board virt|raspi4b] ... (arguments of `barebpf up`)
set -eu
cd "$(dirname "$0")/.."
barebpf=build/host/barebpf
name=demo-$$

bold='' plain=''
if [ -t 1 ]; then
	bold=$'\033[1m' plain=$'\033[0m'
fi

step() {
	printf '\n%s$ %s%s\n' "$bold" "$*" "$plain"
	"$@"
}

# A demonstration that fails must not leave a board behind.
cleanup() {
	status=$?
	[ "$up" = 0 ] || $barebpf --target "$BAREBPF_TARGET" down || status=1
	exit $status
}
up=0

printf '%s$ barebpf%s%s\n' "$bold" "$(printf ' %s' up "$@")" "$plain"
$barebpf up --name $name "$@" | tee build/demo.out
BAREBPF_TARGET=$(tail -1 build/demo.out)
export BAREBPF_TARGET
up=1
trap cleanup EXIT
trap 'exit 130' INT TERM

PATH=$PWD/build/host:$PATH
step barebpf load build/examples/*.bpf.o
step barebpf run build/examples/filter.bpf.o --pcap examples/capture.pcap --maps
step barebpf run build/examples/hello.bpf.o
step barebpf trace --lines 1
step barebpf exec -- build/examples/flows
step barebpf exec -- bpftool prog load build/examples/filter.bpf.o /sys/fs/bpf/filter
step barebpf exec -- bpftool prog show pinned /sys/fs/bpf/filter
step barebpf line
up=0
step barebpf down
