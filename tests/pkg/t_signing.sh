#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# t_signing.sh [KERNEL]: the module, built and signed by dkms and by hand, on a machine with Secure Boot that knows both
# keys, and signed by a key that it does not know, as any is before it is enrolled. Firmware (OVMF, with Microsoft's
# keys), shim, GRUB and kernel are Debian's, as they are signed; in place of the person who agrees to the keys in
# MokManager, mok.py writes what that does.
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

# guest: in the VM.
guest() {
	local unsigned sign by_hand=/tmp/mtag.ko by_stranger=/tmp/stranger.ko
	unsigned=build/$(uname -r)/mtag.ko
	sign=/lib/modules/$(uname -r)/build/scripts/sign-file
	cp "$unsigned" "$by_hand"
	"$sign" sha256 "$dir/module.key" "$dir/module.der" "$by_hand"
	cp "$unsigned" "$by_stranger"
	"$sign" sha256 "$dir/stranger.key" "$dir/stranger.der" "$by_stranger"
	mount -t securityfs none /sys/kernel/security
	is "$(cat /sys/kernel/security/lockdown)" 'none [integrity] confidentiality' "Secure Boot has locked the kernel down"
	refused "an unsigned module is refused" "$unsigned"
	sees "$unsigned" fail 'module signature' 'not signed' "doctor says that it is not signed"
	sees "$signed" ok 'module signature' 'DKMS module signing key' "doctor says that dkms's module will be taken"
	sees "$signed" ok lockdown integrity "lockdown is not in the way"
	check "it is taken" insmod "$signed"
	mtagctl doctor >/dev/null
	is $? 0 "doctor finds nothing in the way"
	$bin/tagger numbers >/tmp/numbers 2>&1
	is $? 0 "under lockdown the numbers are exact" || sed 's/^/# /' /tmp/numbers
	is "$(health drift)" 0 "debugfs can be read, and says that there is no drift"
	unload
	check "a module signed by hand is taken" insmod "$by_hand"
	unload
	refused "one is refused whose key nobody has enrolled" "$by_stranger"
	sees "$by_stranger" fail 'module signature' 'unknown key, of A stranger' "doctor says whose key it is"
	sees "$signed" warn 'module signature' 'perhaps this one' "for all that the kernel's log says it was another"
	check "that one is taken" insmod "$signed"
	unload
	sees "$signed" ok 'module signature' 'DKMS module signing key' "so doctor knows that it was not this one"
	echo "# run $tap_run $tap_failed"
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

# boot: the guest's tests, numbered on.
boot() {
	local said
	MTAG_TAP="$tap_run $tap_failed" MTAG_FIRMWARE=$dir MTAG_VM_ACCEL=${MTAG_VM_ACCEL:-tcg} MTAG_VM_THREAD=single \
		PATH=$PWD/$here:$PATH tests/vm/run --kernel "$kernel" --no-module --timeout 600 \
		-- "$0" guest 2>&1 | tee "$dir/out"
	said=$(sed -n 's/^# run //p' "$dir/out")
	[ -n "$said" ] || bail "the guest did not finish"
	read -r tap_run tap_failed <<<"$said"
}

if [ "${1:-}" = guest ]; then
	read -r tap_run tap_failed <<<"$MTAG_TAP"
	guest
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
check "both keys are enrolled" $here/mok.py "$dir/vars.fd" "$dir/mok.pub" "$dir/module.der"
openssl req -new -x509 -nodes -days 2 -subj '/CN=A stranger' -newkey rsa:2048 -keyout "$dir/stranger.key" \
	-outform DER -out "$dir/stranger.der" 2>/dev/null
boot
rm -rf "$dir"
done_testing
