# SPDX-License-Identifier: BSD-2-Clause
# Shared by the pieces of tools/setup.sh.

say() {
	printf 'setup: %s\n' "$*"
}

die() {
	printf 'setup: %s\n' "$*" >&2
	exit 1
}

# quiet LOG COMMAND...: run, keep the output in LOG, show its end only on failure
quiet() {
	local log=$1
	shift
	mkdir -p "$(dirname "$log")"
	"$@" > "$log" 2>&1 < /dev/null || {
		tail -n 20 "$log" >&2
		die "failed: $* (whole output: $log)"
	}
}

# stamp_is FILE TEXT: does the stamp hold exactly this text?
stamp_is() {
	[ -e "$1" ] && [ "$(< "$1")" = "$2" ]
}

codename() {
	. /etc/os-release
	echo "${VERSION_CODENAME:-unknown}"
}

# can_root: is there a way to become root? Asks for sudo's password where there is a terminal.
can_root() {
	[ "$(id -u)" = 0 ] && return 0
	command -v sudo > /dev/null || return 1
	sudo -n true 2> /dev/null || { [ -t 0 ] && sudo -v; }
}

# as_root COMMAND...: after can_root
as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	else
		sudo env DEBIAN_FRONTEND=noninteractive LC_ALL=C "$@"
	fi
}

# mirror_uri: the system's own entry for this release's main archive; empty before `apt-get update`
mirror_uri() {
	apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Identifier: Packages' |
		awk -v s="$(codename)" '$2 == s && $3 == "main" { print $1 }' | head -n 1
}

# debian_mirror: "URI KEYRING" of that entry; KEYRING is "-" when it names none (apt then uses
# its trusted keys).
debian_mirror() {
	local uri key
	uri=$(mirror_uri)
	[ -n "$uri" ] || die "apt has no source for $(codename) main"
	key=$(cat /etc/apt/sources.list.d/*.sources 2> /dev/null | awk -v u="${uri%/}" '
		BEGIN { RS = ""; FS = "\n" }
		index($0, u) {
			for (i = 1; i <= NF; i++)
				if (sub(/^Signed-By:[ \t]*/, "", $i) && $i ~ /^\//) {
					print $i
					exit
				}
		}')
	[ -n "$key" ] || key=$(sed -n "s,^deb .*signed-by=\([^] ]*\).* ${uri%/}/* .*,\1,p" \
		/etc/apt/sources.list /etc/apt/sources.list.d/*.list 2> /dev/null | head -n 1)
	for k in $key /usr/share/keyrings/debian-archive-keyring.gpg \
		/usr/share/keyrings/debian-archive-keyring.pgp; do
		[ -e "$k" ] && { echo "$uri $k"; return; }
	done
	echo "$uri -"
}

# deb822 MIRROR SUITES: an apt source file; MIRROR as debian_mirror gives it
deb822() {
	printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: main\n' "${1% *}" "$2"
	[ "${1#* }" = - ] || printf 'Signed-By: %s\n' "${1#* }"
}
