#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Makes a Debian 12 or 13 machine ready to build and test: installs missing Debian packages and
# fills build/deps. Does nothing, quickly, when nothing is missing. Run it as root or with sudo
# at hand; without either it names the packages that are missing and stops.
#
#   tools/setup.sh            packages and build/deps
#   tools/setup.sh packages   packages only
#
# Everything comes through apt. arm64 packages are unpacked, never installed: the system's
# architecture list stays as it is. The only change to apt's configuration is one file for
# bookworm-backports, written on Debian 12 when its QEMU is older than 10 and no such entry exists.
set -eu
cd "$(dirname "$0")/.."
export PATH="$PATH:/usr/sbin:/sbin" LC_ALL=C DEBIAN_FRONTEND=noninteractive
deps=build/deps

. tools/setup/common.sh
. tools/setup/packages.sh
. tools/setup/unpack.sh
. tools/setup/newlib.sh

mkdir -p $deps
exec 9> build/.setup-lock
flock 9

setup_packages
[ "${1:-}" = packages ] && exit 0
setup_newlib
setup_unpacked
[ -e $deps/.ready ] && [ -z "$(find tools/setup.sh tools/setup -newer $deps/.ready)" ] ||
	touch $deps/.ready
