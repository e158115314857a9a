#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# known.sh VERSION: fails, and says why, unless mtag knows this version of the kernel: there is a list of its functions
# beside this file. Kbuild asks before it compiles anything. What the nearest known one has is no guess at what the
# kernel has, but shows where to begin: docs/porting.md.
set -eu
here=$(dirname "$0")

# number VERSION: versions in the order of their releases; 7.0 followed 6.19.
number() {
	case $1 in *.*) ;; *) set -- "$1.?" ;; esac
	major=${1%%.*} minor=${1#*.}
	minor=${minor%%[!0-9]*}
	case $major:$minor in
	*[!0-9:]* | :* | *:) echo "mtag: '${1%.\?}' is no version of a kernel, such as 6.12" >&2; exit 2 ;;
	esac
	echo $((major * 20 + minor))
}

version=$(number "${1:-}")
minor=${1#*.}
name=${1%%.*}.${minor%%[!0-9]*}
known=$(ls "$here" | sed -n 's/^functions-\([0-9][0-9.]*\)\.h$/\1/p' | sort -t . -k 1,1n -k 2,2n)
nearest='' least=''
# shellcheck disable=SC2086
for each in $known; do
	[ "$each" != "$name" ] || exit 0
	far=$(($(number "$each") - version))
	far=${far#-}
	# Of two as near it is the older: what a kernel has it mostly has of its predecessors.
	[ -n "$least" ] && [ "$far" -ge "$least" ] || nearest=$each least=$far
done
cat >&2 <<END
mtag: Linux $name is none of the kernels that mtag knows:$(printf ' %s' $known). The nearest is $nearest.
mtag: It is not built for another one: there it could load, and count pages wrongly.
mtag: \`mtagctl doctor\` says which of $nearest's functions the running kernel has; see also docs/porting.md of mtag.
END
exit 1
