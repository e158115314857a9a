#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# t_install.sh [SUITE…]: the packages, lintian's opinion of them, and what is in them. With suites named, or
# MTAG_LONG set (all of roots/), also what becomes of them on a Debian of its own in a VM, where the module
# is built five times and more: make dkms, installed by apt, used by an unprivileged user, a second kernel,
# an upgrade under a process that is tracked, removed and purged. Needs root, or what mmdebstrap needs
# instead.
set -u
cd "$(dirname "$(realpath "$0")")/../.." || exit
. tests/pkg/root.sh
. tests/kernel/lib.sh
tmp=$(mktemp -d "${TMPDIR:-/tmp}/mtag-pkg.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'kill $(jobs -p) 2>/dev/null; exit 143' TERM INT

# publish REPOSITORY VERSION: what apt wants of a directory of packages.
repository() { (cd "$tmp/disk/$1" && dpkg-scanpackages -m . >Packages 2>/dev/null); }
publish() {
	mkdir "$tmp/disk/$1"
	mv "$tmp"/deb/*_"$2"_*.deb "$tmp/disk/$1/" || return
	repository "$1"
	echo "$2" >"$tmp/disk/$1/version"
}

# The packages of this tree, and the same as its next version.
build_old() { PATH=/usr/lib/ccache:$PATH CCACHE_BASEDIR=$tmp make -s deb deb_dir="$tmp/deb"; }
build_new() {
	mv "$tmp/deb/mtag-$old" "$tmp/deb/mtag-$new"
	cd "$tmp/deb/mtag-$new" || return
	sed -i "s/${old//./\\.}/$new/" Makefile dkms.conf kmod/main.c
	sed -i "1s/$old/$new/" debian/changelog
	dpkg-buildpackage -us -uc -b || return
	cd "$OLDPWD" || return
}
quietly() { "$@" >"$tmp/log" 2>&1 || { tail -n 40 "$tmp/log"; return 1; }; }

# boot KERNEL INITRD STEPS: what the guest says is ours, its tests numbered on.
boot() {
	local line
	root_boot 5400 "$tmp" "$@" >"$tmp/out" 2>&1
	while read -r line; do
		case $line in
		ok\ *) ok 0 "$suite: ${line#* - }" ;;
		not\ ok\ *) ok 1 "$suite: ${line#* - }" ;;
		1..*) ;;
		*) echo "$line" ;;
		esac
	done <"$tmp/out"
	grep -q '^1\.\.' "$tmp/out" || { tail -n 40 "$tmp/console"; bail "$suite: the guest did not finish $3"; }
}

# from_image NAME PATH…: the first of the guest's files that is there, as a file of ours.
from_image() {
	local path to=$tmp/$1
	for path in "${@:2}"; do
		debugfs -R "dump $path $to" "$tmp/root.img" 2>/dev/null
		[ ! -s "$to" ] || break
	done
	echo "$to"
}

# disk: what the guest has besides its root.
disk() {
	rm -rf "$tmp/disk/kernel"
	cp -r "$root/debs" "$tmp/disk/kernel"
	repository kernel
	rm -f "$tmp/test.img"
	mke2fs -q -t ext4 -d "$tmp/disk" "$tmp/test.img" 512M
	cp --sparse=always "$root/root.img" "$tmp/root.img"
}

# links DIR: of its pages, the links to files that are not there.
links() {
	local page to
	[ -s "$1/design.md" ] || echo "no pages in $1"
	while IFS=: read -r page to; do
		to=${to#](}
		to=${to%%[)#]*}
		[ -z "$to" ] || [ -e "$(dirname "$page")/$to" ] || echo "${page##*/}: $to"
	done < <(grep -roP --include='*.md' '\]\((?!https?:)[^)]*\)' "$1")
}

# contents: the packages unpacked side by side. That DKMS builds such a source tree t_signing.sh sees.
contents() {
	local deb file flags dangling in=$tmp/root lib=usr/lib/x86_64-linux-gnu
	for deb in "$tmp"/disk/old/*.deb; do
		case $deb in
		*-dbgsym_*) ;;
		*) check "${deb##*/} can be unpacked" dpkg-deb -x "$deb" "$in" ;;
		esac
	done
	for file in bin/mtagctl share/bash-completion/completions/mtagctl share/zsh/vendor-completions/_mtagctl \
			share/fish/vendor_completions.d/mtagctl.fish share/man/man{8/mtagctl{,-show,-tree}.8,7/mtag.7}.gz \
			share/man/man{4/mtag.4,3/libmtag.3,3/MTAG_SCOPE.3}.gz lib/modules-load.d/mtag.conf \
			lib/udev/rules.d/60-mtag.rules include/mtag.h{,pp} \
			include/linux/mtag{,_unwind}.h; do
		check "there is /usr/$file" test -s "$in/usr/$file"
	done
	dangling=$(links "$in/usr/share/doc/mtag-tools")
	is "$dangling" "" "the pages of mtag-tools link to what is there"
	for file in lib/systemd/system/mtag-metrics.{service,timer}; do
		check "there is /$file, or it is in /usr" test -s "$in/$file" -o -s "$in/usr/$file"
	done
	for file in Kbuild dkms.conf kmod include/uapi; do
		check "mtag-dkms has $file as it is here" quietly diff -r "$file" "$in/usr/src/mtag-$old/$file"
	done
	flags=$(PKG_CONFIG_SYSROOT_DIR=$in PKG_CONFIG_LIBDIR=$in/$lib/pkgconfig pkg-config --cflags --libs libmtag)
	# shellcheck disable=SC2086
	check "a program is built with libmtag-dev" quietly cc -o "$tmp/ten" tests/pkg/ten.c $flags
	check "and starts with libmtag0" eval \
		'LD_LIBRARY_PATH=$in/$lib ldd "$tmp/ten" | grep -q "libmtag.so.0 => $in/$lib/"'
	is "$("$in/usr/bin/mtagctl" --version)" "mtagctl $old" "mtagctl says which version it is"
}

in_vm() {
	local second
	boot "$root/boot/vmlinuz" "$root/boot/initrd" before,source,install,second
	second=$(debugfs -R 'cat /var/log/mtag-test/second' "$tmp/root.img" 2>/dev/null)
	boot "$(from_image vmlinuz "/boot/vmlinuz-$second" "/usr/lib/modules/$second/vmlinuz")" \
		"$(from_image initrd "/boot/initrd.img-$second")" boot,upgrade,remove_in_use,purge
}

tests/lib/deps deb pkg || bail "what building packages needs is missing"
mkdir "$tmp/disk"
old=$(sed -n 's/^VERSION *:= *//p' Makefile)
new=$old.1
check "make deb builds the packages" quietly build_old || bail "there are no packages"
check "lintian is content with them" lintian --allow-root --fail-on error,warning --tag-display-limit 0 "$tmp"/deb/*.changes
mkdir "$tmp/disk/source"
tar -c -C "$tmp/deb/mtag-$old" --exclude ./build --exclude ./debian . | tar -x -C "$tmp/disk/source"
publish old "$old"
cp tests/kernel/lib.sh tests/pkg/*.c "$tmp/disk/"
cp tests/pkg/guest "$tmp/disk/run"

contents
suites=("$@")
[ $# != 0 ] || [ -z "${MTAG_LONG:-}" ] || mapfile -t suites < <(ls tests/pkg/roots)
if [ ${#suites[@]} != 0 ]; then
	check "make deb builds the next version, too" quietly build_new || bail "there are no newer packages"
	publish new "$new"
fi
for suite in "${suites[@]}"; do
	root_ensure "$suite" || bail "there is no $suite to install on"
	disk
	in_vm
done
done_testing
