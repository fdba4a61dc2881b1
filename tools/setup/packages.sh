# SPDX-License-Identifier: BSD-2-Clause
# Debian packages that must be installed (tools/setup/packages.txt), and QEMU 10 or later.

check_holds() {
	case $1 in
	cmd:*) command -v "${1#cmd:}" > /dev/null ;;
	file:*) compgen -G "${1#file:}" > /dev/null ;;
	esac
}

# package_for NAME...: the first name without @codename or with this release's
package_for() {
	local name release
	release=$(codename)
	for name in "$@"; do
		case $name in
		*@"$release") echo "${name%@*}" && return ;;
		*@*) ;;
		*) echo "$name" && return ;;
		esac
	done
}

qemu_is_new() {
	command -v qemu-system-aarch64 > /dev/null &&
		[[ $(qemu-system-aarch64 -M help) == *raspi4b* ]]
}

# qemu_checked: qemu_is_new, remembered for the binary as it is now
qemu_checked() {
	local id
	id=$(stat -L -c '%n %s %Y' "$(command -v qemu-system-aarch64)" 2> /dev/null) || return 1
	stamp_is $deps/.qemu "$id" && return
	qemu_is_new || return
	echo "$id" > $deps/.qemu
}

add_backports() {
	local mirror file
	apt-get indextargets --format '$(RELEASE)' | grep -qx bookworm-backports && return
	mirror=$(debian_mirror)
	file=/etc/apt/sources.list.d/bookworm-backports.sources
	say "adding $file for QEMU 10 (mirror ${mirror% *})"
	{
		printf 'Types: deb\nURIs: %s\nSuites: bookworm-backports\nComponents: main\n' "${mirror% *}"
		[ "${mirror#* }" = - ] || printf 'Signed-By: %s\n' "${mirror#* }"
	} | as_root tee $file > /dev/null
}

setup_packages() {
	local check names missing=() qemu=
	while read -r check names; do
		case $check in '' | '#'*) continue ;; esac
		check_holds "$check" || missing+=("$(package_for $names)")
	done < tools/setup/packages.txt
	if ! qemu_checked; then
		qemu=qemu-system-arm
		[ "$(codename)" = bookworm ] && qemu=qemu-system-arm/bookworm-backports
	fi
	[ ${#missing[@]} = 0 ] && [ -z "$qemu" ] && return

	can_root || die "missing Debian packages, and neither root nor sudo to install them:" \
		"${missing[*]} ${qemu:+$qemu (10 or later)}"
	[ "$qemu" = qemu-system-arm/bookworm-backports ] && add_backports
	say "apt-get update"
	quiet build/log/apt-update.log as_root apt-get -q update
	if [ ${#missing[@]} != 0 ]; then
		say "apt-get install ${missing[*]}"
		quiet build/log/apt-install.log as_root apt-get -q -y --no-install-recommends install \
			"${missing[@]}"
	fi
	if [ -n "$qemu" ]; then
		say "apt-get install $qemu"
		quiet build/log/apt-install-qemu.log as_root apt-get -q -y --no-install-recommends install \
			${qemu%/*} $([ "$qemu" = "${qemu%/*}" ] || echo "-t ${qemu#*/}")
		hash -r
		qemu_checked || die "qemu-system-aarch64 has no raspi4b machine: QEMU 10 or later is needed"
	fi
	hash -r
	while read -r check names; do
		case $check in '' | '#'*) continue ;; esac
		check_holds "$check" || die "${check#*:} still missing after installing $(package_for $names)"
	done < tools/setup/packages.txt
}
