#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The kernel's style: checkpatch --strict on the module and the UAPI header, clang-format on user space.
# checkpatch.pl comes from Debian's linux-source package (it is in no smaller one) and is kept in the
# cache. What clang-format wants differs between its versions: 14, Debian 12's, is asked.
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
sources() { git ls-files -- "$@" | while read -r f; do [ ! -f "$f" ] || echo "$f"; done; }

# Not for a project outside the kernel's tree, or said by another check.
ignore=FILE_PATH_CHANGES,LINUX_VERSION_CODE,SPDX_LICENSE_TAG,MAINTAINERS
# checkpatch IGNORE FILE…: what it says of them. Of files that passed once, in any checkout, it is not asked again until they,
# or the question, change: the cache has their sums.
checkpatch() {
	local options=(--no-tree --strict --terse --file --show-types --no-summary --max-line-length=100 --ignore "$1") passed files
	passed=$dir/passed.$(cat "$dir"/scripts/* - <<<"${options[*]}" | sha256sum | cut -c1-12)
	find "$dir" -name 'passed.*' -mtime +30 -delete
	touch "$passed"
	mapfile -t files < <(sha256sum -- "${@:2}" | grep -vxFf "$passed" | cut -c67-)
	[ ${#files[@]} != 0 ] || return 0
	perl "$dir/scripts/checkpatch.pl" "${options[@]}" "${files[@]}" 2>&1 && sha256sum -- "${files[@]}" >>"$passed"
}
kernel_style() {
	local files
	mapfile -t files < <(sources 'kmod/*.[ch]' 'include/uapi/*.h' ':!kmod/word.h')
	# It takes an operand of asm() for a modulo.
	checkpatch "$ignore" "${files[@]}" && checkpatch "$ignore,SPACING" kmod/word.h
}
user_style() {
	local files
	mapfile -t files < <(sources '*.c' '*.h' '*.cpp' '*.hpp' ':!kmod' ':!include/uapi')
	clang-format --dry-run -Werror --ferror-limit=5 "${files[@]}" 2>&1
}

n=0 failed=0
check() { # NAME FUNCTION
	local out
	n=$((n + 1))
	if out=$("$2"); then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		sed 's/^/# /' <<<"$out"
		failed=1
	fi
}
skip() { # NAME WHY
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}

name="the module and the UAPI header pass checkpatch --strict"
if [ -f "$dir/scripts/checkpatch.pl" ] || fetch; then
	check "$name" kernel_style
	rm -f .checkpatch-camelcase.*
else
	skip "$name" "cannot get checkpatch.pl"
fi
name="user space is as clang-format leaves it"
case $(clang-format --version 2>/dev/null) in
*"version 14."*) check "$name" user_style ;;
'') skip "$name" "no clang-format" ;;
*) skip "$name" "clang-format is not version 14" ;;
esac
echo "1..$n"
exit $failed
