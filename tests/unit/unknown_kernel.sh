#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The module is built for no kernel that it does not know, and the refusal says which is the nearest. Its lists, the
# check in compat.h, Kbuild's, and what dkms builds for must mean the same kernels.
cd "$(dirname "$(realpath "$0")")/../.." || exit
. tests/kernel/lib.sh
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
known=kmod/compat/known.sh

# nearest VERSION WANT NAME
nearest() {
	local said
	said=$($known "$1" 2>&1)
	is $? 1 "$3: it is refused"
	grep -q "The nearest is $2\.$" <<<"$said"
	ok $? "$3: $2 is the nearest to $1" || sed 's/^/# /' <<<"$said"
}
mapfile -t lists < <(ls kmod/compat | sed -n 's/^functions-\([0-9.]*\)\.h$/\1/p' | sort -V)
nearest 3.16 "${lists[0]}" "older than the oldest"
nearest 99.1-rc7 "${lists[-1]}" "newer than the newest, and a release candidate"
nearest 6.4.1-amd64 6.1 "between two"
nearest 6.11 6.12 "nearer to the newer one"
for bad in '' linux 6 6.x -6.1; do
	said=$($known "$bad" 2>&1)
	[ $? = 2 ] && [[ $said == *"'$bad' is no version"* ]]
	ok $? "'$bad' is no version" || echo "# $said"
done

# compat.h's own check, without the rest.
sed -n '/^#define MTAG_SINCE/,/^#endif/p' kmod/compat/compat.h >"$tmp/check.h"
dkms=$(sed -n 's/^BUILD_EXCLUSIVE_KERNEL="\(.*\)"/\1/p' dkms.conf)
different=()
for major in 5 6 7 8; do
	for minor in {0..25}; do
		want=no
		[[ " ${lists[*]} " != *" $major.$minor "* ]] || want=yes
		code=$(((major << 16) + (minor << 8)))
		compat=no script=no regex=no
		! cc -E "-DLINUX_VERSION_CODE=$((code + 7))" '-DKERNEL_VERSION(a,b,c)=(((a)<<16)+((b)<<8)+(c))' "$tmp/check.h" \
			>/dev/null 2>&1 || compat=yes
		! $known $major.$minor 2>/dev/null || script=yes
		[[ ! $major.$minor.7-amd64 =~ $dkms ]] || regex=yes
		[ "$compat $script $regex" = "$want $want $want" ] ||
			different+=("$major.$minor: a list $want, compat.h $compat, known.sh $script, dkms.conf $regex")
	done
done
is "${#different[@]}" 0 "the lists, compat.h, known.sh and dkms.conf know the same kernels" ||
	printf '# %s\n' "${different[@]}"

headers=$(ls -d "${XDG_CACHE_HOME:-$HOME/.cache}"/mtag/kernels/6.1/lib/modules/*/build 2>/dev/null)
if [ -z "$headers" ]; then
	skip "no kernel headers in the cache to build with"
else
	cp -r Kbuild kmod include "$tmp"
	# As if the headers were of another version.
	make -C "$headers" "M=$tmp" VERSION=6 PATCHLEVEL=13 CONFIG_DEBUG_INFO_BTF_MODULES= modules >"$tmp/log" 2>&1
	[ $? != 0 ] && [ "$(grep -c 'Linux 6.13 is none of the kernels .* The nearest is 6.12\.$' "$tmp/log")" = 1 ]
	ok $? "a build for an unknown version fails, and says why once" || sed 's/^/# /' "$tmp/log"
	[ -z "$(find "$tmp" -name '*.o')" ] && ! grep -q 'error:' "$tmp/log"
	ok $? "nothing is compiled before" || sed 's/^/# /' "$tmp/log"
fi
done_testing
