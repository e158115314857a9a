# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced: a Debian as it is on an administrator's disk, in a VM.
#
# root_ensure NAME   makes that of roots/NAME; sets $root, a directory with
#                      root.img  an ext4 of it, with its kernel, the headers and dkms
#                      boot/     its kernel and initramfs
#                      debs/     the packages of a second kernel
# root_boot SECONDS DIR KERNEL INITRD STEPS
#                    boots DIR/root.img, which is written to. The guest runs `run` of DIR/test.img, whose
#                    output is ours, and powers off; STEPS is for that, on its command line. The
#                    console is DIR/console.

pkg=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
vm=$(realpath "$pkg/../vm")
say() { echo "# $*"; }
die() { say "$*"; exit 1; }
# shellcheck source=tests/vm/kernel.sh
. "$vm/kernel.sh"
# shellcheck source=tests/vm/qemu.sh
. "$vm/qemu.sh"

root_ensure() {
	local name=$1
	mkdir -p "$cache/pkg"
	exec {lock}>"$cache/pkg/.lock-$name"
	flock "$lock"
	root=$cache/pkg/$name-$(cat "$pkg/root-make" "$pkg/roots/$name" | sha256sum | cut -c1-12)
	if [ ! -d "$root" ]; then
		echo "# making $root"
		rm -rf "$cache/pkg/$name-"*
		"$pkg/root-make" make "$pkg/roots/$name" "$root.new" >"$cache/pkg/$name.log" 2>&1 {lock}>&- ||
			{ tail -n 20 "$cache/pkg/$name.log"; return 1; }
		mv "$root.new" "$root"
	fi
	exec {lock}>&-
}

root_boot() {
	local seconds=$1 dir=$2 kernel=$3 initrd=$4 steps=$5 accel=tcg,thread=${MTAG_VM_THREAD:-multi}
	# What tests/vm/run has found out.
	[ "$(cat "$cache"/kvm-* 2>/dev/null)" != yes ] || accel=kvm
	# Without cx16, as TCG now and then spoils the flags in it, which kernels die of as they boot.
	: >"$dir/output"
	qemu_ensure
	timeout -k 5 "$seconds" "${qemu_program[@]}" -nodefaults -no-user-config -no-reboot -display none \
		-monitor none -accel "$accel" -cpu max,-cx16 -smp 2 -m 1500M -kernel "$kernel" -initrd "$initrd" \
		-append "root=/dev/vda rw console=ttyS0 loglevel=5 panic=-1 oops=panic panic_on_warn=1 mtag.steps=$steps" \
		-drive "file=$dir/root.img,format=raw,if=virtio,cache=unsafe" \
		-drive "file=$dir/test.img,format=raw,if=virtio,cache=unsafe,readonly=on" \
		-serial "file:$dir/console" -serial "file:$dir/output" </dev/null
	sed 's/\r$//' "$dir/output"
}
