#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# t_install.sh [SUITE…]: the packages, lintian's opinion of them, and what becomes of them on a Debian of
# its own in a VM: installed by apt, used by an unprivileged user, removed and purged. With suites
# named, or MTAG_LONG set (all of roots/), also: make dkms, a second kernel, an upgrade under a process
# that is tracked. Needs root, or what mmdebstrap needs instead.
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
build_old() { make -s deb deb_dir="$tmp/deb"; }
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
	root_boot 3000 "$tmp" "$@" >"$tmp/out" 2>&1
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

short() {
	boot "$root/boot/vmlinuz" "$root/boot/initrd" before,install,remove,purge
}

long() {
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

suites=("$@") form=long
if [ $# = 0 ] && [ -n "${MTAG_LONG:-}" ]; then
	mapfile -t suites < <(ls tests/pkg/roots)
elif [ $# = 0 ]; then
	suites=(bookworm) form=short
fi
if [ $form = long ]; then
	check "so does its next version" quietly build_new || bail "there are no newer packages"
	publish new "$new"
fi
for suite in "${suites[@]}"; do
	root_ensure "$suite" || bail "there is no $suite to install on"
	disk
	$form
done
done_testing
