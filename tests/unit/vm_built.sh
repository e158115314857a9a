#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What was built in one checkout spares another what is the same, and nothing else (tests/vm/built.sh): a module of two
# files, by the build of a kernel that names its files by their whole paths (6.1), and of one that does not (7.3).
set -u
cd "$(dirname "$(realpath "$0")")/../.." || exit
. tests/kernel/lib.sh
# shellcheck source=tests/vm/offered.sh
. tests/vm/offered.sh
tmp=$(mktemp -d "${TMPDIR:-/tmp}/mtag-built.XXXXXX")
trap 'rm -rf "$tmp"' EXIT

# checkout NAME VALUE: two files, of which one has VALUE from a header.
checkout() {
	mkdir -p "$tmp/$1"/{kmod,include,tests/kernel/{failnth,rival}}
	cp Makefile "$tmp/$1/"
	cp -r tests/vm "$tmp/$1/tests/"
	echo "obj-m := mtag.o"$'\n'"mtag-y := kmod/one.o kmod/two.o" >"$tmp/$1/Kbuild"
	echo "#define VALUE \"value $2\"" >"$tmp/$1/kmod/value.h"
	printf '%s\n' '#include <linux/module.h>' '#include "value.h"' 'const char value[] = VALUE;' 'MODULE_LICENSE("GPL");' \
		>"$tmp/$1/kmod/one.c"
	echo '#include <linux/module.h>' >"$tmp/$1/kmod/two.c"
}

# build NAME KERNEL: as tests/vm/run does; prints what is compiled.
build() (
	# Read by the functions of built.sh.
	# shellcheck disable=SC2034
	repo=$tmp/$1 vm=$PWD/tests/vm cache=${XDG_CACHE_HOME:-$HOME/.cache}/mtag tmp=$tmp/work KCFLAGS=-g0
	kernel_dir=$(realpath "$cache/kernels/$2")
	kernel_release=$(cat "$kernel_dir/release")
	# shellcheck disable=SC2034
	kernel_root_dir=$(readlink "$kernel_dir/root")
	# shellcheck source=tests/vm/built.sh
	. tests/vm/built.sh
	built_open
	built=$tmp/${built##*/}
	mkdir -p "$tmp"
	built_take
	[ -z "$built_whole" ] || echo whole
	make -C "$repo" module "KERNEL=$kernel_release" "KDIR=$kernel_dir/lib/modules/$kernel_release/build" KCFLAGS=-g0 2>&1 |
		sed -n 's|^ *CC \[M\] *\(.*/\)\?\(kmod/.*\)|\2|p; s|.*rror.*|&|p' | sort | tr '\n' ' '
	grep -ao 'value [0-9]*' "$repo/build/$kernel_release/mtag.ko"
	built_keep
)

checkout first 1
checkout same 1
checkout other 2
for kernel in 6.1 7.3; do
	kernel_offered $kernel --no-module || { skip "$no_longer"; continue; }
	is "$(build first $kernel)" "kmod/one.o kmod/two.o value 1" "$kernel: the first checkout compiles all"
	is "$(build same $kernel)" "whole"$'\n'"value 1" "$kernel: another one compiles nothing of what is the same, and knows it"
	is "$(build other $kernel)" "kmod/one.o value 2" "$kernel: and only what a header that differs is part of"
	rm -rf "$tmp/same/build"
	is "$(build same $kernel)" "kmod/one.o value 1" "$kernel: what was built last is what a checkout begins with"
done
done_testing
