#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What `make demo` runs in a VM: two programs accounted by tag, one of them untouched.
# Needs root and the module. The exit status is that of `mtagctl audit`: 0 without drift.
set -u
cd "$(dirname "$(realpath "$0")")/.." || exit
export PATH=$PWD/build/bin:$PWD/build/examples:$PATH
tmp=$(mktemp -d)
redis='' ingest='' load='' status=0

finish() {
	# shellcheck disable=SC2086
	kill $redis $ingest $load 2>/dev/null
	wait 2>/dev/null
	rm -rf "$tmp"
}
trap finish EXIT

say() {
	printf '\n'
	fmt -w 80 -g 79 <<<"$*"
	printf '\n'
}

# demo TEXT: shows a command as typed, and runs it.
demo() {
	printf '$ %s\n' "${1//$'\n'/$'\n  '}"
	eval "$1" && return
	status=$?
	echo "(exit status $status)"
}

# until_true SECONDS CMD…: waits until CMD succeeds.
until_true() {
	local deadline=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $deadline ] || return 1
		sleep 0.2
	done
}

die() {
	echo "demo: $*" >&2
	exit 1
}
answers() { [ "$(redis-cli -p 6399 ping)" = PONG ]; }

for program in mtagctl ingest redis-server redis-benchmark redis-cli; do
	command -v $program >/dev/null || die "$program is missing; \`make demo\` installs it"
done
[ -e /dev/mtag ] || die 'the mtag module is not loaded (modprobe mtag)'

cat <<'END'
--------------------------------------------------------------------------------
mtag says which part of which program owns each resident page, exactly: the sum
over a process's tags is its resident set size (RSS), page for page. A kernel
module sees the pages come and go; both programs below have their usual malloc.
--------------------------------------------------------------------------------
END
demo "uname -sr; grep ^mtag /proc/modules"

say "1. A program that knows nothing of mtag. With --by-thread each of its threads \
is a tag; a page belongs to the thread that touched it first."
cd "$tmp" || exit
# Keeps the next two commands short.
printf '%s\n' 'port 6399' 'save ""' 'appendonly no' 'io-threads 3' 'io-threads-do-reads yes' \
	'loglevel warning' >redis.conf
demo "mtagctl run --by-thread -- redis-server redis.conf >redis.log &"
redis=$!
until_true 30 answers || { cat redis.log; die 'redis-server does not answer'; }
demo "redis-benchmark -p 6399 -q -t set -n 30000 -r 30000 -d 1000 -P 8 >load.log &"
load=$!
demo "mtagctl watch $redis -d 1 -n 5"
timeout 30 tail --pid=$load -f /dev/null
kill $load 2>/dev/null
load=''
say "The same after the load has ended:"
demo "mtagctl tree $redis"

say "2. A C++ program that names its parts with libmtag: it reads a file into a \
cache, and a worker thread makes an index of its words (examples/ingest.cpp). \
It asks for its own numbers; mtagctl has the same from outside."
cat /usr/include/*.h /usr/include/{linux,c++/*/bits}/*.h 2>/dev/null | head -c 6M >text
[ -s text ] || seq 800000 >text
demo "ingest --hold 300 text >ingest.log &"
ingest=$!
until_true 60 grep -q touched ingest.log || until_true 1 test -s ingest.log || die 'ingest does not end'
sleep 0.5
demo "cat ingest.log"
printf '\n'
demo "mtagctl tree $ingest"

say "3. The same from debugfs, which needs only a shell:"
demo "cat /sys/kernel/debug/mtag/stats"

say "4. The proof: mtagctl audit walks the page tables of each process and compares \
them with the counters. Drift is the number of pages by which they differ."
demo "mtagctl audit"
if [ $status = 0 ]; then
	say "No drift: every resident page was accounted for."
else
	say "Something above went wrong."
fi
exit $status
