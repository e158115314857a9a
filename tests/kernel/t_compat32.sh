#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Programs of 32 bits and of 64, with glibc and with musl, static and not: all are counted alike.
# vm: timeout=300
. tests/kernel/lib.sh

# Each build executes the next one, so that every change of word size comes up.
kinds=(shared m32 static musl shared)
for i in 0 1 2 3; do
	kind=${kinds[i]}
	check "$kind: calls, tags and threads" \
		"build/$kind/tests/kernel/calls" "build/${kinds[i + 1]}/tests/kernel/calls"
done
# What the 64-bit builds of these do by themselves.
for test in t_virt t_mremap t_rules_anon t_ioctl_bad; do
	check "m32: $test" "build/m32/tests/kernel/$test"
done
for kind in build build/m32 build/musl; do
	name="$kind: the library is loaded late"
	loader=$(readelf -lW $kind/tests/abi/dlopen | sed -n 's/.*interpreter: \(.*\)]/\1/p')
	if [ -e "$loader" ]; then
		# LD_LIBRARY_PATH has the first one's library only.
		check "$name" env -u LD_LIBRARY_PATH $kind/tests/abi/dlopen
	else
		skip "$name (no $loader here)"
	fi
done
done_testing
