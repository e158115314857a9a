# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by tests/vm/run: which QEMU emulates the guests.
#
# The TCG of version 10 runs them in two thirds of the time that Debian 12's version 7.2 takes (five of the
# kernel tests: 48 s, not 68). Where this machine's is older the one of its release's backports is unpacked
# into the cache, and this machine's packages stay as they are: its libraries serve both.

qemu_wanted=10

# qemu_ensure: sets qemu_program.
qemu_ensure() {
	local own version dir=$cache/qemu lock
	own=$(command -v qemu-system-x86_64)
	qemu_program=("$own")
	# Whoever has put one of his own in PATH wants that.
	[ "$own" = /usr/bin/qemu-system-x86_64 ] || return 0
	version=$("$own" --version | sed -n 's/^QEMU emulator version \([0-9]*\).*/\1/p')
	[ "$version" -lt $qemu_wanted ] || return 0
	exec {lock}>"$cache/.lock-qemu"
	flock "$lock"
	# That there was none is believed for a day.
	[ -x "$dir/usr/bin/qemu-system-x86_64" ] || [ -n "$(find "$dir" -maxdepth 0 -mtime -1 2>/dev/null)" ] ||
		qemu_fetch "$dir" || :
	exec {lock}>&-
	if [ ! -x "$dir/usr/bin/qemu-system-x86_64" ]; then
		say "QEMU $version is slow, and the backports gave none that runs here (looked $(date -r "$dir" "+%F %R"))"
		return 0
	fi
	qemu_program=("$dir/usr/bin/qemu-system-x86_64" -L "$dir/usr/share/qemu" -L "$dir/usr/share/seabios")
}

# qemu_fetch DIR: with nothing but an empty usr in it where there is none that runs here.
qemu_fetch() {
	local dir=$1 new=$1.new apt_opts=() deb
	rm -rf "$new" "$dir"
	mkdir -p "$new/debs" "$new/usr"
	say "preparing a newer QEMU in $dir"
	# In a shell of its own, which may end for want of such a suite.
	if ! (
		apt_suite "$(. /etc/os-release && echo "$VERSION_CODENAME")-backports" &&
			cd "$new/debs" && apt_get download qemu-system-x86 qemu-system-common qemu-system-data seabios &&
			for deb in *.deb; do dpkg-deb --extract "$deb" .. || exit; done
	) >&2 || ! "$new/usr/bin/qemu-system-x86_64" --version >/dev/null; then
		rm -rf "$new/usr"
		mkdir "$new/usr"
	fi
	rm -rf "$new/debs" "$new"/usr/share/{doc,man,icons}
	mv "$new" "$dir"
}
