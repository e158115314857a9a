#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# t_upgrade.sh [KERNEL…]: a machine with Debian 13 and mtag-dkms that gets one kernel of it after the other, the oldest
# first (those without a flavour, or those named): as the headers of each come DKMS builds the module, and the kernel
# loads that in a VM. From Debian 12's kernel to the next t_install.sh goes.
# Needs root. Only with MTAG_LONG or kernels named: that DKMS builds at all t_signing.sh sees.
set -u
cd "$(dirname "$(realpath "$0")")/../.." || exit
. tests/kernel/lib.sh
# shellcheck source=tests/vm/offered.sh
. tests/vm/offered.sh
# shellcheck source=tests/pkg/root.sh
. tests/pkg/root.sh
# shellcheck source=tests/vm/root.sh
. "$vm/root.sh"

# kernels: those of Debian 13, the oldest first.
kernels() { grep -lE '^debian_kernel trixie[^ ]* [0-9.]+ amd64$' tests/vm/kernels/* | sed 's|.*/||' | sort -V; }

# in_root COMMAND…: on that machine, which is all in memory.
in_root() { tests/vm/in-root "$tmp/cache/roots/debian" env DEBIAN_FRONTEND=noninteractive "$@" >"$tmp/log" 2>&1 </dev/null; }
# install_in_root DIR: all packages there.
install_in_root() { in_root apt-get -q -y --no-install-recommends install "$1"/*.deb; }
quietly() { : >"$tmp/log"; "$@" || { tail -n 40 "$tmp/log"; return 1; }; }

# machine: Debian 13 with DKMS, and what the headers of backported kernels want.
machine() {
	local lower dir=$tmp/cache/roots
	lower=$(debian_root trixie) || return
	mkdir -p "$dir"/{upper,work,debian}
	mount -t overlay -o "lowerdir=$lower,upperdir=$dir/upper,workdir=$dir/work" none "$dir/debian" || return
	echo "deb $(debian_mirror) trixie-backports main" >"$dir/debian/etc/apt/sources.list.d/backports.list"
	in_root apt-get -q update &&
		in_root apt-get -q -y --no-install-recommends install dkms linux-base/trixie-backports
}

# headers KERNEL: their packages, below $tmp/cache.
headers() {
	local dir=$tmp/cache/$1 packages
	# shellcheck disable=SC1090
	. "tests/vm/kernels/$1"
	mkdir "$dir"
	apt_suite "$debian_suite"
	packages=$(deb_packages "${debian_package[@]}" | grep -E '(^|/)linux-(headers|kbuild|base)-')
	# shellcheck disable=SC2046
	pool_get "$dir" $(sed -n 's|^pool/||p' <<<"$packages") || return
	packages=$(grep -v ^pool/ <<<"$packages")
	# shellcheck disable=SC2086
	[ -z "$packages" ] || apt_download "$dir" $packages
}

# upgrade KERNEL
upgrade() {
	local release ko
	(quietly headers "$1") >"$tmp/said" 2>&1
	ok $? "$1: there are its headers" || { sed 's/^/# /' "$tmp/said"; return; }
	check "$1: they are installed" quietly install_in_root "$tmp/cache/$1"
	release=$(sed 's/.*linux-headers-\(.*64\)_.*/\1/' < <(ls "$tmp/cache/$1"/linux-headers-*64_*.deb))
	in_root dkms status -m mtag -k "$release"
	grep -q ': installed' "$tmp/log"
	ok $? "$1: with them DKMS has built and installed the module" || { sed 's/^/# /' "$tmp/log"; return; }
	mkdir -p build/upgrade
	cp "$tmp/cache/roots/debian/lib/modules/$release/updates/dkms/"mtag.ko* build/upgrade/
	ko=$(ls build/upgrade/mtag.ko*)
	[ "$ko" = "${ko%.xz}" ] || xz -d "$ko"
	check "$1: the kernel loads it, and it counts" tests/vm/run --kernel "$1" --no-module --fast --timeout 200 -- \
		sh -c 'insmod build/upgrade/mtag.ko && build/bin/mtagctl run true && build/bin/mtagctl doctor'
	rm -r build/upgrade
}

[ -n "${MTAG_LONG:-}$*" ] || skip_all "only with --long: it has the module built for each kernel of Debian 13"
# All mounts are gone with it, however this ends.
[ -n "${MTAG_UNSHARED:-}" ] || MTAG_UNSHARED=1 exec unshare -m "$0" "$@"
tests/lib/deps deb pkg || bail "what building packages needs is missing"
[ $# != 0 ] || { mapfile -t named < <(kernels); set -- "${named[@]}"; }
tmp=$(mktemp -d "${TMPDIR:-/tmp}/mtag-upgrade.XXXXXX")
trap 'umount -l "$tmp/cache"; rm -rf "$tmp"' EXIT
mkdir "$tmp/cache"
mount -t tmpfs none "$tmp/cache" || bail "no memory for the machine"
check "Debian 13 with DKMS" quietly machine || bail "there is no machine"
make -s deb deb_dir="$tmp/cache/deb" >"$tmp/log" 2>&1 || bail "make deb fails: $(tail -n 5 "$tmp/log")"
check "mtag-dkms is installed, while there are no headers" quietly in_root dpkg -i "$tmp"/cache/deb/mtag-dkms_*.deb
for kernel; do upgrade "$kernel"; done
in_root dkms status -m mtag
is "$(grep -c ': installed' "$tmp/log")" $# "in the end there is a module for each of them"
done_testing
