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
	# LD_LIBRARY_PATH has the first one's library only.
	runs "$kind: the library is loaded late" env -u LD_LIBRARY_PATH $kind/tests/abi/dlopen
done
# The host runs these, too, if its kernel runs programs of 32 bits; those that want no module are in t_nomodule.
for test in unit/lib_{environment,exit,fake,fake_threads,write} abi/{headers,layout}; do
	runs "m32: ${test##*/}" "build/m32/tests/$test"
done
done_testing
