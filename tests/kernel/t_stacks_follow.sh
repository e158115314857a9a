#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What a program executes or loads long after mtagctl has begun to take its stacks gets its unwind table, too, also in its
# children: pages that code without frame pointers touches there are beneath complete stacks. In a container it is that of
# its own file, whatever has that path here.
# vm: short=6.1 also=7.3-rt because="who hands them in is mtagctl; t_stacks.c shows on each kernel that it is told of files"
. tests/kernel/lib.sh
tmp=$(mktemp -d)
pids=()
trap 'kill -9 "${pids[@]}" 2>/dev/null; rm -rf "$tmp"' EXIT
export PATH=$PWD/build/bin:$PATH

# The kernel tells files apart by their inodes: what is copied has no table yet.
cp $bin/stacks/late $bin/stacks/late.so "$tmp" || bail "no program"
copy_to() { # FILE
	cp "$tmp/late" "$1" && cp "$tmp/late.so" "$1.so" && cp "$tmp/late.so" "$1-child.so"
}

# begin FILE COMMAND…: has that start the program, which will execute FILE, and load FILE.so and, in a child, FILE-child.so.
begin() {
	local file=$1
	shift
	rm -f "$tmp/in" "$tmp/out"
	mkfifo "$tmp/in"
	"$@" "$tmp/late" "$file" "$file.so" "$file-child.so" <"$tmp/in" >"$tmp/out" 2>&1 &
	pid=$!
	pids+=("$pid")
	exec 9>"$tmp/in"
	until_true 60 grep -qs begun "$tmp/out" || bail "the program does not begin: $(cat "$tmp/out")"
}

# touched_by PID: the files whose code has touched 64 pages there, each beneath one complete stack.
touched_by() {
	mtagctl stacks --no-symbols -j -n 10000 "$1" |
		jq -r 'map(select(.anon_bytes == 64 * 4096 and .complete) | .stack[-1].module) | sort | join(" ")'
}

has_ended() { grep -qs ^child "$tmp/out" || ! kill -0 "$pid" 2>/dev/null; }
none_left() { ! pgrep -x mtagctl >/dev/null; }

# follows WHAT FILE: the program that has begun goes on.
follows() {
	local child
	echo >&9
	until_true 80 has_ended && grep -q ^child "$tmp/out"
	ok $? "$1: tables come for a program that is executed, a library, and one of a child" ||
		{ sed 's/^/# /' "$tmp/out"; return; }
	child=$(awk '/^child/ {print $2}' "$tmp/out")
	pids+=("$child")
	is "$(touched_by "$pid")" "$2 $2.so" "$1: what program and library touch is beneath complete stacks"
	is "$(touched_by "$child")" "$2 $2-child.so $2.so" "$1: so is what the child touches by its own"
	kill -9 "$child" "$pid"
	wait "$pid" 2>/dev/null
	until_true 20 none_left
	ok $? "$1: who waited for files has ended with it"
}

copy_to "$tmp/run"
begin "$tmp/run" mtagctl run --stacks --
follows run "$tmp/run"

copy_to "$tmp/track"
begin "$tmp/track" env --
check "a running program is tracked" mtagctl track --stacks "$pid"
follows track "$tmp/track"

# A forked child that there was already is followed like those to come.
copy_to "$tmp/relative"
# shellcheck disable=SC2016
begin "$tmp/relative" mtagctl run -- sh -c 'exec 3<&0; (echo begun; read -r go; shift; exec "$@") <&3 & wait' sh
check "a process with a child is tracked" mtagctl track --stacks "$pid"
pid=$(pgrep -P "$pid")
pids+=("$pid")
follows "a child from before" "$tmp/relative"

# Where another file system is mounted on a directory, which has other files of the same names.
mkdir "$tmp/box"
for file in it it.so it-child.so; do cp /bin/true "$tmp/box/$file"; done
cat >"$tmp/contained" <<'END'
cd "$1" && mount -t tmpfs none box && cp late box/it && cp late.so box/it.so && cp late.so box/it-child.so || exit
shift
exec "$@"
END
begin "$tmp/box/it" mtagctl run --stacks -- unshare -m sh "$tmp/contained" "$tmp"
follows "a container" "$tmp/box/it"
is "$(cat "$tmp"/box/* | cmp - <(cat /bin/true /bin/true /bin/true))" "" "while here are other files of these names"
is "$(health drift)" 0 "no drift"
done_testing
