# SPDX-License-Identifier: BSD-2-Clause
# newlib's C library for the image, built once from Debian's newlib-source package into
# build/deps/newlib/{include,lib}: small formatted output and malloc, no stdio buffering tricks.
# newlib has floating-point code, so it cannot be built for general registers only; the image
# calls it in thread context alone.

newlib_recipe=1 # raise it when the options below change

newlib_configure_options() {
	local tool
	echo --target=aarch64-none-elf --disable-multilib --disable-libgloss --disable-nls \
		--disable-newlib-supplied-syscalls --enable-newlib-nano-formatted-io \
		--enable-newlib-nano-malloc --enable-newlib-reent-small \
		--disable-newlib-fvwrite-in-streamio --disable-newlib-fseek-optimization \
		--disable-newlib-wide-orient --disable-newlib-unbuf-stream-opt \
		--enable-newlib-global-atexit
	echo CC_FOR_TARGET=aarch64-linux-gnu-gcc
	for tool in ar ranlib as ld nm readelf strip; do
		echo ${tool^^}_FOR_TARGET=aarch64-linux-gnu-$tool
	done
}

newlib_build() {
	local src=$1 dir=$PWD/build/newlib
	local cflags="-O2 -ffunction-sections -fdata-sections -fno-stack-protector"
	rm -rf "$dir"
	mkdir -p "$dir/src" "$dir/obj"
	tar -x -f "$src" -C "$dir/src" --strip-components=1
	(cd "$dir/obj" && ../src/configure --prefix="$dir/inst" $(newlib_configure_options) \
		CFLAGS_FOR_TARGET="$cflags -mno-outline-atomics -mstrict-align -fno-pie") || return
	unset MAKEFLAGS MFLAGS MAKELEVEL
	make -C "$dir/obj" -j"$(nproc)" all-target-newlib MAKEINFO=true || return
	make -C "$dir/obj" install-target-newlib MAKEINFO=true
}

setup_newlib() {
	local stamp=$deps/newlib/.version src want
	src=$(compgen -G '/usr/src/newlib/newlib-*.tar.xz' | sort -V | tail -n 1)
	want="recipe $newlib_recipe $(basename "$src")"
	stamp_is $stamp "$want" && return
	say "building newlib from $(basename "$src") (once, one to two minutes)"
	quiet build/log/newlib.log newlib_build "$src"
	rm -rf $deps/newlib
	mkdir -p $deps/newlib
	mv build/newlib/inst/aarch64-none-elf/{include,lib} $deps/newlib/
	rm -rf build/newlib
	echo "$want" > $stamp
}
