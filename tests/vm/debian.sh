# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by tests/vm/kernels/*: kernels as Debian packages them.

# debian_kernel SUITE VERSION FLAVOUR: that kernel of that suite. What comes with the headers of a kernel of Debian 13
# wants that release's libc, and so its root. The cloud flavour has no 9p.
debian_kernel() {
	debian_suite=$1 debian_package=("$2" "$3")
	kernel_inputs() { echo "$vm/debian.sh"; }
	kernel_key()    { apt_suite "$debian_suite"; deb_packages "${debian_package[@]}"; }
	kernel_fetch()  { apt_suite "$debian_suite"; deb_fetch "$1" "${debian_package[@]}"; }
	[[ $3 != cloud-* ]] || kernel_share=virtiofs
	[[ $1 != trixie* ]] || kernel_root() { debian_root trixie; }
}
