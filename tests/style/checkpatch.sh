#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# checkpatch --strict on all C code. The kernel's script comes from Debian's linux-source package
# (it is in no smaller one) and is kept in the cache.
cd "$(dirname "$(realpath "$0")")/../.." || exit
dir=${XDG_CACHE_HOME:-$HOME/.cache}/mtag/checkpatch

fetch() {
	local tmp=$dir.$$
	mkdir -p "$tmp" || return
	(
		cd "$tmp" || exit
		apt-get -qq -o APT::Sandbox::User=root download linux-source-6.1 || exit
		dpkg-deb --fsys-tarfile ./*.deb | tar -xOf - --wildcards '*/linux-source-6.1.tar.xz' |
			tar -xJf - --strip-components=1 --wildcards '*/scripts/checkpatch.pl' \
				'*/scripts/spelling.txt' '*/scripts/const_structs.checkpatch'
		rm -f ./*.deb
		test -f scripts/checkpatch.pl
	) >/dev/null 2>&1 && mv -T "$tmp" "$dir" 2>/dev/null
	rm -rf "$tmp"
	[ -f "$dir/scripts/checkpatch.pl" ]
}
[ -f "$dir/scripts/checkpatch.pl" ] || fetch || { echo "1..0 # SKIP cannot get checkpatch.pl"; exit; }

# Not for a project outside the kernel's tree, or said by another check.
ignore=FILE_PATH_CHANGES,LINUX_VERSION_CODE,SPDX_LICENSE_TAG,MAINTAINERS
# User space: these are advice on kernel code.
user=$ignore,PREFER_KERNEL_TYPES,STRCPY,STRNCPY,STRLCPY,SSCANF_TO_KSTRTO,ENOSYS,VOLATILE,SYMBOLIC_PERMS
user+=,NEW_TYPEDEFS,AVOID_EXTERNS,COMPLEX_MACRO,CAMELCASE,FUNCTION_ARGUMENTS,MISPLACED_INIT
user+=,ALLOC_ARRAY_ARGS,PREFER_DEFINED_ATTRIBUTE_MACRO,MEMORY_BARRIER,CONSTANT_COMPARISON,ARRAY_SIZE,CONST_STRUCT
n=0 failed=0
check() { # NAME IGNORED FILE-PATTERN…
	local name=$1 ignored=$2 out files
	shift 2
	n=$((n + 1))
	mapfile -t files < <(git ls-files -- "$@" | while read -r f; do [ ! -f "$f" ] || echo "$f"; done)
	[ ${#files[@]} -gt 0 ] || { echo "ok $n - $name # SKIP no such file"; return; }
	if out=$(perl "$dir/scripts/checkpatch.pl" --no-tree --strict --terse --file --show-types --no-summary \
			--max-line-length=100 --ignore "$ignored" "${files[@]}" 2>&1); then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name"
		sed 's/^/# /' <<<"$out"
		failed=1
	fi
}
check "the module and the UAPI header pass checkpatch --strict" $ignore 'kmod/*.[ch]' 'include/uapi/*.h'
check "user space passes checkpatch --strict" $user 'lib/*.[ch]' 'ctl/*.[ch]' include/mtag.h 'examples/*.c' \
	'bench/*.[ch]' 'tests/*.[ch]'
echo "1..$n"
exit $failed
