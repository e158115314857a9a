#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The headers in other dialects, compilers and word sizes, and what the library exports.
set -u
cd "$(dirname "$0")/../.." || exit
n=0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# check NAME CMD…
check() {
	local name=$1
	n=$((n + 1))
	shift
	if "$@" >"$tmp/out" 2>&1; then
		echo "ok $n - $name"
	else
		sed 's/^/# /' "$tmp/out"
		echo "not ok $n - $name"
	fi
}
skip() {
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}

# Needs no 32-bit libc: only what the compiler and the kernel's headers have.
asm=/usr/include/$(gcc -print-multiarch 2>/dev/null)
if echo 'int x;' | gcc -m32 -x c -c -o "$tmp/x.o" - 2>/dev/null; then
	check 'the layout is the same for 32-bit programs' \
		gcc -m32 -std=c11 -ffreestanding -Iinclude -isystem "$asm" -fsyntax-only tests/abi/layout.h
else
	skip 'the layout is the same for 32-bit programs' 'this compiler has no -m32'
fi

cat >"$tmp/use.c" <<'END'
#include <mtag.h>
mtag_t (*by_address)(mtag_t) = mtag_enter;
int main(void)
{
	MTAG_SCOPE("a");
	mtag_leave(mtag_enter(mtag_current()));
	return !by_address;
}
END
strict='-Wall -Wextra -Wpedantic -Wshadow -Wno-variadic-macros -Wno-long-long -Werror -Iinclude'
for cc in gcc clang; do
	if ! command -v $cc >/dev/null; then
		skip "$cc takes the headers" "no $cc"
		continue
	fi
	for std in c11 gnu17 c++17; do
		for opt in -O0 -O2; do
			language=c
			[ $std != c++17 ] || language=c++
			# shellcheck disable=SC2086
			check "$cc -std=$std $opt takes mtag.h, and links" \
				$cc -x $language -std=$std $opt $strict "$tmp/use.c" -x none build/lib/libmtag.so -o "$tmp/use"
		done
	done
	# shellcheck disable=SC2086
	check "$cc takes linux/mtag.h" $cc -std=c11 $strict -fsyntax-only -x c include/uapi/linux/mtag.h
	# shellcheck disable=SC2086
	check "$cc takes linux/mtag_unwind.h" $cc -std=c11 $strict -fsyntax-only -x c include/uapi/linux/mtag_unwind.h
done

# malloc-tag's names, as a program of its time includes them, and with all warnings.
for cxx in g++ clang++; do
	for std in c++11 c++20; do
		if command -v $cxx >/dev/null; then
			# shellcheck disable=SC2086
			check "$cxx -std=$std takes malloc_tag.h" $cxx -std=$std -D_GNU_SOURCE $strict -Iinclude/compat \
				-fsyntax-only tests/kernel/malloc_tag.cpp
		else
			skip "$cxx -std=$std takes malloc_tag.h" "no $cxx"
		fi
	done
done

# Two files of a program may include it.
twice() {
	printf '#include "malloc_tag.h"\nint %s() { MallocTagScope s("x"); return 0; }\n' first >"$tmp/first.cpp"
	printf '#include "malloc_tag.h"\nint main() { return MallocTagEngine::init() && false; }\n' >"$tmp/main.cpp"
	g++ -Iinclude -Iinclude/compat "$tmp/first.cpp" "$tmp/main.cpp" build/lib/libmtag.so -o "$tmp/use"
}
check 'two files of a program may include malloc_tag.h' twice

# 32-bit programs and musl's, which `make m32 musl` made a library for: by -m32 of each compiler at hand.
for cc in 'm32 gcc -m32' 'm32 clang -m32' 'musl musl-gcc'; do
	read -r kind cc option <<<"$cc"
	name="$cc${option:+ $option} takes the headers, and links"
	if command -v "$cc" >/dev/null; then
		# shellcheck disable=SC2086
		check "$name" $cc $option -std=c11 -O2 $strict "$tmp/use.c" build/$kind/lib/libmtag.so -o "$tmp/use"
	else
		skip "$name" "no $cc"
	fi
done

exported() {
	nm -D --defined-only "$1" | awk '$2 != "A" {print $3}' | sort >"$tmp/exported"
	diff - "$tmp/exported" <<'END'
mtag_active@@MTAG_0
mtag_child@@MTAG_0
mtag_current@@MTAG_0
mtag_current_slow@@MTAG_0
mtag_default@@MTAG_0
mtag_enter@@MTAG_0
mtag_enter_slow@@MTAG_0
mtag_failures@@MTAG_0
mtag_ignore_environment@@MTAG_0.2
mtag_init@@MTAG_0
mtag_leave@@MTAG_0
mtag_leave_slow@@MTAG_0
mtag_notify@@MTAG_0.2
mtag_path@@MTAG_0
mtag_range@@MTAG_0
mtag_scope_begin@@MTAG_0
mtag_scope_end@@MTAG_0
mtag_scope_slow@@MTAG_0
mtag_scope_tag@@MTAG_0
mtag_scope_tag_slow@@MTAG_0
mtag_thread_word@@MTAG_0
mtag_usage@@MTAG_0
mtag_write@@MTAG_0.2
END
}
stays() { readelf -d "$1" | grep -w NODELETE; }
for kind in '' m32/ musl/; do
	library=build/${kind}lib/libmtag.so
	check "$library exports what it always did, and no more" exported "$library"
	check "$library stays when it is closed: threads may be within it" stays "$library"
done

# Where a program loads the library late, its C library has kept some room for such variables.
few_words() {
	local size
	size=$(readelf -lW build/lib/libmtag.so | awk '$1 == "TLS" {print $6}')
	echo "${size:-no} bytes"
	[ $((size)) -gt 0 ] && [ $((size)) -le 64 ]
}
check 'the library has few thread-local words' few_words

# budget FUNCTION MAX: instructions from its start to the first return, without saving registers.
budget() {
	local count
	count=$(objdump -d --no-show-raw-insn "$tmp/cost.so" |
		awk -v f="<$1>:" '$2 == f {on = 1; next}
			on && /\tret/ {exit}
			on && !/push|pop|%rsp|\tnop|endbr/ {n++}
			END {print n + 0}')
	echo "$1: $count instructions"
	[ "$count" -gt 0 ] && [ "$count" -le "$2" ]
}
cat >"$tmp/cost.c" <<'END'
#include <mtag.h>
void pair(mtag_t tag);
void scope(void);
void pair(mtag_t tag)
{
	mtag_t previous = mtag_enter(tag);
	__asm__ volatile("nop");
	mtag_leave(previous);
}
void scope(void)
{
	MTAG_SCOPE("a");
	__asm__ volatile("nop");
}
END
if [ "$(uname -m)" = x86_64 ]; then
	check 'a shared library that enters and leaves builds' \
		gcc -O2 -fPIC -shared -Iinclude "$tmp/cost.c" -o "$tmp/cost.so" build/lib/libmtag.so
	check 'enter and leave are 10 instructions at most, in a shared library too' budget pair 10
	check 'a scope whose tag is known is 11' budget scope 11
else
	skip 'instructions are counted' 'not x86-64'
fi
echo "1..$n"
