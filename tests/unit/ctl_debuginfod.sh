#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Functions and lines of a stripped file, whose debug information is on a server of debuginfod: as addr2line has them of
# the file before it was stripped.
cd "$(dirname "$(realpath "$0")")/../.." || exit
. tests/kernel/lib.sh
command -v debuginfod >/dev/null || { echo '1..0 # SKIP no debuginfod here (tests/lib/deps check installs it)'; exit; }
make -s build/tests/unit/ctl_symbols >/dev/null 2>&1 || bail "ctl_symbols does not build"
tmp=$(mktemp -d)
trap 'kill $server 2>/dev/null; wait; rm -rf "$tmp"' EXIT
trap 'exit 143' TERM INT
export DEBUGINFOD_CACHE_PATH=$tmp/cache DEBUGINFOD_URLS=''

mkdir "$tmp/served"
cat >"$tmp/code.c" <<'END'
static inline __attribute__((always_inline)) int inner(volatile int *p)
{
	return *p += 3;
}

static __attribute__((noinline)) int outer(volatile int *p)
{
	return inner(p) + 1;
}

int main(int argc, char **argv)
{
	(void)argv;
	return outer(&argc);
}
END
cc -O1 -g -Wl,--build-id -o "$tmp/whole" "$tmp/code.c" || bail "cc"
objcopy --only-keep-debug "$tmp/whole" "$tmp/served/code.debug"
objcopy --strip-all "$tmp/whole" "$tmp/code"
# Of a position-independent program addresses are offsets in the file, as its code is linked.
at=$(nm "$tmp/whole" | awk '$3 == "outer" {print $1}')
found() { build/tests/unit/ctl_symbols "$tmp/code" "$((0x$at))"; }
truth=$(addr2line -i -f -e "$tmp/whole" "$at")

is "$(found)" "" "without a server a stripped file has no functions"
port=$((20000 + $$ % 20000))
debuginfod -p $port -d "$tmp/index" -F "$tmp/served" >"$tmp/log" 2>&1 &
server=$!
indexed() { curl -sf -o /dev/null "http://127.0.0.1:$port/buildid/$id/debuginfo"; }
id=$(readelf -n "$tmp/code" | sed -n 's/.*Build ID: //p')
until_true 60 indexed || bail "the server has no debug information: $(tail -3 "$tmp/log")"
export DEBUGINFOD_URLS=http://127.0.0.1:$port
is "$(found)" "$truth" "with one it has those that addr2line finds in the whole one"
id_files() { (cd "$1" && find . -path "*/$id/debuginfo"); }
mkdir "$tmp/own"
unset DEBUGINFOD_CACHE_PATH XDG_CACHE_HOME
is "$(HOME=$tmp/own found; id_files "$tmp/own")" "$truth
./.cache/debuginfod_client/$id/debuginfo" "they are kept below HOME"
mkdir "$tmp/own/.debuginfod_client_cache"
is "$(HOME=$tmp/own found; id_files "$tmp/own/.debuginfod_client_cache")" "$truth
./$id/debuginfo" "or where older clients have kept them"
export DEBUGINFOD_CACHE_PATH=$tmp/cache
kill $server
wait $server
is "$(found)" "$truth" "and not fetched again"

# As by sudo -E: root, with the variables of another user, who has put links and files where the cache would be.
if [ "$(id -u)" = 0 ]; then
	mkdir -p "$tmp/theirs/.cache" "$tmp/linked"
	chmod 755 "$tmp"
	cp -r "$tmp/cache" "$tmp/theirs/files"
	ln -s "$tmp/linked" "$tmp/theirs/link"
	ln -s "$tmp/linked" "$tmp/theirs/.cache/debuginfod_client"
	chown -hR 65534:65534 "$tmp/theirs"
	unset DEBUGINFOD_CACHE_PATH
	is "$(HOME=$tmp/theirs found; ls -A "$tmp/linked")" "" "a link in another user's home leads root nowhere"
	export HOME=$tmp/theirs XDG_CACHE_HOME=$tmp/theirs
	is "$(DEBUGINFOD_CACHE_PATH=$tmp/theirs/link found; ls -A "$tmp/linked")" "" "nor one in place of the cache"
	is "$(DEBUGINFOD_CACHE_PATH=$tmp/theirs/files found)" "" "nor does root read what is in another user's cache"
fi
done_testing
