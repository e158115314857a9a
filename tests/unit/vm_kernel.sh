#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# tests/vm/run tells a kernel that Debian's archive no longer offers from an archive that does not answer, and gets a
# kernel's newest packages although this machine's package lists are old. The archive is a stub.
set -u
cd "$(dirname "$(realpath "$0")")/../.." || exit
. tests/kernel/lib.sh
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export XDG_CACHE_HOME=$tmp/cache PATH=$tmp/bin:$PATH
mkdir -p "$tmp"/{bin,tree/tests/kernel}
cp -r tests/vm tests/lib tests/pkg "$tmp/tree/tests/"
cp tests/kernel/lib.sh "$tmp/tree/tests/kernel/"
cat >"$tmp/tree/tests/vm/kernels/6.16" <<'END'
kernel_key()   { deb_packages 6.16 amd64; }
END
cat >"$tmp/tree/tests/vm/kernels/6.17" <<'END'
kernel_key()   { apt_suite no-such-suite; deb_packages 6.17 amd64; }
END
cat >"$tmp/tree/tests/vm/kernels/6.18" <<'END'
kernel_key()   { deb_packages 6.18 amd64; }
kernel_fetch() { deb_fetch "$1" 6.18 amd64; }
END
cat >"$tmp/tree/tests/vm/kernels/6.19" <<'END'
kernel_key()   { deb_packages 6.19 amd64; }
kernel_fetch() { deb_fetch "$1" 6.19 amd64; }
END

# program NAME: what the harness finds under that name; its text comes on stdin.
program() {
	{ echo '#!/bin/bash'; cat; } >"$tmp/bin/$1"
	chmod 755 "$tmp/bin/$1"
}
# $tmp/archive: the version that the archive has of every package; $tmp/lists: the one that this machine believes in.
program apt-get <<-END
	case \$* in
	*indextargets*) echo http://archive.invalid/debian/ ;;
	*update*) cat "$tmp/answer"; [ ! -s "$tmp/answer" ] || exit 100; cp "$tmp/archive" "$tmp/lists" ;;
	*download*)
		all=\$*
		echo "\${all##*download }" >>"$tmp/downloads"
		[ "\${all##*=}" = "\$(cat "$tmp/archive")" ] || { echo "E: 404  Not Found" >&2; exit 100; }
		;;
	esac
END
program apt-cache <<-END
	case \$* in
	*policy\ linux-source-* | *policy\ linux-headers-6.19*) ;;
	*policy*) echo "  Candidate: \$(cat "$tmp/lists")" ;;
	# Of one image of 6.18 the headers are gone, and of all of 6.19.
	*pkgnames\ linux-image*) printf '%s\n' linux-image-6.12.0-1-amd64 linux-image-6.18.{0,9}-1-amd64 linux-image-6.19.5-1-amd64 ;;
	*pkgnames*) printf '%s\n' linux-headers-6.12.0-1-amd64 linux-headers-6.18.0-1-amd64 ;;
	esac
END
program apt-helper <<-END
	echo "\${@: -2:1}" >>"$tmp/asked"
	[ -s "$tmp/pool" ]
END
program dpkg-deb <<<'echo "unpacked" >&2; exit 2'
program sudo <<<'exec "$@"'
program qemu-system-x86_64 </dev/null

echo 1 >"$tmp/archive"
echo 1 >"$tmp/lists"

# prepare KERNEL ANSWER: asks for it when the archive answers so to an update, with nothing if all is well.
prepare() {
	printf '%s' "${2:+E: $2}" >"$tmp/answer"
	"$tmp/tree/tests/vm/run" --kernel "$1" --build-only --no-module >"$tmp/out" 2>&1 </dev/null
	status=$?
}

# ends STATUS PATTERN NAME
ends() {
	[ "$status" = "$1" ] && grep -q -e "$2" "$tmp/out"
	ok $? "$3" || sed "s/^/# /; \$s/\$/ (status $status)/" "$tmp/out"
}

no_network="Failed to fetch http://archive.invalid/debian/dists: Could not resolve 'archive.invalid'"
no_suite="The repository 'http://archive.invalid/debian no-such-suite Release' does not have a Release file."
prepare 6.16 ''
ends 123 'no longer offers it: linux-image-6\.16\.\*-amd64$' "an archive without the packages no longer offers the kernel"
prepare 6.16 "$no_network"
ends 125 'cannot read the package lists$' "an archive that does not answer is a failure"
prepare 6.17 "$no_suite"
ends 123 'no longer offers it: the suite no-such-suite$' "an archive without the suite no longer offers the kernel"
prepare 6.17 "$no_network"
ends 125 'cannot read the package lists of no-such-suite$' "a suite that cannot be read is a failure"

# skips KERNEL TEST ARG…: the test skips all, as the archive no longer offers that kernel.
skips() {
	MTAG_LONG=1 "$tmp/tree/tests/$2" "${@:3}" >"$tmp/out" 2>&1 </dev/null
	is "$? $(grep -o '^1\.\..*offers it' "$tmp/out")" "0 1..0 # SKIP $1: Debian's archive no longer offers it" \
		"$2 is skipped where $1 is no longer offered" || sed 's/^/# /' "$tmp/out"
}
: >"$tmp/answer"
skips 6.1 vm/unfit.sh
skips 6.16 pkg/t_signing.sh 6.16
skips 6.1-debug vm/planted.sh

# got VERSION… NAME: the packages of 6.18 were asked for in these versions, one after the other.
got() {
	local version want=''
	for version in "${@:1:$#-1}"; do
		want+="linux-headers-6.18.0-1-amd64=$version linux-image-6.18.0-1-amd64=$version"$'\n'
	done
	is "$(cat "$tmp/downloads")" "${want%$'\n'}" "${!#}"
}
echo 2 >"$tmp/archive"
prepare 6.18 ''
got 1 2 "where the archive has newer packages than the lists, the newer ones are fetched"
# Its key is theirs, too, and with it the name of what is prepared.
is "$(sed -n 's/^vm: preparing kernel //p' "$tmp/out" | sort -u | wc -l)" 2 "they are another entry of the cache"
grep -qx unpacked "$tmp/out"
ok $? "they are unpacked"
echo gone >"$tmp/archive"
rm "$tmp/downloads"
prepare 6.18 "$no_network"
ends 125 'cannot download linux-headers' "packages that cannot be had, nor new lists, are a failure"
got 2 "they are asked for once"

echo 1 | tee "$tmp/archive" >"$tmp/lists"
prepare 6.19 ''
ends 123 'no longer offers it: linux-headers-6\.19\.' "headers that neither the lists nor the pool have are no longer offered"
rm "$tmp/asked" "$tmp/downloads"
echo there >"$tmp/pool"
prepare 6.19 ''
is "$(sort "$tmp/asked" | sed 's|^http://archive.invalid/debian/pool/main/l/linux/||' | paste -sd ' ')" \
	"linux-headers-6.19.5-1-amd64_1_amd64.deb linux-headers-6.19.5-1-common_1_all.deb linux-kbuild-6.19.5-1_1_amd64.deb" \
	"what no list has any more comes from the pool"
is "$(cat "$tmp/downloads")" linux-image-6.19.5-1-amd64=1 "and the rest by the lists"

store=$tmp/cache/mtag/store/6.16-0123456789ab
mkdir -p "$store"
ln -s "../store/${store##*/}" "$tmp/cache/mtag/kernels/6.16"
echo 6.16.1-amd64 >"$store/release"
touch -d yesterday "$store/key"
prepare 6.16 ''
ends 0 'going on with the kernel 6\.16 in the cache' "a kernel in the cache is used although it is no longer offered"
prepare 6.16 "$no_network"
[ "$status" = 0 ] && [ ! -s "$tmp/out" ]
ok $? "the archive is not asked again until something changes"
done_testing
