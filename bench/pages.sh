#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# bench/pages.sh ROUNDS: in the guest: what page events, the library, reading and stacks cost, as rows of bench/run.
. tests/kernel/lib.sh
. bench/memory.sh
in_memory /bin/true /lib64/ld-linux-x86-64.so.2 /lib/x86_64-linux-gnu/libc.so.6
swap_on_zram 64M && build/bench/cost "$1" && setarch -R build/bench/cost $((2 * $1)) forks && build/bench/heap &&
	exec setarch -R mtagctl run -- build/bench/stacks
