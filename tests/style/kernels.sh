#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The kernels that mtag knows are named in several places, and so are those that it is tested on: they agree.
cd "$(dirname "$(realpath "$0")")/../.." || exit
. tests/kernel/lib.sh

known=$(printf '%s\n' kmod/compat/functions-[0-9]*.h | sed 's|.*functions-||; s|\.h$||' | sort -V)
# The versions as a sentence names them: 6.1, 6.12 and 7.2
words=$(paste -sd , <<<"$known" | sed 's/,/, /g; s/\(.*\), /\1 and /')

is "$(sed -n 's/^#define MTAG_KERNEL_\([0-9_]*\).*/\1/p' kmod/compat/compat.h | tr _ .)" "$known" \
	"compat.h lets through the kernels whose functions are listed"
for page in README.md docs/design.md; do
	tr '\n' ' ' <"$page" | grep -qF "$words"
	ok $? "$page names them"
done
tr '\n' ' ' <docs/install.md | grep -qF "${words/ and / or }"
ok $? "docs/install.md names them"

# tested: "SUITE VERSION FLAVOUR" of Debian's kernels in tests/vm/kernels. 6.1 is this machine's own.
tested() {
	echo bookworm 6.1 amd64
	sed -n 's/^debian_kernel //p' tests/vm/kernels/*
}
# told: the same, of the table in docs/install.md
told() {
	awk -F ' *[|] *' '/^\| [a-z-]+ \| [0-9.]+ \|/ { n = split($4, each, ", "); for (i = 1; i <= n; i++) print $2, $3, each[i] }' \
		docs/install.md
}
is "$(told | sort)" "$(tested | sort)" "docs/install.md has the kernels of tests/vm/kernels in its table"
is "$(tested | cut -d ' ' -f 2 | sort -Vu)" "$known" "every kernel that mtag knows is tested"
done_testing
