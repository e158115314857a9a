# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by tests/vm/run and tests/run-all: what a kernel's log must not say.

log_bad='\bBUG\b|WARNING|Oops|general protection|RCU.*stall|rcu.*stall|lockdep|possible circular|KASAN|UBSAN'
log_bad+='|kmemleak|unreferenced object|suspected memory leaks|unable to handle|hung task|blocked for more than'
log_bad+='|soft lockup|Call Trace|Kernel panic'
# What kernels say of these checkers when they start.
log_fine='Lock dependency validator|KernelAddressSanitizer initialized|Kernel memory leak detector initialized'
log_fine+='|kmemleak: Automatic memory scanning|RCU lockdep checking|lockdep is (turned|enabled)'

# log_failures FILE: its bad lines, each after its number and a colon.
log_failures() { grep -nE "$log_bad" "$1" | grep -vE "$log_fine"; }
