# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
# Results that are kept, so that a run that was stopped goes on where it was, and a second one takes minutes. Only
# what passed is kept, of VMs only that ended well, and for no longer than what made it stays the same: the
# sources, the kernel, and how the VM was run. git tells what the sources are.
# Sourced by tests/run-all, in the checkout, which sets $cache.

kept_names=$(dirname "$(realpath "${BASH_SOURCE[0]}")")/names.awk

# kept_open DIR: where they are kept. Nothing is, without it.
kept_open() {
	kept=$1
	mkdir -p "$kept"
	kept_commit=$(git describe --always --dirty)
	kept_host=$(kept_sources 'tests/kernel/t_' .)
	kept_kernel=$(kept_sources 'tests/vm/(selftest|planted|unfit|callers|offered|compar|source)|tests/vm/debug/planted/' \
		'Makefile|Kbuild|(kmod|include|lib|ctl|bench|examples|tests/vm)/|tests/lib/(deps|foreign|tap)')
	# Those that take long, and are made of few of the sources.
	declare -gA kept_long=(
		[tests/vm/planted.sh]=$(kept_sources 'tests/vm/(selftest|unfit|callers)' 'Makefile|Kbuild|(kmod|include|tests/vm)/')
		[tests/unit/fuzz.sh]=$(kept_sources '$' 'Makefile|dkms.conf|(kmod|include|lib|ctl|tests/fuzz|tests/unit)/')
	)
	declare -gA kept_own=() kept_hows=()
	kept_programs
	find "$kept" -type f -mtime +30 -delete
}

# kept_programs: fills kept_own, of each test's own sources a sum, with one program for all tests.
kept_programs() {
	local dir sum name sources each
	local -A sums=()
	dir=$(mktemp -d)
	while read -r sum name; do sums[$name]=$sum; done < <(git ls-files -co --exclude-standard -z tests docs | xargs -0 sha256sum)
	while read -r name sources; do
		for each in $sources; do echo "${sums[$each]:-} $each"; done >"$dir/$name"
	done < <(git ls-files -co --exclude-standard tests/kernel | xargs awk -f "$kept_names")
	while read -r sum name; do kept_own[$name]=${sum:0:32}; done < <(cd "$dir" && sha256sum -- *)
	rm -rf "$dir"
}

# kept_sources NOT THESE: a sum of the sources whose names begin so, those that begin otherwise excepted.
kept_sources() {
	git ls-files -co --exclude-standard -z | grep -zvE "^($1)" | grep -zE "^($2)" | sort -z |
		xargs -0 sha256sum | kept_sum
}

# kept_sum: of its input, as part of a file's name.
kept_sum() { sha256sum | cut -c1-32; }

# kept_name COMMAND [KERNEL HOW]: sets `kept_at` to the file in which such a test's result is kept. It is asked for hundreds
# of names, and starts programs only for a KERNEL and HOW that it has not met.
kept_name() {
	local name=${1%% *} sum=${kept_long[$1]:-$kept_host}
	name=${name##*/}
	if [ -n "${2:-}" ]; then
		[ -n "${kept_hows[$2 $3]:-}" ] || kept_hows[$2 $3]=$(
			{ echo "$kept_kernel"; printf '%s\n' "$2" "$3"; readlink "$cache/kernels/$2"; } | kept_sum)
		sum=${kept_hows[$2 $3]}-${kept_own[${name%.sh}]:?}
	fi
	kept_at=$kept/${1//[^A-Za-z0-9_.=-]/_}-$sum
}

# kept_file COMMAND [KERNEL HOW]: prints the name of that file.
kept_file() { kept_name "$@" && echo "$kept_at"; }

# keep FILE NAME RESULT COUNTS: of a result its line and what was counted, below what tells a reader about it.
keep() {
	{ TZ=UTC printf '%s, commit %s, %(%F %R)T\n' "$2" "$kept_commit" -1 && printf '%s\n' "$3" ${4:+"$4"}; } >"$1.$BASHPID" &&
		mv "$1.$BASHPID" "$1"
}

# kept_title FILE, kept_result FILE, kept_counts FILE: what keep was given.
kept_title()  { sed -n 1p "$1"; }
kept_result() { sed -n 2p "$1"; }
kept_counts() { sed 1,2d "$1"; }
