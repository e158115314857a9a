#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The module through sparse, with the compiler's further warnings (W=1), and what kernel-doc says of its comments.
cd "$(dirname "$(realpath "$0")")/../.." || exit
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
headers=$(ls -d "${XDG_CACHE_HOME:-$HOME/.cache}"/mtag/kernels/6.1/lib/modules/*/build 2>/dev/null)
[ -n "$headers" ] && [ -f Kbuild ] || { echo "1..0 # SKIP no kernel headers in the cache"; exit; }
command -v sparse >/dev/null || { echo "1..0 # SKIP no sparse"; exit; }
echo 1..4
failed=0
result() { # STATUS NUMBER NAME
	[ "$1" = 0 ] && echo "ok $2 - $3" || { echo "not ok $2 - $3"; failed=1; }
}
cp -r Kbuild kmod include "$tmp"
bail() { sed 's/^/# /' "$1"; echo "Bail out! $2"; exit 1; }

# Kbuild compiles one file and says by what commands. All others go through these alone: with objtool and all else that
# follows a compilation it takes three times as long.
make -C "$headers" M="$tmp" V=1 W=1 C=2 CHECK=sparse KCFLAGS=-g0 kmod/name.o >"$tmp/one" 2>&1 || bail "$tmp/one" "name.c does not build"
cc=$(sed -nE 's/^ *([^ ]*gcc[^;]*) -c -o .*/\1/p' "$tmp/one" | sed 's/ -Wp,-MMD,[^ ]*//')
sparse=$(sed -nE 's/^ *(sparse .*) [^ ]*name\.c.*/\1/p' "$tmp/one")
[[ $cc == *'"name"'*  && $sparse == *'"name"'* && $cc == *-Wmissing-prototypes* ]] || bail "$tmp/one" "these are not the commands"

files=0
# through COMMAND FILE
through() { (cd "$headers" && eval "${1//\"name\"/\"$(basename "${2%.c}" | tr - _)\"} '$2'"); }
for file in "$tmp"/kmod/*.c "$tmp"/kmod/compat/*.c; do
	through "$cc -S -o /dev/null" "$file" >>"$tmp/cc" 2>&1 || bail "$tmp/cc" "${file#"$tmp/"} does not compile"
	through "$sparse" "$file" >>"$tmp/sparse" 2>&1 || bail "$tmp/sparse" "sparse fails on ${file#"$tmp/"}"
	files=$((files + 1))
done
[ $files -gt 90 ]
result $? 1 "there are files to look at ($files)"
# Only what is said of our own files: the kernel's headers have warnings of their own.
silent() { # NUMBER NAME PATTERN FILE
	out=$(grep -E "$3" "$4" | grep -F "$tmp/")
	[ -z "$out" ]
	result $? "$1" "$2"
	[ -z "$out" ] || sed "s|$tmp/||; s/^/# /" <<<"$out"
}
silent 2 "sparse has nothing to say" '(warning|error): ' "$tmp/sparse"
silent 3 "the compiler has nothing to say (W=1)" 'warning: .*\[-W[a-z0-9=-]*\]$' "$tmp/cc"
"$(dirname "$(realpath "$headers/Makefile")")"/scripts/kernel-doc -none "$tmp"/kmod/*.c "$tmp"/kmod/compat/*.c >"$tmp/doc" 2>&1
silent 4 "kernel-doc has nothing to say" 'warning: |error: ' "$tmp/doc"
exit $failed
