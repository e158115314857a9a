# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by tests/vm/run and tests/run-all: what a kernel's log must not say.

log_bad='\bBUG\b|WARNING|Oops|general protection|RCU.*stall|rcu.*stall|\blockdep\b|possible circular|KASAN|UBSAN|KCSAN'
log_bad+='|suspicious RCU usage|sleeping function called|inconsistent lock state|possible recursive locking|ODEBUG'
log_bad+='|held when returning|Invalid wait context|list_(add|del) corruption|refcount_t:'
log_bad+='|kmemleak|unreferenced object|suspected memory leaks|unable to handle|hung task|blocked for more than'
log_bad+='|soft lockup|workqueue lockup|Call Trace|Kernel panic|mtag health:'
# What kernels say about these checkers when they start.
log_fine='Lock dependency validator|KernelAddressSanitizer initialized|Kernel memory leak detector initialized'
log_fine+='|kmemleak: Automatic memory scanning|RCU lockdep checking|lockdep is (turned|enabled)'
log_fine+='|ODEBUG: selftest passed'
# Printed once for a mount with that option: fuzzers use it.
log_fine+='|WARNING: The mand mount option has been deprecated'
# A thread of bookworm's stress-ng --pthread may read its argument when that is gone, at this very
# instruction: on a busy machine in one run of 25, without mtag, too.
log_fine+='|traps: stress-ng-pthre\[[0-9]+\] general protection fault ip:[0-9a-f]+2f2 '

# log_failures FILE: its bad lines, each after its number and a colon. Nearly all have none, even before the filters.
log_failures() {
	grep -qE "$log_bad|\[mtag\]" "$1" &&
		log_kcsan "$1" | log_oom | log_end | grep -nE "$log_bad" | grep -vE "$log_fine"
}

# log_kcsan FILE: the file, without those reports of data races that do not have mtag in their trace: kernels
# have races of their own, and what an interrupt does is not the interrupted's. Nor is it mtag's that a hash table
# which is resized reads, under its lock, the word that has the bit of this lock. Lines keep their numbers.
log_kcsan() {
	awk -v bar="$(printf '=%.0s' {1..66})" '
		function flush(  i) {
			for (i = 1; i <= n; i++)
				print race && (!ours || (resized && marked)) ? "" : held[i]
			n = race = ours = interrupted = marked = 0
		}
		!n && !index($0, bar) { print; next }
		{ held[++n] = $0 }
		/BUG: KCSAN: / { race = 1; resized = / rht_deferred_worker/ }
		/ \(marked\) / { marked = 1 }
		/ bytes by .* on cpu [0-9]+:/ { interrupted = 0 }
		/asm_sysvec_|asm_common_interrupt/ { interrupted = 1 }
		/\[mtag\]/ && !interrupted { ours = 1 }
		# The bar after a report, or one of another report that was cut off.
		n > 200 || (n > 1 && index($0, bar)) { flush() }
		END { flush() }' "$1"
}

# log_oom: drops the trace of the task that invoked the OOM killer, and that of a killed task that then got no page,
# unless mtag is in it. Distances between lines do not count what log_kcsan has dropped.
log_oom() {
	awk 'NF { said++ }
		/invoked oom-killer:/ { oom = said }
		match($0, /[Oo]ut of memory: Killed process [0-9]+ /) { killed[substr($0, RSTART + 30, RLENGTH - 31)] }
		/page allocation failure: order:0,/ { failure = said }
		failure && said <= failure + 4 && match($0, / PID: [0-9]+ /) &&
			substr($0, RSTART + 6, RLENGTH - 7) in killed { victim = said }
		/Call Trace:/ && oom && said <= oom + 8 { oom = 0; print ""; next }
		/Call Trace:/ && victim && said <= victim + 4 { print ""; next }
		/\[mtag\]/ && victim && said <= victim + 64 { print "Call Trace of mtag: " $0; next }
		/<\/TASK>/ { victim = 0 }
		{ print }'
}

# log_end: drops what is said after the power is down, unless mtag is in it: on 7.3-rt a timer may still wake a task
# on a processor that is offline by then.
log_end() {
	awk 'off && /\[mtag\]/ { print "Call Trace of mtag: " $0; next }
		off { print ""; next }
		/reboot: Power down/ { off = 1 }
		{ print }'
}
