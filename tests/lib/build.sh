# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
# Sourced by tests/run-all: builds and fetches what the tests need.

# build_all: user space while the kernels come, then the module for each kernel that tests ask for, while others still
# come. A kernel for which it does not build takes only its own tests with it.
build_all() {
	local kernel wanted fetching program
	wanted=$(sed -n 's/^kernel=//p' "$tmp"/vm/*/options 2>/dev/null | sort -uV)
	# The host's tests want 6.1, too.
	# shellcheck disable=SC2046,SC2086
	fetch $({ [ -z "$host" ] || echo 6.1; printf '%s\n' $wanted; } | sort -uV) &
	fetching=$!
	progress_begin "building user space"
	PATH=/usr/lib/ccache:$PATH make -j"$(nproc)" all kinds >"$tmp/make" 2>&1 || { progress_end; tail -n 100 "$tmp/make"; fail build "does not build"; return 1; }
	progress_end
	# shellcheck disable=SC2086
	[ -z "$wanted" ] || build_modules $wanted
	progress_begin "preparing kernels" how_far
	wait $fetching
	progress_end
	# Without it the tests themselves fail.
	sort -u "$tmp/needs" | while read -r program kernel; do
		[ ! -e "$tmp/gone.$kernel" ] || continue
		progress_begin "preparing $program for $kernel"
		"tests/lib/$program" "$kernel" >"$tmp/need" 2>&1 || { progress_end; cat "$tmp/need"; }
		progress_end
	done
}

# build_modules KERNEL…: each as soon as it has come.
build_modules() {
	local kernel n=0
	progress_begin "preparing kernels, and the module for each" how_far
	for kernel; do
		n=$((n + 1))
		until [ -e "$tmp/fetched.$kernel" ]; do sleep 0.5; done
		echo "$kernel ($n of $#)" >"$tmp/module"
		if [ -e "$tmp/gone.$kernel" ]; then
			each_vm "$kernel" gone
		elif ! tests/vm/run --kernel "$kernel" --build-only >"$tmp/make" 2>&1; then
			progress_clear
			cat "$tmp/fetch.$kernel"
			tail -n 50 "$tmp/make"
			each_vm "$kernel" not_run
		fi
		rm "$tmp/module"
	done
	progress_end
}

# fetch KERNEL…: into the cache. $tmp/fetched.KERNEL says which have come, $tmp/gone.KERNEL which the archive no longer
# offers.
fetch() {
	local kernel status n=0
	for kernel; do
		n=$((n + 1))
		echo "$kernel ($n of $#)" >"$tmp/fetching"
		tests/vm/run --kernel "$kernel" --build-only --no-module >"$tmp/fetch.$kernel" 2>&1
		status=$?
		[ $status != 123 ] || grep -o "Debian's archive .*" "$tmp/fetch.$kernel" >"$tmp/gone.$kernel"
		touch "$tmp/fetched.$kernel"
	done
	rm "$tmp/fetching"
}

# how_far: which kernel is being fetched, how much there is of what is being made in the cache, and for which kernel the
# module is being built.
how_far() {
	local size='' state=''
	if [ -f "$tmp/fetching" ]; then
		size=$(progress_size "$cache"/{store,own,roots}/*.new)
		state="fetching $(cat "$tmp/fetching")${size:+, $size}"
	fi
	[ ! -f "$tmp/module" ] || state+="${state:+, }building for $(cat "$tmp/module")"
	echo "$state"
}

# each_vm KERNEL FUNCTION: calls it with DIR KERNEL GROUP of each VM of that kernel.
each_vm() {
	local dir
	for dir in "$tmp"/vm/*/; do
		[ "$(option "$dir" kernel)" != "$1" ] || "$2" "${dir%/}" "$1" "$(option "$dir" group)"
	done
}

# gone DIR KERNEL: the tests in DIR/list are left out, as there is no such kernel.
gone() {
	local command name
	while IFS=$'\t' read -r _ _ _ _ command; do
		name=$(basename "${command%% *}" .sh)
		printf '%s\t%s\t%s\n' "$name" "$2" "$2: $(cat "$tmp/gone.$2")" >>"$tmp/only"
	done <"$1/list"
	: >"$1/list"
}
