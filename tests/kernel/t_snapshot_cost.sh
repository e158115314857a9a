#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A live snapshot of 10,000 tags takes less than a second of CPU, the kernel's part included. Where KVM does not work a
# guest is some twenty times slower than its host, and by no fixed factor. So the guest's clock counts instructions, 1 ns
# each: a second of its CPU is 10^9. The rate taken here is 2*10^9 a second, a processor of 2 GHz that ends one
# instruction in each cycle. A server of today ends some 6*10^9 of mtagctl's, whose work is mostly to print JSON.
# vm: only=6.1 stock=1 because="what reading costs differs little between kernels, and counting it takes long; sanitizers cost more" icount=1 group=budget module=linger_ms=2000,count_down=0 timeout=600
. tests/kernel/lib.sh
tmp=$(mktemp -d)
tags=/sys/module/mtag/parameters/max_tags
was=$(cat $tags)
trap 'echo "$was" >$tags; kill -KILL $(pgrep -P "$crowd") "$crowd" 2>/dev/null; rm -rf "$tmp"' EXIT
echo 12000 >$tags

# costs PROCESSES TAGS NAME: each of so many processes has a page of each of so many tags.
costs() {
	local cpu
	$bin/crowd "$1" "$2" >"$tmp/ready" &
	crowd=$!
	until_true 200 grep -qs ready "$tmp/ready" || bail "the crowd is not ready"
	mapfile -t members < <(pgrep -P "$crowd")
	# One before, for what is paid once after a boot: reading the program from its disk.
	mtagctl snapshot -o "$tmp/file" "${members[0]}"
	rm "$tmp/file"
	TIMEFORMAT='%U %S'
	cpu=$( { time mtagctl snapshot -o "$tmp/file" "${members[@]}" 2>"$tmp/said"; } 2>&1)
	is "$(cat "$tmp/said")" "" "$3: nothing is said"
	is "$(grep -c '"tag":"part-[0-9]*".*"rss_bytes":4096' "$tmp/file")" 10000 "$3: the snapshot has 10,000 tags of a page"
	cpu=$(awk '{print ($1 + $2) / 2}' <<<"$cpu")
	awk '{exit !($1 > 0 && $1 < 1)}' <<<"$cpu"
	ok $? "$3: it takes less than a second of CPU: $cpu s at 2*10^9 instructions a second"
	kill -KILL "${members[@]}" "$crowd"
	wait "$crowd" 2>/dev/null
	# The next crowd is ready when it says so itself.
	rm "$tmp/file" "$tmp/ready"
}
costs 1 10000 "one process"
costs 200 50 "200 processes"
done_testing
