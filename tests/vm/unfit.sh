#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The module refuses to load on a kernel that it cannot count on, and says by name why. Such kernels are copies of 6.1
# in which the calls of one function in another are replaced by something harmless, and with MTAG_LONG set also
# 6.1-inlined, whose compiler has inlined a hooked function.
set -u
cd "$(dirname "$(realpath "$0")")/../.." || exit
. tests/kernel/lib.sh
# shellcheck source=tests/vm/offered.sh
. tests/vm/offered.sh

# guest DIR: in the VM. What it finds is in DIR.
guest() {
	swap_on_zram 64M || echo "no swap on zram"
	# Addresses of the kernel's own symbols. Without KASLR they are those of the image.
	[ -e "$1/symbols" ] || grep -v '\[' /proc/kallsyms >"$1/symbols"
	dmesg -C
	insmod "build/$(uname -r)/mtag.ko"
	echo $? >"$1/insmod"
	dmesg -t | sed -n 's/^mtag: //p' >"$1/said"
	# Processes come and go, and no hook is left.
	bash -c 'for i in {1..20}; do /bin/true || exit; done' || echo "processes do not run"
	[ "$(cat "$1/insmod")" = 0 ] || cat /sys/kernel/tracing/enabled_functions
	[ "$(cat "$1/insmod")" = 0 ] || grep '^mtag ' /proc/modules
}

# boot KERNEL [IMAGE]: leaves the guest's exit status in $status and what is wrong in $tmp/out. The guest has one
# processor: a page that waits in the list of another is not paged out, and that way not tried.
boot() {
	rm -f "$tmp"/{insmod,said}
	MTAG_VM_OUT=$tmp MTAG_VM_IMAGE=${2:-} tests/vm/run --fast --no-module --cpus 1 --kernel "$1" --timeout 300 -- \
		"$0" guest "$tmp" >"$tmp/out" 2>&1 </dev/null
	status=$?
}

# patch CALLER CALLEE CODE: makes $tmp/image, in which CALLER has CODE in place of each call of CALLEE.
patch() {
	python3 - "$image" "$tmp/image" "$tmp/symbols" "$@" <<-'END'
		import struct, sys

		image, patched, symbols, caller, callee, code = sys.argv[1:]
		code = bytes.fromhex(code)
		lines = [line.split() for line in open(symbols)]
		addresses = {name: int(address, 16) for address, _, name in lines}
		start = addresses[caller]
		end = min(int(line[0], 16) for line in lines if int(line[0], 16) > start)

		elf = bytearray(open(image, "rb").read())
		headers, number = struct.unpack_from("<Q", elf, 32)[0], struct.unpack_from("<H", elf, 56)[0]
		for i in range(number):
		    kind, _, offset, address, _, size = struct.unpack_from("<IIQQQQ", elf, headers + 56 * i)
		    if kind == 1 and address <= start < address + size:
		        at = offset - address

		calls = 0
		for ip in range(start, end - 4):
		    opcode, distance = struct.unpack_from("<Bi", elf, at + ip)
		    if opcode == 0xe8 and ip + 5 + distance == addresses[callee]:
		        elf[at + ip:at + ip + 5] = code
		        calls += 1
		open(patched, "wb").write(elf)
		sys.exit(None if calls else f"{caller} does not call {callee}")
	END
}

# fit KERNEL NAME: there the module loads.
fit() {
	boot "$1"
	[ "$status" = 0 ] && [ "$(cat "$tmp/insmod")" = 0 ] && [ ! -s "$tmp/out" ]
	ok $? "$2" || sed 's/^/# /' "$tmp/out" "$tmp/said"
}

# refused MESSAGE NAME KERNEL [IMAGE]: there it does not, for that reason, and nothing else happens.
refused() {
	boot "$3" "${4:-}"
	[ -s "$tmp/insmod" ] && [ "$(cat "$tmp/insmod")" != 0 ] && grep -qxF -e "$1" "$tmp/said"
	ok $? "$2" || sed 's/^/# /' "$tmp/said"
	[ "$status" = 0 ] && [ "$(grep -cv '^insmod: ERROR' "$tmp/out")" = 0 ]
	ok $? "$2: the kernel goes on without a warning, and without a hook" || sed 's/^/# /' "$tmp/out"
}

# changed CALLER CALLEE CODE MESSAGE NAME: refused, on a kernel that is patched so.
changed() {
	local said
	said=$(patch "$1" "$2" "$3" 2>&1) || { ok 1 "$5" || echo "#   $said"; return; }
	refused "$4" "$5" 6.1 "$tmp/image"
}

if [ "${1:-}" = guest ]; then
	guest "$2"
	exit 0
fi
tmp=$(mktemp -d "${TMPDIR:-/tmp}/mtag-unfit.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
kernel_offered 6.1 || skip_all "$no_longer"
image=$(realpath "${XDG_CACHE_HOME:-$HOME/.cache}/mtag/kernels/6.1/vmlinux")

fit 6.1 "the module loads on an unchanged kernel"
! grep -q 'its hooks are not tried' "$tmp/said"
ok $? "where it tries every way" || sed 's/^/# /' "$tmp/said"
# nop
changed begin_new_exec __set_task_comm 0f1f440000 \
	"this kernel's compiler has inlined __set_task_comm into begin_new_exec, where it cannot be hooked" \
	"it is refused where a caller in the function's file does not call it"
# nop: owners would not follow their pages.
changed migrate_folio_extra folio_migrate_flags 0f1f440000 \
	"this kernel's compiler has inlined folio_migrate_flags into migrate_folio_extra, where it cannot be hooked" \
	"so it is for migration, which no process tries at load"
# nop: perf is not told.
changed mmap_region perf_event_mmap 0f1f440000 \
	"self-test: mmap does not come through the hook on perf_event_mmap" \
	"it is refused where a way does not come through its hook"
# mov $1,%eax: what was in swap stays there, which the caller takes for done.
changed unmap_page_range free_swap_and_cache b801000000 \
	"self-test: unmapping swap: 40 swapped pages are counted, and there are 32" \
	"it is refused where pages go unseen"
if [ -n "${MTAG_LONG:-}" ]; then
	if kernel_offered 6.1-inlined; then
		refused "this kernel's compiler has inlined __set_task_comm into begin_new_exec, where it cannot be hooked" \
			"it is refused where the compiler was made to inline a hooked function" 6.1-inlined
	else
		skip "$no_longer"
	fi
fi
done_testing
