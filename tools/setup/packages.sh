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
	deb822 "$mirror" bookworm-backports | as_root tee $file > /dev/null
	update
}

update() {
	say "apt-get update"
	quiet build/log/apt-update.log as_root apt-get -q update
}

install() {
	quiet build/log/apt-install.log as_root apt-get -q -y --no-install-recommends install "$@"
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
		"${missing[*]}${qemu:+ ${qemu%/*} (10 or later)}"
	update
	[ "$qemu" = qemu-system-arm/bookworm-backports ] && add_backports
	if [ ${#missing[@]} != 0 ]; then
		say "apt-get install ${missing[*]}"
		install "${missing[@]}"
	fi
	if [ -n "$qemu" ]; then
		say "apt-get install $qemu"
		case $qemu in
		*/*) install -t "${qemu#*/}" "${qemu%/*}" ;;
		*) install "$qemu" ;;
		esac
		hash -r
		qemu_checked || die "qemu-system-aarch64 has no raspi4b: version 10 is needed"
	fi
	hash -r
	while read -r check names; do
		case $check in '' | '#'*) continue ;; esac
		check_holds "$check" || die "$(package_for $names) gave no ${check#*:}"
	done < tools/setup/packages.txt
}
