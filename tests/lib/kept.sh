# SPDX-License-Identifier: GPL-2.0
# Results of make check-long that are kept, so that a run of hours that was stopped goes on where it was. Only
# what passed is kept, of VMs only that ended well, and for no longer than what made it stays the same: the
# sources, the kernel, and how the VM was run.
# Sourced by tests/run-all, in the checkout, which sets $cache.

# kept_open DIR: where they are kept. Nothing is, without it.
kept_open() {
	kept=$1
	mkdir -p "$kept"
	kept_host=$(kept_sources 'tests/kernel/t_' .)
	kept_kernel=$(kept_sources 'tests/kernel/t_|tests/vm/(selftest|planted)|tests/vm/debug/planted/' \
		'Makefile|Kbuild|(kmod|include|lib|ctl|bench|examples|tests/kernel|tests/vm)/|tests/lib/(deps|foreign|tap)')
	find "$kept" -type f -mtime +30 -delete
}

# kept_sources NOT THESE: a sum of the sources whose names begin so, those that begin otherwise excepted.
kept_sources() {
	git ls-files -co --exclude-standard -z | grep -zvE "^($1)" | grep -zE "^($2)" | sort -z |
		xargs -0 sha256sum | sha256sum
}

# kept_file COMMAND [KERNEL HOW]: the file in which such a test's result is kept. A test that runs programs of
# other tests has their names in it.
kept_file() {
	local name
	{
		if [ -n "${2:-}" ]; then echo "$kept_kernel"; else echo "$kept_host"; fi
		printf '%s\n' "$@"
		[ -z "${2:-}" ] || readlink "$cache/kernels/$2"
		name=${1%% *} name=${name##*/} name=${name%.sh}
		for name in $(cat tests/kernel/"$name".{c,sh} 2>/dev/null | grep -oE '\bt_[a-z0-9_]+' | sort -u) "$name"; do
			cat tests/kernel/"$name".{c,sh} 2>/dev/null
		done
	} | sha256sum | sed "s|^\([0-9a-f]*\).*|$kept/\1|"
}

# keep FILE NAME RESULT COUNTS: of a result its line and what was counted, below what tells a reader about it.
keep() {
	printf '%s\n' "$2, commit $(git describe --always --dirty), $(date -u '+%F %R')" "$3" ${4:+"$4"} >"$1.$BASHPID" &&
		mv "$1.$BASHPID" "$1"
}

# kept_title FILE, kept_result FILE, kept_counts FILE: what keep was given.
kept_title()  { sed -n 1p "$1"; }
kept_result() { sed -n 2p "$1"; }
kept_counts() { sed 1,2d "$1"; }
