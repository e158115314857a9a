#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# t_signing.sh [KERNEL]: the module, built and signed by dkms and by hand, on a machine with Secure Boot, before a
# key is enrolled and after. Firmware (OVMF, with Microsoft's keys), shim, GRUB and kernel are Debian's,
# as they are signed; in place of the person who agrees to the key in MokManager, mok.py writes what that
# does.
# Needs root, for a /var/lib/dkms of its own.
set -u
cd "$(dirname "$(realpath "$0")")/../.." || exit
. tests/kernel/lib.sh
# shellcheck source=tests/vm/offered.sh
. tests/vm/offered.sh
here=tests/pkg/secureboot
dir=$PWD/build/secureboot
signed=$dir/mtag.ko

# refused NAME FILE: the kernel does not load that module.
refused() {
	local said
	said=$(insmod "$2" 2>&1) && { unload; ok 1 "$1"; return; }
	[[ $said == *'rejected'* || $said == *'not permitted'* ]]
	ok $? "$1" || echo "#   $said"
}
# sees FILE STATUS CHECK DETAIL NAME: of that module doctor says this.
sees() {
	local line
	line=$(mtagctl -j doctor -m "$1" |
		jq -r --arg check "$3" '.[] | select(.check == $check) | "\(.status): \(.detail)"')
	[[ $line == "$2: "*"$4"* ]]
	ok $? "$5" || echo "#   $line"
}

# guest none | dkms | both: in the VM, where these keys are enrolled: dkms's, and that of whoever signs by hand.
guest() {
	local unsigned by_hand=/tmp/mtag.ko
	unsigned=build/$(uname -r)/mtag.ko
	mount -t securityfs none /sys/kernel/security
	is "$(cat /sys/kernel/security/lockdown)" 'none [integrity] confidentiality' \
		"$1: Secure Boot has locked the kernel down"
	refused "$1: an unsigned module is refused" "$unsigned"
	sees "$unsigned" fail 'module signature' 'not signed' "$1: doctor says that it is not signed"
	cp "$unsigned" "$by_hand"
	"/lib/modules/$(uname -r)/build/scripts/sign-file" sha256 "$dir/module.key" "$dir/module.der" "$by_hand"
	if [ "$1" = none ]; then
		unknown none "$signed" 'DKMS module signing key' "dkms's module"
	else
		sees "$signed" ok 'module signature' 'DKMS module signing key' \
			"$1: doctor says that dkms's module will be taken"
		sees "$signed" ok lockdown integrity "$1: lockdown is not in the way"
		check "$1: it is taken" insmod "$signed"
		mtagctl doctor >/dev/null
		is $? 0 "$1: doctor finds nothing in the way"
		$bin/tagger numbers >/tmp/numbers 2>&1
		is $? 0 "$1: under lockdown the numbers are exact" || sed 's/^/# /' /tmp/numbers
		is "$(health drift)" 0 "$1: debugfs can be read, and says that there is no drift"
		unload
	fi
	if [ "$1" = both ]; then
		check "$1: a module signed by hand is taken" insmod "$by_hand"
	else
		unknown "$1" "$by_hand" "$(modinfo -F signer "$by_hand")" "a module signed by hand"
	fi
	echo "# run $tap_run $tap_failed"
}
# unknown ENROLLED FILE SIGNER NAME: whose key nobody has enrolled.
unknown() {
	refused "$1: $4 is refused, whose key nobody has enrolled" "$2"
	sees "$2" fail 'module signature' "unknown key, of $3" "$1: doctor says whose key it is"
}

# fetch: Debian's packages, unpacked and not installed.
fetch() {
	local deb
	(cd "$dir" && apt-get -qq -o APT::Sandbox::User=root download \
		ovmf shim-signed grub-efi-amd64-signed dkms) || return
	for deb in "$dir"/*.deb; do dpkg-deb -x "$deb" "$dir/root" || return; done
	cp "$dir/root/usr/share/OVMF/OVMF_CODE_4M.secboot.fd" "$dir/code.fd" &&
		cp "$dir/root/usr/share/OVMF/OVMF_VARS_4M.ms.fd" "$dir/vars.fd" &&
		cp "$dir/root/usr/lib/shim/shimx64.efi.signed" "$dir/shimx64.efi" &&
		cp "$dir/root/usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed" "$dir/grubx64.efi"
}

# dkms_build RELEASE MODULES: as on a machine with that kernel, whose /lib/modules/RELEASE is MODULES.
dkms_build() {
	local version
	version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
	mkdir -p /lib/modules "$dir/src/mtag-$version" &&
		cp -r Kbuild dkms.conf kmod include "$dir/src/mtag-$version/" || return
	# Without debug information, which nobody reads here.
	PATH=/usr/lib/ccache:$PATH KCFLAGS=-g0 unshare -m bash -ec '
		mount -t tmpfs none /var/lib
		mount -t tmpfs none /lib/modules
		mkdir /var/lib/dkms "/lib/modules/$1"
		mount --bind -o ro "$2" "/lib/modules/$1"
		"$3/root/usr/sbin/dkms" build -m mtag -v "$4" -k "$1" --sourcetree "$3/src"
		cp "/var/lib/dkms/mtag/$4/$1/x86_64/module/"mtag.ko* /var/lib/dkms/mok.pub "$3"' \
		- "$1" "$2" "$dir" "$version"
}

# boot none | dkms | both: the guest's tests, numbered on.
boot() {
	local said
	MTAG_TAP="$tap_run $tap_failed" MTAG_FIRMWARE=$dir MTAG_VM_ACCEL=${MTAG_VM_ACCEL:-tcg} MTAG_VM_THREAD=single \
		PATH=$PWD/$here:$PATH tests/vm/run --kernel "$kernel" --no-module --timeout 600 \
		-- "$0" guest "$1" 2>&1 | tee "$dir/out"
	said=$(sed -n 's/^# run //p' "$dir/out")
	[ -n "$said" ] || bail "the guest did not finish"
	read -r tap_run tap_failed <<<"$said"
}

if [ "${1:-}" = guest ]; then
	read -r tap_run tap_failed <<<"$MTAG_TAP"
	guest "$2"
	exit
fi
kernel=${1:-6.1}
kernel_offered "$kernel" || skip_all "$no_longer"
modules=$(realpath "${XDG_CACHE_HOME:-$HOME/.cache}/mtag/kernels/$kernel")/lib/modules
release=$(basename "$modules"/*)
rm -rf "$dir"
mkdir -p "$dir"
check "Debian's signed boot programs can be had" fetch || bail "no firmware"
dkms_build "$release" "$modules/$release" >"$dir/dkms" 2>&1
ok $? "dkms builds the module" || { sed 's/^/# /' "$dir/dkms"; bail "no module"; }
[ ! -f "$signed.xz" ] || xz -d "$signed.xz"
is "$(modinfo -F signer "$signed")" 'DKMS module signing key' "and signs it with a key that it makes"
# Another key, as docs/signing.md has it made.
eval "$(sed -n '/^openssl req/,/^```/{/^```/!p}' docs/signing.md)" 2>/dev/null
mv module.key module.der "$dir"
# A machine with such firmware takes a minute to boot: one does, if what is refused is so beside what is taken.
if [ -n "${MTAG_LONG:-}" ]; then
	boot none
	check "the keys are enrolled" $here/mok.py "$dir/vars.fd" "$dir/mok.pub" "$dir/module.der"
	boot both
else
	check "dkms's key is enrolled" $here/mok.py "$dir/vars.fd" "$dir/mok.pub"
	boot dkms
fi
rm -rf "$dir"
done_testing
