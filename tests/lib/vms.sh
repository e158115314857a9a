# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
# Sourced by tests/run-all: runs the VMs that tests/lib/plan.sh has planned.

# room: may another VM start? Else waits for a while. Beside $lanes of the tests' processes one may that finds a processor
# idle: some tests wait for most of their time.
room() {
	local running
	running=$(jobs -rp | wc -l)
	[ "$running" -ge "$lanes" ] || return 0
	if [ "$running" -lt $((lanes + $(nproc) - 1)) ]; then
		idle 4
	else
		wait -n
		false
	fi
}

# idle SECONDS: for so long, was half of a processor?
idle() {
	local before after
	read -r _ _ _ _ before _ </proc/stat
	sleep "$1"
	read -r _ _ _ _ after _ </proc/stat
	[ $((after - before)) -ge $(($1 * $(getconf CLK_TCK) / 2)) ]
}

# run_vm DIR: the tests of DIR/list. A VM that dies takes one test with it; the rest get a new one.
run_vm() {
	local dir=$1 machine module kernel group append thread run='' vm_status said
	machine=$(option "$dir" machine) module=$(option "$dir" module) append=$(option "$dir" append)
	kernel=$(option "$dir" kernel) group=$(option "$dir" group) thread=$(option "$dir" thread)
	trap 'kill $run 2>/dev/null; wait; exit' TERM
	# Nothing ever comes from there: read -t waits without a program of its own. This script is large, and a fork
	# of it twice a second costs as much as a tenth of a VM.
	exec {never}<> <(:)
	# One VM a kernel is as Debian boots it: that of the core (tests/lib/plan.sh). The others do without KASLR, five
	# levels of page tables, and what costs an emulated processor a seventh of its time. Instructions are counted
	# with all that.
	[ "$group" = default ] || machine+=' --fast'
	# And they take the emulated processors' clock, which is in step; 6.1 would not, and each look at another leaves
	# the emulated code. What the kernel's ciphers find out about themselves takes a second.
	[[ $machine == *--icount* || $group == default ]] ||
		append+=' mitigations=off init_on_alloc=0 tsc=reliable cryptomgr.notests'
	kernel_says "$kernel" kernel_base
	[ -z "$said" ] || unset MTAG_LONG
	while [ -s "$dir/list" ]; do
		rm -f "$dir"/current
		# shellcheck disable=SC2086
		MTAG_MODULE_ARGS=$module MTAG_VM_THREAD=$thread MTAG_VM_OUT=$dir \
			MTAG_VM_APPEND="${MTAG_VM_APPEND:-} $append" tests/vm/run --no-build --timeout 86400 $machine -- \
			tests/vm/guest-tap "$dir" >"$dir/vm" 2>&1 </dev/null &
		run=$!
		watch "$dir" "$run" "$kernel" "$group"
		wait "$run" && vm_status=0 || vm_status=$?
		collect "$dir" "$kernel" "$group"
		[ ! -s "$dir/list" ] || [ "$vm_status" != 0 ] || vm_status="0, but tests are left"
		keep_all "$dir" "$kernel" "$vm_status"
		[ "$vm_status" = 0 ] || blame "$dir" "$kernel" "$group" "$vm_status"
	done
}

# keep_all DIR KERNEL STATUS: what passed in a VM that ended so.
keep_all() {
	local each result
	for each in "$1"/*.keep; do
		[ -f "$each" ] || continue
		result=$(kept_result "$each")
		[ "$3" != 0 ] || mv "$each" "$(kept_file "${result##*$'\t'}" "$2" "$(option "$1" how)")"
		rm -f "$each"
	done
}

# watch DIR PID KERNEL GROUP: reports tests as they end; ends a VM in which one does not.
watch() {
	local dir=$1 id seconds last='' since=$SECONDS slow said
	set_slow "$3"
	while kill -0 "$2" 2>/dev/null; do
		read -rt 0.5 -u "$never"
		collect "$dir" "$3" "$4"
		read -r id seconds 2>/dev/null <"$dir/current" || { id=boot; seconds=$((240 * slow)); }
		[ "$id" = "$last" ] || { last=$id since=$SECONDS; show_progress; }
		# The end takes its time, too, where leaks are looked for.
		if [ $((SECONDS - since)) -gt $((seconds + 60 * slow)) ]; then
			echo "the guest hangs in $id" >>"$dir/vm"
			kill "$2"
			return
		fi
	done
}

# collect DIR KERNEL GROUP: judges the tests at the head of the list that have ended.
collect() {
	local dir=$1 id seconds command status
	while IFS=$'\t' read -r id seconds _ _ command <"$dir/list" && [ -s "$dir/$id.status" ]; do
		log_failures "$dir/$id.dmesg" >"$dir/$id.bad"
		[ ! -s "$dir/$id.bad" ] || touch "$dir/blamed"
		read -r status seconds <"$dir/$id.status"
		judge "$command [$2:$3]" "$dir/$id" "$status" "$seconds" "$2" "$command"
		sed -i 1d "$dir/list"
	done
}

# blame DIR KERNEL GROUP STATUS: the VM ended badly; the test that ran then is the one that failed.
blame() {
	local dir=$1 id seconds command
	if ! IFS=$'\t' read -r id seconds _ _ command <"$dir/list"; then
		# The VM's verdict on its log is that of a test, which has failed.
		[ ! -e "$dir/blamed" ] || return 0
		id=end command='after the last test'
	fi
	touch "$dir/$id.out"
	cat "$dir/vm" >>"$dir/$id.out"
	judge "$command [$2:$3]" "$dir/$id" "VM: $4" "?" "$2" "$command"
	sed -i 1d "$dir/list"
	[ -e "$dir/current" ] && return
	# It did not get as far as a test: another VM would not either.
	not_run "$dir" "$2" "$3"
}

# not_run DIR KERNEL GROUP: what is left in DIR/list has failed.
not_run() {
	local command
	while IFS=$'\t' read -r _ _ _ _ command; do
		tell "FAIL $command [$2:$3]: not run"
		record "$(result 0 1 0 0 "$2" "$command")"
	done <"$1/list"
	: >"$1/list"
}
