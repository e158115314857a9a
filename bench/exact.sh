#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# bench/exact.sh COMMAND…: measures in a guest, and fails if mtag has miscounted any process meanwhile: what is cheap
# must be right, too. Where the module is not loaded it only measures.
"$@" || exit
health=/sys/kernel/debug/mtag/health
[ ! -r $health ] || awk '
	$1 == "drift" || $1 == "lost" { if ($2) print "bench: " $1 " is " $2 ", not 0, after what was measured" > "/dev/stderr"; wrong += $2 }
	$1 == "drift" { seen = 1 }
	END { exit wrong || !seen }' $health
