# SPDX-License-Identifier: BSD-2-Clause
# Files taken out of Debian packages that are not installed, into build/deps:
#   fdt/           libfdt.a for aarch64 and its headers       libfdt-dev:arm64
#   dtb/           bcm2711-rpi-4-b.dtb                         the linux-image of arm64
#   u-boot/        virt.bin, rpi4.bin                          u-boot-qemu, u-boot-rpi:arm64
#   tfa/           rpi4-bl31.bin                               arm-trusted-firmware
#   uapi/          linux/*.h, asm-generic/*.h, ...             linux-libc-dev, 6.12 or later
#   uapi-arm64/    asm/*.h of arm64                            the same
# An apt of our own (lists and cache under build/apt, deleted at the end) fetches them, so that
# the system's architectures and indexes stay untouched.

unpack_recipe=1 # raise it when what is unpacked changes
apt_root=$PWD/build/apt

private_apt() {
	APT_CONFIG=$apt_root/apt.conf "$@"
}

private_apt_open() {
	local mirror suites
	[ -n "$(mirror_uri)" ] || { can_root && update; }
	mirror=$(debian_mirror)
	suites=$(codename)
	[ "$suites" = bookworm ] && suites="bookworm bookworm-backports"
	rm -rf "$apt_root"
	mkdir -p "$apt_root"/{lists/partial,cache/archives/partial,parts,deb,root}
	deb822 "$mirror" "$suites" > "$apt_root/parts/debian.sources"
	cat > "$apt_root/apt.conf" <<-EOF
		Dir::Etc::SourceList "/dev/null";
		Dir::Etc::SourceParts "$apt_root/parts";
		Dir::State::Lists "$apt_root/lists";
		Dir::State::status "/dev/null";
		Dir::Cache "$apt_root/cache";
		APT::Architecture "arm64";
		APT::Architectures { "arm64"; };
		APT::Sandbox::User "root";
		Acquire::Languages "none";
	EOF
	quiet build/log/apt-private.log private_apt apt-get -q update
}

# fetch PACKAGE[/SUITE]: prints the path of the downloaded .deb
fetch() {
	local dir=$apt_root/deb/${1%%/*}
	mkdir -p "$dir"
	(cd "$dir" && private_apt apt-get -q download "$1") >> build/log/apt-private.log 2>&1 ||
		die "apt-get download $1 failed (build/log/apt-private.log)"
	echo "$dir"/*.deb
}

# unpack PACKAGE[/SUITE] MEMBER-PATTERN...: those members into build/apt/root; the .deb is deleted
unpack() {
	local deb package=$1
	shift
	say "unpacking from $package"
	deb=$(fetch "$package")
	dpkg-deb --fsys-tarfile "$deb" |
		tar -x -C "$apt_root/root" --no-same-owner --wildcards "$@" ||
		die "$package does not hold what is expected of it: $*"
	rm -f "$deb"
}

kernel_package() {
	private_apt apt-cache depends linux-image-arm64 |
		sed -n 's/.*Depends: \(linux-image-[0-9][^:]*\).*/\1/p' | head -n 1
}

setup_unpacked() {
	local stamp=$deps/.unpacked root=$apt_root/root want suffix=
	want="recipe $unpack_recipe $(codename)"
	stamp_is $stamp "$want" && return
	rm -f $stamp
	say "package indexes for arm64 (build/apt, our own)"
	private_apt_open
	[ "$(codename)" = bookworm ] && suffix=/bookworm-backports
	unpack libfdt-dev './usr/include/*fdt*.h' ./usr/lib/aarch64-linux-gnu/libfdt.a
	unpack u-boot-rpi ./usr/lib/u-boot/rpi_4/u-boot.bin
	unpack arm-trusted-firmware ./usr/lib/arm-trusted-firmware/rpi4/bl31.bin
	unpack linux-libc-dev$suffix ./usr/include/linux ./usr/include/asm-generic \
		'./usr/lib/linux/uapi/arm64/asm*'
	unpack "$(kernel_package)" './usr/lib/linux-image-*/broadcom/bcm2711-rpi-4-b.dtb'

	rm -rf $deps/{fdt,dtb,u-boot,tfa,uapi,uapi-arm64}
	mkdir -p $deps/{fdt/include,fdt/lib,dtb,u-boot,tfa,uapi,uapi-arm64}
	cp "$root"/usr/include/*fdt*.h $deps/fdt/include/
	cp "$root"/usr/lib/aarch64-linux-gnu/libfdt.a $deps/fdt/lib/
	cp "$root"/usr/lib/linux-image-*/broadcom/bcm2711-rpi-4-b.dtb $deps/dtb/
	cp /usr/lib/u-boot/qemu_arm64/u-boot.bin $deps/u-boot/virt.bin
	cp "$root"/usr/lib/u-boot/rpi_4/u-boot.bin $deps/u-boot/rpi4.bin
	cp "$root"/usr/lib/arm-trusted-firmware/rpi4/bl31.bin $deps/tfa/rpi4-bl31.bin
	cp -r "$root"/usr/include/{linux,asm-generic} $deps/uapi/
	cp -r "$root"/usr/lib/linux/uapi/arm64/asm $deps/uapi-arm64/
	rm -rf "$apt_root"
	echo "$want" > $stamp
}
