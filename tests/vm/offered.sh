# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by tests that start tests/vm/run themselves, in the repository's directory.

# kernel_offered KERNEL [OPTION…]: prepares it, and builds the module for it unless an option says otherwise. False
# where Debian's archive no longer offers it, which $no_longer then says. Any other failure ends the test.
# shellcheck disable=SC2034
kernel_offered() {
	local said status=0
	no_longer=''
	said=$(tests/vm/run --kernel "$1" --build-only "${@:2}" 2>&1) || status=$?
	case $status in
	0) return 0 ;;
	123) no_longer="$1: $(grep -o "Debian's archive .*" <<<"$said")"; return 1 ;;
	esac
	sed 's/^/# /' <<<"$said"
	echo "Bail out! $1 cannot be prepared"
	exit 1
}

# skip_all WHY
skip_all() {
	echo "1..0 # SKIP $1"
	exit
}
