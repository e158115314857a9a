#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Every source file says its licence, and the right one.
cd "$(dirname "$(realpath "$0")")/../.." || exit
shopt -s lastpipe # check counts in this shell
n=0 failed=0
check() { # NAME, and on stdin what is wrong
	local wrong
	wrong=$(cat)
	n=$((n + 1))
	[ -z "$wrong" ] && { echo "ok $n - $1"; return; }
	echo "not ok $n - $1"
	sed 's/^/# /' <<<"$wrong"
	failed=1
}
sources() { git ls-files -- "$@" | while read -r f; do [ ! -f "$f" ] || echo "$f"; done; }
# without TEXT: of the files on stdin those whose first three lines lack TEXT.
without() {
	local all
	all=$(sort -u)
	comm -23 <(echo "$all") <(xargs -r -d '\n' awk -v text="$1" \
		'FNR <= 3 && index($0, text) {print FILENAME} FNR > 3 {nextfile}' <<<"$all" | sort -u)
}

sources '*.[chS]' '*.cpp' '*.hpp' '*.sh' '*.awk' '*.py' Makefile Kbuild 'tests/vm/*' |
	without SPDX-License-Identifier: | check "every source file has an SPDX line"
sources 'kmod/*.[ch]' | without "SPDX-License-Identifier: GPL-2.0" | check "the module is GPL-2.0"
sources 'include/uapi/*.h' | without "GPL-2.0 WITH Linux-syscall-note" | check "the UAPI header has the syscall note"
sources 'lib/*.[ch]' include/mtag.h include/mtag.hpp | without "LGPL-2.1-or-later" | check "libmtag is LGPL-2.1-or-later"
echo "1..$n"
exit $failed
