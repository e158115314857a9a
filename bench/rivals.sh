#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# bench/rivals.sh: in the guest, without mtag: what other tools cost that tell of resident memory, on the same work, as
# rows of bench/run.
# shellcheck disable=SC2016
. tests/kernel/lib.sh
rival() { build/bench/rival "$@" || status=1; }
status=0
export BPFTRACE_MAX_PROBES=16

rival 'bpftrace, by process' come,come_in_all,go '@gone\[' 'exec bpftrace -e "
	kprobe:page_add_new_anon_rmap { @new[pid] = count(); }
	kprobe:page_remove_rmap { @gone[pid] = count(); }"'
rival 'bpftrace, one process' come,go '@gone: [1-9]' 'exec bpftrace -e "
	kprobe:page_add_new_anon_rmap /pid == $PID/ { @new = count(); }
	kprobe:page_remove_rmap /pid == $PID/ { @gone = count(); }"'
rival 'bpftrace, rss_stat' come,go '@\[' 'exec bpftrace -e "
	tracepoint:kmem:rss_stat /args->curr == 1/ { @[pid, args->member] = args->size; }"'
rival 'bpftrace, user stacks' come '@\[' 'exec bpftrace -e "
	kprobe:page_add_new_anon_rmap /pid == $PID/ { @[ustack] = count(); }"'
rival 'perf record -e page-faults -g' come,come_in_all,go '\([0-9]+ samples\)' \
	'exec perf record -o /tmp/perf.data -e page-faults -c 1 -g -p $PID'
rival "bcc's memleak" malloc,come,go Attaching 'PYTHONUNBUFFERED=1 exec memleak-bpfcc -p $PID 3600'
build/bench/heap rivals || status=1
build/bench/readers || status=1
exit $status
