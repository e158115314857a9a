#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The module's files call downwards only, in the order in which Kbuild lists them.
cd "$(dirname "$(realpath "$0")")/../.." || exit
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
headers=$(ls -d "${XDG_CACHE_HOME:-$HOME/.cache}"/mtag/kernels/6.1/lib/modules/*/build 2>/dev/null)
[ -n "$headers" ] || { echo "1..0 # SKIP no kernel headers in the cache"; exit; }

# listed: the files in Kbuild's order, without kmod/ and .o
listed() { sed -n 's/^mtag-y [:+]= //p' Kbuild | tr ' ' '\n' | sed 's|^kmod/||; s|\.o$||'; }

# symbols DIR: "FILE TYPE SYMBOL" of each object under DIR/kmod
symbols() {
	# shellcheck disable=SC2046
	nm -A $(listed | sed "s|.*|$1/kmod/&.o|") | awk -v dir="$1/kmod/" '{
		file = substr($1, length(dir) + 1)
		sub(/\.o:.*/, "", file)
		print file, $(NF - 1), $NF
	}'
}

# upward DIR: a line for each call, or use of data, that goes up
upward() {
	symbols "$1" >"$tmp/symbols"
	listed | awk -v symbols="$tmp/symbols" '
		{ rank[$1] = NR }
		END {
			while ((getline line <symbols) > 0) {
				split(line, part, " ")
				if (part[2] == "U") used[part[1] " " part[3]]
				else if (part[2] ~ /[A-Z]/) home[part[3]] = part[1]
			}
			for (each in used) {
				split(each, part, " ")
				to = home[part[2]]
				if (to != "" && rank[to] > rank[part[1]])
					print "kmod/" part[1] ".c uses " part[2] " of kmod/" to ".c, which is above it"
			}
		}' | sort
}

# The module as all tests have it built, or as it is built now.
objects=build/$(basename "$(dirname "$headers")")
tests/vm/run --kernel 6.1 --build-only >"$tmp/log" 2>&1 || { sed 's/^/# /' "$tmp/log"; echo "Bail out! the module does not build"; exit 1; }

# includes [FILE…]: a line for each header of a file above that one includes. A header without a file of its own, such as
# hot.h, is as high as the highest that it includes.
includes() {
	grep -Ho '^#include "[^"]*\.h"' kmod/*.[chS] kmod/compat/*.[chS] "$@" | awk -v files="$(listed | tr '\n' ' ')" '
		BEGIN { n = split(files, list, " "); for (i = 1; i <= n; i++) { rank[list[i]] = i; ranked[list[i]] } }
		{
			split($0, part, ":"); file[NR] = from = part[1]; to = $2
			sub(/^.*kmod\//, "", from); sub(/\.[chS]$/, "", from); gsub(/"|\.h/, "", to)
			if (from ~ /^compat\// && to !~ /^\.\.\//) to = "compat/" to
			sub(/^\.\.\//, "", to)
			self[NR] = from; header[NR] = to
		}
		END {
			for (higher = 1; higher;) {
				higher = 0
				for (i = 1; i <= NR; i++)
					if (!(self[i] in ranked) && rank[header[i]] > rank[self[i]]) {
						rank[self[i]] = rank[header[i]]
						higher = 1
					}
			}
			for (i = 1; i <= NR; i++)
				if (self[i] in ranked && rank[header[i]] > rank[self[i]])
					print file[i] " includes " header[i] ".h, which is above it"
		}' | sort
}

# in_design: the files that the table of layers in docs/design.md names, in its order
in_design() {
	sed -n '/^| layer | files |/,/^$/p' docs/design.md | grep -oE '[[:alnum:]_/]+\.[cS]' | sed 's|\.[cS]$||'
}

nr=0 failed=0
# verdict NAME FILE: ok if FILE is empty
verdict() {
	nr=$((nr + 1))
	if [ ! -s "$2" ]; then echo "ok $nr - $1"; else echo "not ok $nr - $1"; sed 's/^/# /' "$2"; failed=1; fi
}

echo 1..10
find kmod -name '*.[cS]' ! -name offsets.c | sed 's|^kmod/||; s|\.[cS]$||' | sort >"$tmp/there"
listed | sort | diff - "$tmp/there" >"$tmp/diff"
verdict "Kbuild lists each file once" "$tmp/diff"
diff <(listed) <(in_design) >"$tmp/design"
verdict "docs/design.md has them in the same order" "$tmp/design"
for c in kmod/*.c; do [ -f "${c%.c}.h" ] || echo "$c has no ${c#kmod/}" | sed 's/\.c$/.h/'; done | grep -v 'kmod/main.c' >"$tmp/headless"
verdict "each has a header of its own" "$tmp/headless"
includes >"$tmp/includes"
verdict "no file includes the header of one above it" "$tmp/includes"
upward "$objects" >"$tmp/up"
verdict "no file uses one above it" "$tmp/up"
# The registers of arguments would not outlive any other call, see direct.c.
readelf -rW "$objects/kmod/direct.o" | awk '/R_X86_64_PLT32/ { print $5 }' | grep -vE '^(mtag_rest_|__x86_return_thunk)' |
	sed 's/^/direct.c calls /' >"$tmp/calls"
verdict "direct.c calls nothing but rest.S" "$tmp/calls"
# A processor that tracks indirect branches (IBT, which TCG does not emulate) faults on a call by pointer to a function of
# the kernel's that is not exported; static calls are direct. Those named call functions of their own by pointer.
for o in "$objects"/kmod/*.o "$objects"/kmod/compat/*.o; do
	nm -u "$o" | awk '/ mtag_resolve/ { looks = 1 } / __x86_indirect_thunk/ { calls = 1 } END { exit !(looks && calls) }' &&
		basename "$o" .o
done | grep -vxE 'drive|later|main|netlink' | sed 's/$/.c calls by pointer, and not by static calls/' >"$tmp/pointers"
verdict "functions that are looked up by name are called directly" "$tmp/pointers"
# A large allocation that fails must leave nothing charged, see mtag_memory_get(). Those named charge nobody.
for o in "$objects"/kmod/*.o; do
	nm -u "$o" | grep -qE ' _*(kvmalloc|vmalloc|vzalloc)' && basename "$o" .o
done | grep -vxE 'memory|owner|stack' | sed 's/$/.c does not allocate by mtag_memory_get()/' >"$tmp/large"
verdict "large memory comes from memory.c" "$tmp/large"
# The test would notice: a header without a file of its own that comes from above, and owner.c is to call walk.c.
mkdir -p "$tmp/p/kmod" "$tmp/m"
printf '#include "%s"\n' walk.h >"$tmp/p/kmod/planted.h"
printf '#include "%s"\n' planted.h >"$tmp/p/kmod/owner.c"
includes "$tmp/p/kmod/planted.h" "$tmp/p/kmod/owner.c" | sed "s|.*/kmod/|kmod/|" |
	diff - <(echo "kmod/owner.c includes planted.h, which is above it") >"$tmp/planted"
verdict "a planted header from above is noticed" "$tmp/planted"
cp -r Kbuild kmod include "$tmp/m"
cat >>"$tmp/m/kmod/owner.c" <<END
#include "walk.h"
void mtag_owner_planted(void);
void mtag_owner_planted(void) { mtag_walk_verify(); }
END
make -s -C "$headers" M="$tmp/m" kmod/owner.o >"$tmp/log" 2>&1 || sed 's/^/# /' "$tmp/log"
for o in "$objects"/kmod/*.o "$objects"/kmod/*/*.o; do
	[ -e "$tmp/m/${o#"$objects/"}" ] || cp "$o" "$tmp/m/${o#"$objects/"}"
done
upward "$tmp/m" | diff - <(echo "kmod/owner.c uses mtag_walk_verify of kmod/walk.c, which is above it") >"$tmp/planted"
verdict "a planted call that goes up is noticed" "$tmp/planted"
exit $failed
