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
sparse=$(sed -nE 's/^ *(sparse .*) -Wp,-MMD,.* [^ ]*name\.c.*/\1/p' "$tmp/one")
[[ $cc == *'"name"'*  && -n $sparse && $cc == *-Wmissing-prototypes* ]] || bail "$tmp/one" "these are not the commands"

# To ccache the two are one compiler, so that it knows what both said of the same file in another checkout. For that they
# go by names that do not tell where this is, and sparse's own options stand in the compiler, of which ccache looks at the
# text.
compiler=$(command -v "${cc%% *}")
cat >"$tmp/sparse-gcc" <<END
#!/bin/bash
# ccache may ask for the preprocessor alone.
if [[ " \$* " != *" -E "* ]]; then
	said=\$($sparse "\$@" 2>&1) || exit
	[ -z "\$said" ] || sed 's/^/sparse: /' <<<"\$said" >&2
fi
exec $compiler "\$@"
END
chmod 755 "$tmp/sparse-gcc"
CCACHE_EXTRAFILES=$compiler:$(command -v sparse)
export CCACHE_BASEDIR=$tmp CCACHE_COMPILERCHECK=content CCACHE_EXTRAFILES
# through COMMAND FILE
through() {
	local command=${1//\"name\"/\"$(basename "${2%.c}" | tr - _)\"}
	eval "${command// -I.\// -I$headers/} '$2'"
}
files=0
doc=$(dirname "$(realpath "$headers/Makefile")")/scripts/kernel-doc
cd "$tmp" || exit
for file in kmod/*.c kmod/compat/*.c; do
	through "ccache $tmp/sparse-gcc ${cc#* } -MD -MF $tmp/d -S -o $tmp/s" "$file" >>said 2>&1 ||
		bail said "$file does not compile, or sparse fails on it"
	files=$((files + 1))
done
[ $files -gt 90 ]
result $? 1 "there are files to look at ($files)"
# Only what is said of our own files: the kernel's headers have warnings of their own.
silent() { # NUMBER NAME PATTERN FILE
	out=$(grep -E "$3" "$4" | grep ^kmod/)
	[ -z "$out" ]
	result $? "$1" "$2"
	[ -z "$out" ] || sed "s/^/# /" <<<"$out"
}
silent 2 "sparse has nothing to say" '(warning|error): ' <(sed -n 's/^sparse: //p' said)
silent 3 "the compiler has nothing to say (W=1)" 'warning: .*\[-W[a-z0-9=-]*\]$' said
"$doc" -none kmod/*.c kmod/compat/*.c >doc 2>&1
silent 4 "kernel-doc has nothing to say" 'warning: |error: ' doc
exit $failed
