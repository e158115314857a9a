#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What runs at every event writes nothing atomically that all CPUs share, or it would not scale with them: the
# compiled files have no locked instruction on a variable of the module's, but for the statistics of losses.
cd "$(dirname "$(realpath "$0")")/../.." || exit
. tests/kernel/lib.sh

hot='charge count cow drive event file follow hook leaf life rmap sleep take touched whose zap'
cold=space
tests/vm/run --kernel 6.1 --build-only >/dev/null 2>&1 || bail "the module for 6.1 does not build"

# shared FILE: the functions in it with a locked instruction on a variable, which the linker will place.
shared() {
	objdump -dr --no-show-raw-insn build/6.1.*/kmod/"$1".o | awk '
		/^[0-9a-f]+ <.*>:$/ { name = $2 }
		locked && /R_X86_64_(PC32|32S?)/ && !/mtag_stat/ { print name }
		{ locked = /\tlock / }'
}

for file in $hot; do
	is "$(shared "$file")" "" "$file.c leaves alone what all CPUs share"
done
[ -n "$(shared $cold)" ]
ok $? "$cold.c does not, and is found"
done_testing
