# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
# Sourced by tests/vm/run: what was built for a kernel in another checkout, from which a new one starts, so that only
# the difference is compiled. A module takes 20 s, `make check` wants thirteen. Where nothing differs make is not
# asked at all: by a kernel's makefiles it takes seconds to find that out.
#
# It is kept in the cache as built/KERNEL-HASH.tar.zst: build/RELEASE without its links to sources, which `make module`
# makes, and beside that `sources`, the sums of the sources, and `from`, the checkout. What to compile is make's to say,
# by times, which only have to be made right.

# built_open: sets `built` to that file for this kernel, compiler and way to build.
built_open() {
	local compiler=${kernel_root_dir##*/}
	[ -n "$compiler" ] || compiler=$(gcc -dumpfullversion)
	built=$cache/built/${kernel_dir##*/}-$(cat - "$vm/built.sh" <<<"$compiler $KCFLAGS" | sha256sum | cut -c1-12).tar.zst
}

# built_sums: of the sources, and of what says how they are built.
built_sums() (
	cd "$repo" &&
		find Makefile Kbuild kmod include tests/kernel/{failnth,rival} -type f -exec sha256sum {} + | sort -k 2
)

# built_take: in a checkout that has nothing of this kernel yet. Sets `built_whole` where nothing is left to make.
built_take() {
	local tree=$repo/build/$kernel_release new=$repo/build/.taken from file
	built_whole=''
	[ ! -e "$tree" ] && [ -f "$built" ] || return 0
	rm -rf "$new"
	mkdir -p "$new"
	tar -C "$new" --zstd -xf "$built" 2>/dev/null || { rm -rf "$new" "$built"; return 0; }
	touch "$built"
	from=$(cat "$new/from")
	! built_sums | cmp -s - "$new/sources" || built_whole=1
	# Without the file that says how it was made an object is made again.
	{ (cd "$repo" && sha256sum -c "$new/sources" 2>/dev/null) || :; } | sed -n '/^Makefile:/d; s/: FAILED.*//p' | while read -r file; do
		{ grep -rlZF --include='.*.cmd' -e "${file##*/}" "$new" || :; } | xargs -0r rm -f
	done
	# Also those that name what is linked, or objects of the other checkout would be.
	find "$new/tree" -type f ! -name '*.o' ! -name '*.ko' -exec sed -i "s|$from/|$repo/|g" {} +
	# All of the same time, and later than any source.
	find "$new/tree" -type f -exec touch -r "$new" {} +
	mv "$new/tree" "$tree"
	rm -rf "$new"
}

# built_keep: of what has just been built, unless that is there.
built_keep() {
	local tree=$tmp/built
	mkdir -p "$tree" "${built%/*}"
	built_sums >"$tree/sources"
	echo "$repo" >"$tree/from"
	[ ! -f "$built" ] || ! tar --zstd -xOf "$built" sources 2>/dev/null | cmp -s - "$tree/sources" || return 0
	find "$repo/build/$kernel_release" -type f -print0 |
		tar -C "$tree" --null -T - -P --transform "s|^$repo/build/$kernel_release|tree|" --zstd -cf "$built.$$" sources from &&
		mv "$built.$$" "$built"
	find "${built%/*}" -type f -mtime +30 -delete
}
