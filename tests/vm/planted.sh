#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# That the kernels which look for bugs find them: a throw-away build of the module with one of each kind
# (debug/planted/planted.c) fails tests/vm/run, and without them it does not. Takes the kernels of our
# own, so it is not for every day.
cd "$(dirname "$(realpath "$0")")/../.." || exit
if [ -z "${MTAG_LONG:-}" ]; then
	echo "1..0 # SKIP only with --long"
	exit
fi
# shellcheck source=tests/vm/offered.sh
. tests/vm/offered.sh
: "${HOME:=$(getent passwd "$(id -u)" | cut -d: -f6)}"
cache=${XDG_CACHE_HOME:-$HOME/.cache}/mtag
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
n=0

# check NAME COMMAND…
check() {
	local name=$1
	shift
	n=$((n + 1))
	if "$@"; then echo "ok $n - $name"; else echo "not ok $n - $name"; failed=1; fi
}

# build KERNEL: the module with the bugs, into build/planted/KERNEL. One object of the real module is
# built otherwise: its table of hooks has the planted one.
build() {
	local dir=$PWD/build/planted/$1 headers
	headers=$(realpath "$cache/kernels/$1"/lib/modules/*/build)
	rm -rf "$dir"
	mkdir -p "$dir"
	cp -rs "$PWD/kmod" "$PWD/include" "$dir/"
	ln -s "$PWD/tests/vm/debug/planted/planted.c" "$dir/kmod/"
	{
		cat Kbuild
		echo 'mtag-y += kmod/planted.o'
		echo 'CFLAGS_kmod/compat/symbols.o += -Dmtag_rmap_new_anon=planted_new_anon'
	} >"$dir/Kbuild"
	make -s -j"$(nproc)" -C "$headers" "M=$dir" modules >"$tmp/make" 2>&1 || { cat "$tmp/make"; return 1; }
}

# plant KERNEL [BUG]: its output and exit status are left in $tmp/out and $tmp/status.
plant() {
	tests/vm/run --fast --no-module --kernel "$1" --timeout 900 -- \
		tests/vm/debug/planted/plant "$PWD/build/planted/$1/mtag.ko" ${2:+"$2"} >"$tmp/out" 2>&1 </dev/null
	echo $? >"$tmp/status"
}

clean() {
	plant "$1"
	[ "$(cat "$tmp/status")" = 0 ] || { sed 's/^/# /' "$tmp/out"; false; }
}

# caught KERNEL BUG REPORT TRACE: the run fails with that report, which has the module in its trace. Another
# may come first: more than one checker may see a bug.
caught() {
	plant "$1" "$2"
	[ "$(cat "$tmp/status")" = 125 ] && grep -q "the kernel's log has a failure:" "$tmp/out" &&
		grep -q "$3" "$tmp/out" && grep -q "$4.*\[mtag\]" "$tmp/out" || { sed 's/^/# /' "$tmp/out"; false; }
}

for kernel in 6.1-debug 6.1-kcsan; do
	kernel_offered "$kernel" --no-module || skip_all "$no_longer"
done
for kernel in 6.1-debug 6.1-kcsan; do
	build "$kernel" || { echo "Bail out! the module with planted bugs does not build for $kernel"; exit 1; }
	check "$kernel: a run without a bug passes" clean "$kernel"
done
check "KASAN catches a use after free" caught 6.1-debug use_after_free 'BUG: KASAN: use-after-free' mtag_tree_get
check "lockdep catches a lock inversion" caught 6.1-debug lock_inversion \
	'WARNING: possible circular locking dependency detected' lock_inversion
check "kmemleak catches a leak" caught 6.1-debug leak 'suspected memory leaks' mtag_tree_create
check "a hook that sleeps is caught" caught 6.1-debug sleeping_hook \
	'BUG: sleeping function called from invalid context' planted_new_anon
check "KCSAN catches a data race" caught 6.1-kcsan data_race 'BUG: KCSAN: data-race' race
echo "1..$n"
exit "${failed:-0}"
