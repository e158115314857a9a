# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
# Results that are kept, so that a run that was stopped goes on where it was, and a second one takes minutes. Only
# what passed is kept, of VMs only that ended well, and for no longer than what made it stays the same: the
# sources, the kernel, and how the VM was run. git tells what the sources are.
# Sourced by tests/run-all, in the checkout, which sets $cache.

kept_names=$(dirname "$(realpath "${BASH_SOURCE[0]}")")/names.awk

# kept_open DIR: where they are kept. Nothing is, without it.
kept_open() {
	local name sources
	kept=$1
	mkdir -p "$kept"
	kept_host=$(kept_sources 'tests/kernel/t_' .)
	kept_kernel=$(kept_sources 'tests/vm/(selftest|planted|unfit|callers|offered|compar|source)|tests/vm/debug/planted/' \
		'Makefile|Kbuild|(kmod|include|lib|ctl|bench|examples|tests/vm)/|tests/lib/(deps|foreign|tap)')
	# Those that take long, and are made of few of the sources.
	declare -gA kept_long=(
		[tests/vm/planted.sh]=$(kept_sources 'tests/vm/(selftest|unfit|callers)' 'Makefile|Kbuild|(kmod|include|tests/vm)/')
		[tests/unit/fuzz.sh]=$(kept_sources '$' 'Makefile|dkms.conf|(kmod|include|lib|ctl|tests/fuzz|tests/unit)/')
	)
	declare -gA kept_own=()
	while read -r name sources; do
		# shellcheck disable=SC2086
		kept_own[$name]=$(sha256sum $sources | sha256sum)
	done < <(git ls-files -co --exclude-standard tests/kernel | xargs awk -f "$kept_names")
	find "$kept" -type f -mtime +30 -delete
}

# kept_sources NOT THESE: a sum of the sources whose names begin so, those that begin otherwise excepted.
kept_sources() {
	git ls-files -co --exclude-standard -z | grep -zvE "^($1)" | grep -zE "^($2)" | sort -z |
		xargs -0 sha256sum | sha256sum
}

# kept_file COMMAND [KERNEL HOW]: the file in which such a test's result is kept.
kept_file() {
	local name=${1%% *}
	name=${name##*/}
	{
		if [ -n "${2:-}" ]; then echo "$kept_kernel"; else echo "${kept_long[$1]:-$kept_host}"; fi
		printf '%s\n' "$@"
		[ -z "${2:-}" ] || readlink "$cache/kernels/$2"
		[ -z "${2:-}" ] || echo "${kept_own[${name%.sh}]:?}"
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
