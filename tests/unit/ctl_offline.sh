#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# mtagctl with snapshot files instead of a kernel: what it prints, exit statuses, files, and the time
# that 10,000 tags take. Graphviz reads the graph back.
cd "$(dirname "$(realpath "$0")")/../.." || exit
ctl=$PWD/build/bin/mtagctl
golden=$PWD/tests/unit/ctl_golden/snapshot.jsonl
n=0
export LC_ALL=C.UTF-8
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit

ok() { # NAME, after the command that is tested
	local status=$?
	n=$((n + 1))
	[ $status = 0 ] && echo "ok $n - $1" || echo "not ok $n - $1"
}
# fails STATUS PATTERN WORD…: mtagctl ends so, with this on stderr and nothing on stdout.
fails() {
	local want=$1 pattern=$2 got
	shift 2
	"$ctl" "$@" >out 2>err
	got=$?
	[ "$got" = "$want" ] && [ ! -s out ] && grep -q "^mtagctl: $pattern" err
	ok "mtagctl $*: status $want, $pattern"
}

"$ctl" show -j -s --from "$golden" >show.json
rss=$(jq -s 'map(.rss_bytes // 0) | add' "$golden")
jq -e "length == 9 and (map(.rss_bytes) | add) == $rss" show.json >/dev/null
ok 'show -j has all tags of a snapshot'
diff <(jq -c '.[]' show.json) <(jq -c 'select(.pid) | del(.parent_id)' "$golden")
ok 'with the keys and values of the file'
"$ctl" show --from "$golden" 4711 | grep -q '^db/cache  *100.0MiB 100.0MiB   4.0KiB        0   1.5MiB'
ok 'show PID picks a process'
"$ctl" tree --from - 4711 <"$golden" | grep -q '^├─ db \|^└─ db '
ok 'tree reads standard input'
diff <("$ctl" show -f tree --from "$golden" 4711) <("$ctl" tree --from "$golden" 4711)
ok 'show -f tree is what tree prints'
diff <("$ctl" show -f json -f table -j --from "$golden") <("$ctl" show -f json --from "$golden") &&
	diff <("$ctl" -j show -f table --from "$golden") <("$ctl" show --from "$golden")
ok 'of -f and -j the last one counts'
[ "$("$ctl" show -f folded --from "$golden" | awk '{ s += $NF } END { printf "%.0f", s }')" = "$rss" ]
ok 'the sum of all folded lines is the RSS'
"$ctl" show -f dot -o graph.dot --from "$golden" && grep -q '^digraph' graph.dot && ! compgen -G 'graph.dot.*'
ok '-o writes a file, and leaves no other'
cp graph.dot before
fails 2 "cannot open the snapshot 'none': No such file" show -o graph.dot --from none
cmp -s before graph.dot
ok 'after an error the file is as it was'
fails 2 "no process 5 in this sample of " tree --from "$golden" 5
fails 2 "$golden: no sample 2; it has 1" show --from "$golden" --sample 2
fails 1 '--sample chooses a sample of a file' show --sample 2
fails 1 "invalid sample '0'" show --from "$golden" --sample 0
fails 1 "show: unknown format 'pdf' (table, tree, json, dot or folded)" show -f pdf
head -n -1 "$golden" | cat "$golden" - >cut
fails 2 'cut: line 22: the file ends within the sample that begins in line 12; it is truncated' show --from cut
"$ctl" show --from cut --sample 1 >/dev/null
ok 'a whole sample of a truncated file can be read'
echo precious >other
fails 2 "'other' exists and is no snapshot file" snapshot -o other
[ "$(cat other)" = precious ]
ok 'snapshot leaves a file of another kind alone'
printf '%s' '{"mtag_snapshot":1,' >torn
fails 2 "'torn' ends within a line" snapshot -o torn
fails 1 'snapshot: a size and a number of files need a file' snapshot -m 1M
fails 1 "snapshot: invalid size '1T'" snapshot -m 1T -o x
fails 1 "snapshot: invalid size '9999999999G'" snapshot -m 9999999999G -o x
fails 1 "snapshot: invalid interval '0'" snapshot -i 0

# sample TIME COMM:TAG:ANON:FILE:SWAP…: a sample of processes with a tag each, to stdout
sample() {
	local time=$1 pid=0 comm tag anon file swap
	shift
	echo "{\"mtag_snapshot\":1,\"time_ms\":$time}"
	for word; do
		IFS=: read -r comm tag anon file swap <<<"$word"
		pid=$((pid + 1))
		printf '{"pid":%d,"comm":"%s","id":2,"parent_id":0,"tag":"%s","rss_bytes":%d,"anon_bytes":%d,' \
			$pid "$comm" "$tag" $((anon + file)) "$anon"
		printf '"file_bytes":%d,"shmem_bytes":0,"swap_bytes":%d,"peak_rss_bytes":0}\n' "$file" "$swap"
	done
	echo "{\"end\":$pid}"
}
sample 1000 db:a:4096:0:0 db:a:4096:0:0 db:b:8192:4096:0 web:x:1048576:0:0 web:same:4096:0:0 >one
sample 3601000 db:a:20480:0:0 db:b:4096:4096:4096 web:same:4096:0:0 new:n:4096:0:0 >two
"$ctl" diff one two >got
diff - got <<-'END'
	COMM            TAG                          BEFORE    AFTER    CHANGE      SWAP
	db              a                            8.0KiB  20.0KiB  +12.0KiB         0
	new             n                                 0   4.0KiB   +4.0KiB         0
	db              b                           12.0KiB   8.0KiB   -4.0KiB   +4.0KiB
	web             x                            1.0MiB        0   -1.0MiB         0
	total                                        1.0MiB  32.0KiB   -1.0MiB   +4.0KiB
END
ok 'diff shows what changed, processes of a name together, the largest growth first'
"$ctl" -j diff one two | jq -e '.[2] == {comm: "db", tag: "b", before_rss_bytes: 12288, after_rss_bytes: 8192,
	rss_delta_bytes: -4096, anon_delta_bytes: -4096, file_delta_bytes: 0, shmem_delta_bytes: 0,
	swap_delta_bytes: 4096}' >/dev/null
ok 'diff -j has the parts'
{
	sample 0 leak:l:4096:0:0 cache:c:4096:0:0 once:o:0:0:0 drop:d:4096:8192:0
	sample 1800000 leak:l:0:0:8192 cache:c:8192:0:0 once:o:4096:0:0 drop:d:8192:4096:0
} >series
sample 3600000 leak:l:12288:0:0 cache:c:4096:0:0 once:o:4096:0:0 drop:d:12288:0:0 late:n:4096:0:0 >last
"$ctl" diff --growth series last >got
diff - got <<-'END'
	COMM            TAG                  FIRST     LAST    CHANGE  AN HOUR      GREW
	drop            d                   4.0KiB  12.0KiB   +8.0KiB   8.0KiB       2/2
	leak            l                   4.0KiB  12.0KiB   +8.0KiB   8.0KiB       2/2
END
ok 'diff --growth shows what only grew, also into swap or when its files were dropped'
"$ctl" -j diff -g series last | jq -e '.[1] == {comm: "leak", tag: "l", first_bytes: 4096, last_bytes: 12288,
	growth_bytes: 8192, growth_bytes_per_hour: 8192, steps: 2, steps_grown: 2}' >/dev/null
ok 'likewise with -j'
fails 2 'a sample of series is older than the one before it; name the oldest file first' diff --growth last series
fails 2 'diff --growth needs at least 3 samples; there are 2' diff --growth series
fails 1 'diff takes two snapshot files' diff one
fails 1 'diff --growth needs at least one snapshot file' diff --growth
fails 2 'other: line 1: no JSON object' diff one other

{
	sample 1 worker-1:io/t1:4096:0:0 worker-2:io/t2:8192:4096:0 worker-3:x:4096:0:0 other:io/t3:4096:0:0
	sample 2 worker-9:a.b:4096:0:0
} >threads
printf '%s\n' '# threads of a kind' '' 'comm s/^worker-[0-9]+$/worker/' 'tag s|/t([0-9])|/all|' 'tag s/^x$//' \
	'tag s/^(a)\.(b)$/\2\/\1/' >rules
"$ctl" merge --rules rules threads >got 2>err
[ $? = 2 ] && grep -q 'rules: line 6: it has three of the character behind s' err && [ ! -s got ]
ok 'merge names the line of a rule that is none'
sed -i '$d' rules
echo 'tag s,^(a)\.(b)$,\2/\1,' >>rules
"$ctl" merge --rules rules -o merged threads && jq -rc 'select(.pid) | [.pid, .comm, .id, .parent_id, .tag, .rss_bytes]' \
	merged >got
diff - got <<-'END'
	[1,"worker",0,0,"",4096]
	[1,"worker",2,0,"io",0]
	[1,"worker",3,2,"io/all",16384]
	[4,"other",2,0,"io",0]
	[4,"other",3,2,"io/all",4096]
	[1,"worker",2,0,"b",0]
	[1,"worker",3,2,"b/a",4096]
END
ok 'merge folds the processes and tags that rules name alike, in every sample'
"$ctl" show --from merged --sample 1 -f folded | grep -qx 'worker-1;io;all 16384'
ok 'and what it prints can be shown'
: >none.rules
diff <("$ctl" merge -r none.rules two | jq -c 'select(.pid) | del(.id)' | sort) \
	<("$ctl" show -j -s --from two | jq -c '.[] | del(.id) | . as $o | {pid, comm, tag} + {parent_id: 0} + $o' | sort) >/dev/null
ok 'without rules it changes nothing'
echo 'tag s/(/x/' >bad.rules
fails 2 'bad.rules: line 1: Unmatched ( or' merge -r bad.rules two
echo 'path s/a/x/' >bad.rules
fails 2 'bad.rules: line 1: a rule begins with comm or tag' merge -r bad.rules two
printf 'tag s/^(.*)$/\\1%0300d/\n' 0 >long.rules
cp merged kept
fails 2 'two: sample 1: the rules make a name of more than 255 bytes' merge -r long.rules -o merged two
cmp -s merged kept
ok 'then its file is as it was'
fails 1 'merge needs --rules FILE and at least one snapshot file' merge two

awk 'BEGIN {
	print "{\"mtag_snapshot\":1,\"time_ms\":1}"
	for (id = 0; id < 10000; id++)
		printf "{\"pid\":1,\"comm\":\"big\",\"id\":%d,\"parent_id\":0,\"tag\":\"%s\",\"rss_bytes\":%d,\"anon_bytes\":%d," \
			"\"file_bytes\":0,\"shmem_bytes\":0,\"swap_bytes\":0,\"peak_rss_bytes\":0}\n", id, id ? "t" id : "", \
			id * 4096, id * 4096
	print "{\"end\":10000}"
}' >big
for form in table tree json dot folded; do
	(ulimit -t 1 && "$ctl" show -f $form --from big >"big.$form") && [ "$(wc -c <"big.$form")" -gt 100000 ]
	ok "-f $form of 10,000 tags takes less than a second of CPU"
done
(ulimit -t 1 && "$ctl" diff big "$golden" >got && [ "$(wc -l <got)" -gt 9000 ] && "$ctl" diff --growth big big big >/dev/null)
ok 'so does diff, and diff --growth of three samples'
(ulimit -t 1 && "$ctl" merge -r rules big >got && [ "$(wc -l <got)" = 10002 ])
ok 'so does merge'
if command -v dot >/dev/null; then
	dot -Tplain graph.dot | awk '$1 == "node"' | wc -l | grep -qx 11
	ok 'graphviz finds a node for each process and tag'
else
	n=$((n + 1))
	echo "ok $n # SKIP no graphviz here (tests/lib/deps check installs it)"
fi
echo "1..$n"
