# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by tests/vm/kernels/*: kernels of our own, built from Debian's linux-source packages.
#
# A kernel is common.config and what there is of FLAVOUR.config, VERSION.config and VERSION-FLAVOUR.config,
# on top of `make allnoconfig`, and every option that those name must have taken; its sources are changed by
# what there is of VERSION.sed and VERSION-FLAVOUR.sed. What was built is kept in the cache, in
# own/VERSION-FLAVOUR-HASH, by the hash of these files and the version of the sources: changes to the rest of
# the harness build nothing again.

# own_inputs VERSION FLAVOUR: the files that the kernel is made of.
own_inputs() {
	local file
	for file in "$vm/debug"/{common,"$2","$1","$1-$2"}.config "$vm/debug"/{"$1.sed","$1-$2.sed",build.sh}; do
		[ ! -f "$file" ] || echo "$file"
	done
}

# own_key VERSION FLAVOUR
own_key() {
	local version inputs
	version=$(apt_cache policy "linux-source-$1" | awk '$1 == "Candidate:" {print $2}')
	[ -n "$version" ] || { apt_reread; version=$(apt_cache policy "linux-source-$1" | awk '$1 == "Candidate:" {print $2}'); }
	[ -n "$version" ] || not_offered "linux-source-$1"
	mapfile -t inputs < <(own_inputs "$@")
	echo "linux-source-$1=$version"
	sha256sum "${inputs[@]}" | sed "s|$vm/||"
}

# own_fetch DIR VERSION FLAVOUR
own_fetch() {
	local dir=$1 key built
	shift
	key=$(own_key "$@")
	built=$cache/own/$1-$2-$(sha256sum <<<"$key" | cut -c1-12)
	if [ ! -f "$built/key" ]; then
		rm -rf "$built.new"
		mkdir -p "$built.new"
		say "building the kernel $1-$2 from ${key%%$'\n'*}: a quarter of an hour or more; its log is $built.new/log"
		own_build "$built.new" "${key%%$'\n'*}" "$@" >"$built.new/log" 2>&1 </dev/null || {
			tail -n 30 "$built.new/log" >&2
			[ -n "$key_outdated" ] || die "the kernel $1-$2 does not build"
			return 0
		}
		echo "$key" >"$built.new/key"
		mv "$built.new" "$built"
	fi
	touch "$built/key"
	find "$cache/own" -maxdepth 1 -name "$1-$2-????????????" ! -name "${built##*/}" -mtime +0 -exec rm -rf {} +
	cp -al "$built"/{boot,lib,usr} "$dir/"
}

# own_build DIR PACKAGE VERSION FLAVOUR: fills DIR as Debian's image and headers would.
own_build() {
	local dir=$1 source=$1/source release headers
	own_source "$source" "$2" "$3" || return
	own_edit "$source" "$3.sed" || return
	own_edit "$source" "$3-$4.sed" || return
	own_configure "$source" "$3" "$4" || return
	# Whoever waits for it should not wait for other work on this machine, nor hold it up.
	# What is inlined in part cannot be hooked: mtag would refuse this kernel.
	nice make -s -C "$source" -j"$(nproc)" "LOCALVERSION=-mtag-$4" KCFLAGS=-fno-partial-inlining bzImage modules || return
	release=$(make -s -C "$source" "LOCALVERSION=-mtag-$4" kernelrelease) || return
	headers=$dir/usr/src/linux-headers-$release
	mkdir -p "$dir/boot" "$headers"
	make -s -C "$source" "LOCALVERSION=-mtag-$4" INSTALL_MOD_PATH="$(realpath "$dir")" DEPMOD=true modules_install || return
	cp "$source/arch/x86/boot/bzImage" "$dir/boot/vmlinuz-$release" || return
	cp "$source/System.map" "$dir/boot/System.map-$release" || return
	cp "$source/.config" "$dir/boot/config-$release" || return
	own_headers "$source" "$headers" || return
	rm -f "$dir/lib/modules/$release"/{build,source}
	ln -s "../../../usr/src/${headers##*/}" "$dir/lib/modules/$release/build"
	rm -rf "$source"
}

# own_source DIR PACKAGE VERSION: the package's sources.
own_source() {
	local debs=$1.debs
	mkdir -p "$1" "$debs"
	apt_download "$debs" "$2" || return
	dpkg-deb --fsys-tarfile "$debs"/*.deb | tar -xO "./usr/src/linux-source-$3.tar.xz" |
		tar -xJ -C "$1" --strip-components=1 || return
	rm -rf "$debs"
}

# own_edit SOURCE NAME: what debug/NAME, if there is one, does to the sources. Its lines are FILE<tab>SCRIPT, and
# each must change something.
own_edit() {
	local file script
	[ -f "$vm/debug/$2" ] || return 0
	while IFS=$'\t' read -r file script; do
		case $file in '' | \#*) continue ;; esac
		sed -i.orig "$script" "$1/$file" || return
		! cmp -s "$1/$file" "$1/$file.orig" || { echo "$2 changes nothing in $file: $script"; return 1; }
		rm "$1/$file.orig"
	done <"$vm/debug/$2"
}

# own_configure SOURCE VERSION FLAVOUR: .config, in which all that was asked for is as asked.
own_configure() {
	local inputs missing
	mapfile -t inputs < <(own_inputs "$2" "$3" | grep '\.config$')
	cat "${inputs[@]}" >"$1/wanted.config"
	# It says which choices these make.
	make -s -C "$1" KCONFIG_ALLCONFIG=wanted.config allnoconfig 2>&1 | grep -v 'override:'
	missing=$(sort -u "${inputs[@]}" | grep -E '^(CONFIG_|# CONFIG_[A-Z0-9_]+ is not set)' | while read -r line; do
		grep -qxF "$line" "$1/.config" || [[ $line == \#* && $(own_option "$1" "${line#\# }") == '' ]] ||
			echo "  $line is now: $(own_option "$1" "${line#\# }" | grep . || echo 'not there')"
	done)
	[ -z "$missing" ] || { printf '%s\n' "options that did not take, for want of others or of such a kernel:" "$missing"; return 1; }
}

# own_option SOURCE OPTION…: the line of .config that says how it is.
own_option() {
	local name=${2%%[= ]*}
	grep -E "^(# )?${name}[= ]" "$1/.config" || :
}

# own_headers SOURCE DIR: what a module's build needs of the built tree.
own_headers() {
	local source
	source=$(realpath "$1")
	(
		cd "$source" || exit
		find . arch/x86 -maxdepth 1 '(' -name 'Makefile*' -o -name 'Kbuild*' ')' -type f
		find include arch/x86/include -type f -o -type l
		# The programs, not what they were made of.
		find scripts -name '*.o' -prune -o '(' -type f -o -type l ')' -print
		find tools/objtool -maxdepth 1 -name objtool
		find arch/x86 -maxdepth 2 '(' -name 'module.lds*' -o -path 'arch/x86/tools/relocs' ')' -type f
		ls .config Module.symvers System.map
	) | sed 's|^\./||' | sort -u | tar -c -C "$source" -T - | tar -x -C "$2"
}
