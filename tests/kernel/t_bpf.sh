#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# BPF programs on a function that mtag is called by directly: whoever comes first, mtag counts the same, and each program
# that attaches is run. A function has room for a single direct call, and fentry and fexit want it, too.
# vm: also=7.3-rt group=plain module=linger_ms=0 mem=2G timeout=500 stock=1 because="mtag is not called directly on kernels of our own"
. tests/kernel/beside.sh

# attaches KIND: sets `said` to what bpf says of itself. detaches: it ends; sets `runs` to how often it was run.
mkfifo "$tmp/in" "$tmp/out"
attaches() {
	$bin/bpf "$1" "$function" <"$tmp/in" >"$tmp/out" 2>&1 &
	bpf=$!
	exec {to}>"$tmp/in" {from}<"$tmp/out"
	read -r said <&"$from"
}
detaches() {
	echo >&"$to"
	read -r runs <&"$from"
	exec {to}>&- {from}<&-
	wait "$bpf"
}

# sound WHEN: what the module's health must say before it is unloaded, which ends its counts. On PREEMPT_RT another tracer
# keeps mtag from allocating: see exact().
sound() {
	is "$(health foreign)" 0 "$1: each caller was known"
	is "$(health drift)" 0 "$1: no drift"
	[ -z "$rt" ] || return 0
	is "$(health lost)" "$lost_before" "$1: nothing lost"
	ok $(($(health repairs) - repairs_before > 2)) "$1: no more than two repairs, after $repairs_before"
}

wait_idle
before
for kind in fentry fexit kprobe $(more "" kretprobe); do
	attaches $kind
	is "$said" attached "$kind: mtag being idle, the program attaches"
	tracks
	expected=direct
	[[ $kind != f* ]] || expected=ftrace
	is "$(mode)" $expected "$kind: then mtag is called by $expected"
	exact "$kind came first"
	detaches
	ok $((runs == 0)) "$kind: the program was run ($runs times)"
	exact "$kind has gone"
	ends
done

tracks
is "$(mode)" direct "mtag came first, and is called directly"
for kind in fentry fexit; do
	attaches $kind
	# 7.3 calls it EINVAL.
	[[ $said == "attaching: "@("Device or resource busy"|"Invalid argument") ]]
	ok $? "$kind: so the program is refused" || echo "# $said"
	exec {to}>&- {from}<&-
	wait "$bpf"
	exact "$kind was refused"
done
for kind in kprobe kretprobe; do
	attaches $kind
	is "$said" attached "$kind: mtag came first, and the program attaches all the same"
	exact "$kind came last"
	detaches
	ok $((runs == 0)) "$kind: the program was run ($runs times)"
	exact "$kind has gone again"
done
ends
sound "direct calls"

check "unloaded" unload
check "it loads with direct=0" load linger_ms=0 direct=0 || bail "without the module there is nothing to test"
wait_idle
before
tracks
is "$(mode)" ftrace "direct=0: mtag is called by ftrace"
for kind in fentry fexit; do
	attaches $kind
	is "$said" attached "direct=0 makes room for $kind"
	exact "direct=0, $kind"
	detaches
	ok $((runs == 0)) "direct=0: the program was run ($runs times)"
done
ends
sound "direct=0"
# As the next test of the VM expects it.
check "unloaded again" unload
check "it loads as it was" load linger_ms=0
rm -rf "$tmp"
done_testing
