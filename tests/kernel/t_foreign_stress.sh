#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# stress-ng under mtagctl run on a machine with little memory: every process that ends has all counters
# at 0, every audit says drift 0, lost 0. A third argument: with the stacks of their pages.
# vm: group=stress mem=600M timeout=420 repairs=any because="pages that are merged while a relative may have their slot in swap are counted anew" args=memory
# vm: also=7.3-rt group=stress mem=600M timeout=420 args=process
# vm: group=stress mem=600M timeout=420 args=shared
# vm: group=stress mem=600M timeout=420 repairs=any short=6.1 because="stacks follow pages in the same code everywhere; pages that are merged while a relative may have their slot in swap are counted anew" args=memory 1 stacks
# vm: group=stress mem=600M timeout=420 short=6.1 because="stacks follow pages in the same code everywhere" args=process 1 stacks
# vm: group=stress-long thread=multi mem=600M timeout=7200 long=1 repairs=any because="pages that are merged while a relative may have their slot in swap are counted anew" args=memory 20
# vm: group=stress-long thread=multi mem=600M timeout=7200 long=1 args=process 20
# vm: group=stress-long thread=multi mem=600M timeout=7200 long=1 args=shared 20
command -v stress-ng >/dev/null || { echo "1..0 # SKIP no stress-ng"; exit; }
. tests/kernel/foreign.sh
seconds=${2:-1} stacks=${3:-}

# batch NAME OPTION…: these stressors at once. No process may grow so far that the kernel has to kill.
batch() {
	local name=$1 status
	shift
	(
		ulimit -v 400000
		tracked "$name" "${as[@]}" stress-ng --timeout "$seconds" --temp-path "$temp" --no-rand-seed \
			--oomable "$@" >"$tmp/$name" 2>&1
	) &
	watch_work $! "$name"
	status=$?
	# 2: a stressor failed, as under the limit. 3, 4: one found too little here, or something missing. Others: a wrong
	# option, it was killed, or is not there.
	[[ $status == [0234] ]]
	ok $? "$name: stress-ng ran (status $status)" || tail -n 20 "$tmp/$name" | sed 's/^/# /'
	grep -E 'fail|skip|not implemented|abort' "$tmp/$name" | head -n 5 | sed 's/^/# /'
}

# Not in the short form.
more_batch() { [ -z "${MTAG_LONG:-}" ] || batch "$@"; }

# enough LEAST NAME OPTION…: the verdict, before which this batch is run until so many processes have ended and one was
# audited, ten times at most: a slow machine gets through few in the seconds of the others.
enough() {
	local least=$1 i
	shift
	for ((i = 0; i < 10 && ($(lifetimes) < least || audited == 0); i++)); do batch "$@"; done
	verdict "$least"
}

# programs NAME COUNT: short programs of a shell's, two at a time.
programs() {
	# shellcheck disable=SC2016
	tracked "$1" sh -c 'run() { i=0; while [ $i -lt $1 ]; do /bin/true; i=$((i + 1)); done; }
		run '"$2"' & run '"$2"' & wait' >"$tmp/$1" 2>&1 &
	watch_work $! "$1"
	is $? 0 "$1: ran to its end"
}

pressure 512M
temp=$tmp as=()
case $1 in
memory)
	# A whole tree is when one of its pages is merged whose slot in swap a relative may have: see repairs= above.
	unread=25
	batch vm --vm 2 --vm-bytes 70M --mmap 1 --mmap-bytes 32M --zero 1
	batch merge --vm 2 --vm-bytes 48M --vm-madvise mergeable --mremap 1 --mremap-bytes 24M --munmap 1
	batch advise --madvise 2 --mlock 1 --remap 1 --pageswap 1
	more_batch heap --brk 1 --bigheap 1 --bigheap-growth 262144 --stack 1 --vm 1 --vm-bytes 64M
	more_batch file --mmap 1 --mmap-bytes 16M --mmap-file --msync 1 --msync-bytes 8M --mprotect 1 --pagemove 1 \
		--pagemove-bytes 8M
	batch more --vm-splice 1 --vm-rw 1 --vm-rw-bytes 8M --fault 1 --malloc 1 --malloc-bytes 1M
	enough "$(more 30 100)" again --vm 2 --vm-bytes 70M --mmap 1 --mmap-bytes 32M --remap 1
	;;
process)
	batch fork --fork 2 --fork-vm --vfork 1 --vm 1 --vm-bytes 64M
	batch clone --clone 1 --clone-max 32 --daemon 1 --pthread 1 --pthread-max 32
	# The stressor exec does not run as root.
	temp=$tmp/nobody
	install -d -o nobody "$temp"
	as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	batch exec --exec 2 --exec-max 8 --switch 1 --vm 1 --vm-bytes 64M
	temp=$tmp as=()
	programs shell "$(more 60 500)"
	more_batch mmapfork --mmapfork 1 --vfork 1 --vm-segv 1
	more_batch mixed --fork 1 --vfork 1 --stack 1 --mmap 1 --mmap-bytes 24M --bad-altstack 1
	enough "$(more 150 1500)" again --fork 2 --vfork 1 --vm 1 --vm-bytes 64M
	;;
shared)
	batch shm --shm 1 --shm-bytes 2M --shm-sysv 1 --shm-sysv-bytes 2M --vm 1 --vm-bytes 64M
	batch memfd --memfd 1 --memfd-bytes 8M --tmpfs 1 --numa 1
	more_batch fixed --mmapaddr 1 --mmapfixed 1 --mmapmany 1 --vm 1 --vm-bytes 48M
	batch uffd --userfaultfd 1 --userfaultfd-bytes 8M --hdd 1 --hdd-bytes 8M --fork 1
	more_batch vma --vm-addr 1 --secretmem 1 --physpage 1 --shm 1 --shm-bytes 2M --fork 1
	enough "$(more 30 100)" again --shm 1 --shm-bytes 2M --fork 1 --vm 1 --vm-bytes 64M
	;;
*)
	bail "memory, process or shared?"
	;;
esac
