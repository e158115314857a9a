# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
# Sourced by tests/vm/compare, after kernel.sh: makes the source of a kernel available in the cache, as far as
# comparing needs it.
#
# It is Debian's linux-source of the image's version, or else the newest that there is of it: 140 MB, of which 20 stay.

source_files=('mm/*.[ch]' kernel/fork.c kernel/exit.c 'kernel/events/*.c' fs/exec.c fs/userfaultfd.c fs/proc/task_mmu.c
	ipc/shm.c arch/x86/kernel/ldt.c 'include/linux/*.h')

# source_ensure NAME: sets source_dir; empty, and a message, where the archive has no source. Call it in a shell of its
# own, as it reads the kernel's file.
source_ensure() {
	local name=$1 image version package
	source_dir=''
	# shellcheck disable=SC1090
	. "$vm/kernels/$name"
	# A build of our own has the source of the kernel that it is a build of.
	# shellcheck disable=SC1090
	[ -z "${kernel_base:-}" ] || { name=$kernel_base; . "$vm/kernels/$name"; }
	image=$(grep -m 1 '^linux-image-' "$cache/kernels/$name/key") || { say "$name: no package tells its source"; return; }
	version=${image#*=}
	package=linux-source-$(sed -n 's/^linux-image-\([0-9]*\.[0-9]*\).*/\1/p' <<<"$image")
	mkdir -p "$cache/source"
	exec {source_lock}>"$cache/source/.lock-$name"
	flock "$source_lock"
	if [ ! -d "$cache/source/$name-$version" ]; then
		source_fetch "$name" "$package" "$version" || { say "$name: there is no $package to be had"; return; }
	fi
	exec {source_lock}>&-
	source_dir=$cache/source/$name-$version
}

# source_fetch NAME PACKAGE VERSION: into the cache, in place of that of another version.
source_fetch() {
	local name=$1 package=$2 version=$3 dir=$cache/source/$1.new final=$cache/source/$1-$3 offered
	# Chooses the kernel's suite (apt_opts).
	kernel_key >/dev/null || return
	offered=$(apt_cache madison "$package" | awk '{print $3}')
	rm -rf "$dir"
	mkdir -p "$dir"
	say "fetching the source of $name, $package=$version"
	if [ -z "$offered" ]; then
		pool_get "$dir" "${package}_${version}_all.deb" || return
	else
		grep -qxF "$version" <<<"$offered" || {
			version=$(head -n 1 <<<"$offered")
			say "$name: comparing the source of $version"
		}
		(cd "$dir" && apt_get download "$package=$version") >&2 || return
	fi
	# Some kernels have some of the files elsewhere: tar then fails, after it has unpacked the others.
	dpkg-deb --fsys-tarfile "$dir"/*.deb | tar -xO --wildcards '*/linux-source-*.tar.xz' | xz -dc |
		tar -x -C "$dir" --strip-components=1 --no-wildcards-match-slash --wildcards \
			"${source_files[@]/#/linux-source-*/}" 2>/dev/null || :
	[ -f "$dir/mm/memory.c" ] || return
	rm -rf "$dir"/*.deb "$cache/source/$name"-[0-9]*
	mv "$dir" "$final"
}
