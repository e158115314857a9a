#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A page event whose caller the tables do not name is counted, and the process is counted anew before the next answer.
# No kernel that mtag knows has such a caller, so the module is built without the names of those that copy on write,
# of those that unmap for reclaim, and of MADV_FREE: the first add and remove pages, the second remove them, the third
# frees swap.
set -u
cd "$(dirname "$(realpath "$0")")/../.." || exit
. tests/kernel/lib.sh
# shellcheck source=tests/vm/offered.sh
. tests/vm/offered.sh

# resident PID: what mtag and what the kernel says, in bytes
resident() {
	build/bin/mtagctl -j show "$1" | jq '[.[] | .rss_bytes, .swap_bytes] | add'
	awk '$1 == "Rss:" || $1 == "Swap:" { sum += $2 } END { print sum * 1024 }' "/proc/$1/smaps"
}

# copies: the process forks, and each side writes to what both have; then it stops.
copies() { exec bash -c 'all=$(seq 5000); for i in 1 2 3; do (all=${all//1/x}; :); done; all=${all//2/y}; kill -STOP $$'; }
# reclaims: the process is paged out and comes back; then it stops.
reclaims() {
	exec -a "$0" python3 -c '
import mmap, os, signal
area = mmap.mmap(-1, 4 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
area.write(b"x" * (4 << 20))
area.madvise(21)	# MADV_PAGEOUT
assert area[0] == area[2 << 20]
os.kill(os.getpid(), signal.SIGSTOP)' reclaims
}

# frees: the process is paged out, and gives half of it up; then it stops.
frees() {
	exec -a "$0" python3 -c '
import mmap, os, signal
area = mmap.mmap(-1, 4 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
area.write(b"x" * (4 << 20))
area.madvise(21)
area.madvise(8, 0, 2 << 20)	# MADV_FREE
os.kill(os.getpid(), signal.SIGSTOP)' frees
}

# guest: in the VM
guest() {
	local pid foreign repairs out=/tmp/callers.out
	swap_on_zram 64M || bail "no swap on zram"
	insmod "$1" || bail "the module does not load"
	for what in copies reclaims frees; do
		foreign=$(health foreign) repairs=$(health repairs)
		build/bin/mtagctl run -t "$what" -- "$0" "$what" &
		pid=$!
		until_true 20 grep -q '^State:.T ' "/proc/$pid/status"
		ok $? "$what: the process stops"
		resident "$pid" >"$out"
		is "$(sed -n 1p "$out")" "$(sed -n 2p "$out")" "$what: the process is read as it is"
		[ "$(health foreign)" -gt "$foreign" ]
		ok $? "$what: the unknown caller is counted"
		[ "$(health repairs)" -gt "$repairs" ]
		ok $? "$what: the process was counted anew"
		kill -KILL "$pid"
		{ wait; } 2>/dev/null
	done
	is "$(health drift)" 0 "no counter of those that ended is off"
}

case ${1:-} in
guest) guest "$2"; done_testing; exit ;;
copies | reclaims | frees) "$1"; exit ;;
esac
kernel_offered 6.1 || skip_all "$no_longer"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/mtag-callers.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
headers=$(ls -d "${XDG_CACHE_HOME:-$HOME/.cache}"/mtag/kernels/6.1/lib/modules/*/build)
release=$(basename "$(dirname "$headers")")
# With the objects of the module as it is: only what the tables are part of is compiled again.
cp -rpL "build/$release"/{Kbuild,kmod,include} "$tmp"
find "$tmp" -name '.*.cmd' -exec sed -i "s|$PWD/build/$release/|$tmp/|g" {} +
sed -i '/"wp_page_copy"/d; /"try_to_unmap_one"/d; /CALLER("madvise_free_pte_range"/d' "$tmp"/kmod/compat/functions-*.h
make -s -j2 -C "$headers" M="$tmp" CONFIG_DEBUG_INFO_BTF_MODULES= KCFLAGS=-g0 modules >"$tmp/log" 2>&1 ||
	{ sed 's/^/# /' "$tmp/log"; echo "Bail out! the module does not build"; exit 1; }
MTAG_VM_OUT=$tmp tests/vm/run --fast --no-module --cpus 1 --kernel 6.1 --timeout 300 -- "$0" guest "$tmp/mtag.ko" </dev/null
