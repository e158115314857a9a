#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# mtagctl with snapshot files instead of a kernel: what it prints, exit statuses, files, and the time
# that 10,000 tags take. Graphviz reads the graph back.
cd "$(dirname "$(realpath "$0")")/../.." || exit
ctl=$PWD/build/bin/mtagctl
golden=$PWD/tests/unit/ctl_golden/snapshot.jsonl
n=0
export LC_ALL=C.UTF-8
shopt -s lastpipe # ok counts in this shell
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
diff <("$ctl" top -j -b tag --from "$golden" | jq -S '[.[] | {tag, rss_bytes, processes}] | sort_by(.tag)') \
	<(jq -S 'group_by(.tag) | map({tag: .[0].tag, rss_bytes: (map(.rss_bytes) | add), processes: length})' show.json)
ok 'top --by tag has the sums over the processes of a snapshot'
"$ctl" top --from "$golden" -s pid | awk 'NR == 2 && $1 == 12 || $1 == "total" && $2 == "5.0G" {n++} END {exit n != 2}'
ok 'top prints a table of it, sorted'
"$ctl" top --from "$golden" -j --by cgroup | jq -e 'map(.rss_bytes) | add == '"$rss" >/dev/null
ok 'by cgroup the sums are the same'
diff <("$ctl" tree -f dot --from "$golden" 4711) <("$ctl" show -f dot --from "$golden" 4711) &&
	diff <("$ctl" tree -f dot -f json --from "$golden" 4711) <("$ctl" -j tree --from "$golden" 4711) &&
	"$ctl" tree -f folded -o tree.folded --from "$golden" 4711 && grep -q '^postgres-4711;db;cache ' tree.folded
ok 'tree takes the same formats and -o; its JSON is its own'
diff <("$ctl" show -f json -f table -j --from "$golden") <("$ctl" show -f json --from "$golden") &&
	diff <("$ctl" -j show -f table --from "$golden") <("$ctl" show --from "$golden")
ok 'of -f and -j the last one counts'
[ "$("$ctl" show -f folded --from "$golden" | awk '{ s += $NF } END { printf "%.0f", s }')" = "$rss" ]
ok 'the sum of all folded lines is the RSS'
shared=${golden%.jsonl}-pss.jsonl
diff <("$ctl" show --from "$shared" 4711) <(sed -n '/^process 4711/,/^lost/p' "${golden%/*}/show-pss.txt") &&
	diff <("$ctl" show --pss --from "$shared") <("$ctl" show --from "$shared")
ok 'USS and PSS of a snapshot are shown as they were'
"$ctl" -j tree --from "$shared" 4711 | jq -e 'map(.pss_bytes) as $each |
	(.[] | select(.tag == "db") | .total_pss_bytes) == ([.[] | select(.tag | startswith("db")) | .pss_bytes] | add)' >/dev/null
ok 'tree adds up the PSS of the tags below'
fails 2 "this sample of $golden has no USS and PSS of process 12" show --pss --from "$golden"
fails 1 'show: --pss is for the formats table, tree and json' show --pss -f dot --from "$shared"
sed 's/"pss_bytes":[0-9]*,//' "$shared" >half
fails 2 'half: line 2: "pss_bytes" is missing or wrong' show --from half
diff <("$ctl" show -o - --from "$golden") <("$ctl" show --from "$golden") && [ ! -e - ] &&
	"$ctl" merge -r /dev/null -o - "$golden" | grep -q '"mtag_snapshot"' && [ ! -e - ] &&
	"$ctl" heap -o - --from "${golden%/*}/heap.jsonl" | grep -q ASKED && [ ! -e - ]
ok '-o - is standard output, and no file of that name'
fails 1 'snapshot: a size and a number of files need a file' snapshot -m 1M -o -
"$ctl" show -f dot -o graph.dot --from "$golden" && grep -q '^digraph' graph.dot && ! compgen -G 'graph.dot.*'
ok '-o writes a file, and leaves no other'
cp graph.dot before
fails 2 "cannot open the snapshot 'none': No such file" show -o graph.dot --from none
cmp -s before graph.dot
ok 'after an error the file is as it was'
fails 2 "no process 5 in this sample of " tree --from "$golden" 5
fails 2 "no process 5 in this sample of " tree --from "$golden" -o graph.dot 5
cmp -s before graph.dot
ok 'so it is if the process of tree is not there'
fails 2 "no process 5 in this sample of " show --from "$golden" -f json -o graph.dot 5
cmp -s before graph.dot
ok 'and if no process of show is'
fails 2 "process 4711 has no tag 'zz'; .mtagctl tree --from $golden 4711. shows its tags" stacks --from "$golden" -t zz 4711
fails 2 "no process has a tag 'zz'; .mtagctl show --from $golden. shows the tags" stacks --from "$golden" -t zz
fails 2 "$golden: no sample 2; it has 1" show --from "$golden" --sample 2
fails 1 '--sample chooses a sample of a file' show --sample 2
fails 1 "invalid sample '0'" show --from "$golden" --sample 0
fails 1 "show: unknown format 'pdf' (table, tree, json, dot, folded, pprof, speedscope, openmetrics, svg or html)" show -f pdf
fails 1 "tree: unknown format 'pdf' (table" tree -f pdf 4711
head -n -1 "$golden" | cat "$golden" - >cut
fails 2 'cut: line 22: the file ends within the sample that begins in line 12; it is truncated' show --from cut
"$ctl" show --from cut --sample 1 >/dev/null
ok 'a whole sample of a truncated file can be read'
echo precious >other
fails 2 "'other' exists and is no snapshot file" snapshot -o other
[ "$(cat other)" = precious ]
ok 'snapshot leaves a file of another kind alone'
printf '%s' '{"mtag_snapshot":1,' >torn
fails 2 "'torn' ends within a sample" snapshot -o torn
head -n 3 "$golden" >torn
fails 2 "'torn' ends within a sample" snapshot -o torn
fails 1 'snapshot: a size and a number of files need a file' snapshot -m 1M
fails 1 "snapshot: invalid size '1T'" snapshot -m 1T -o x
fails 1 "snapshot: size '9999999999G' is too large (at most 8589934591G)" snapshot -m 9999999999G -o x
fails 1 "snapshot: size '0K' is too small (at least 1 byte)" snapshot -m 0K -o x
fails 1 "snapshot: invalid interval '0' (seconds, 0.01 to 31536000)" snapshot -i 0
fails 1 "limit: size '0' is too small (at least 1 byte)" limit 1 a 0
fails 1 "limit: size '99999999999999999999' is too large (at most 8589934591G)" limit 1 a 99999999999999999999
fails 1 "limit: invalid size '1T' (bytes, or as 64K, 64M, 64G)" limit 1 a 1T
fails 1 "limit: invalid timeout '1e9' (seconds, 0.01 to 31536000)" limit -t 1e9 1 a 1
fails 1 "top: invalid delay '1e9' (seconds, 0.01 to 31536000)" top -d 1e9
gzip -c "$golden" >golden.gz
fails 2 'golden.gz: line 1: the file is compressed; decompress it, as by `zcat FILE | mtagctl' show --from golden.gz

# sample TIME COMM:TAG:ANON:FILE:SWAP…: a sample of processes with a tag each, and one above it, to stdout
sample() {
	local time=$1 pid=0 lines=0 id comm tag anon file swap
	shift
	echo "{\"mtag_snapshot\":1,\"time_ms\":$time}"
	for word; do
		IFS=: read -r comm tag anon file swap <<<"$word"
		pid=$((pid + 1))
		id=0
		if [[ $tag = */* ]]; then
			id=2 lines=$((lines + 1))
			printf '{"pid":%d,"comm":"%s","id":2,"parent_id":0,"tag":"%s","rss_bytes":0,"anon_bytes":0,' \
				$pid "$comm" "${tag%%/*}"
			printf '"file_bytes":0,"shmem_bytes":0,"swap_bytes":0,"peak_rss_bytes":0}\n'
		fi
		printf '{"pid":%d,"comm":"%s","id":3,"parent_id":%d,"tag":"%s","rss_bytes":%d,"anon_bytes":%d,' \
			$pid "$comm" $id "$tag" $((anon + file)) "$anon"
		printf '"file_bytes":%d,"shmem_bytes":0,"swap_bytes":%d,"peak_rss_bytes":0}\n' "$file" "$swap"
	done
	echo "{\"end\":$((pid + lines))}"
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
cat one two >both
diff <("$ctl" diff --since 3600 both) <("$ctl" diff one two) && diff <("$ctl" diff --since 1800 series last) \
	<("$ctl" diff <(sed '/"end"/q' <<<"$(sed '1,/"end"/d' series)") last) &&
	diff <("$ctl" diff --since 3000 series last) <("$ctl" diff <(sed '/"end"/q' series) last)
ok 'diff --since compares the last sample with the last one that is so much older'
diff <("$ctl" diff -f json one two) <("$ctl" -j diff one two) && diff <("$ctl" diff -j -f table one two) <("$ctl" diff one two)
ok 'diff -f json is diff -j, and of -f and -j the last one counts'
diff <("$ctl" top -f json --from one) <("$ctl" top -j --from one) && diff <("$ctl" top -f table --from one) <("$ctl" top --from one)
ok 'so it is with top'
# with_stack RATE BYTES: a sample in which one stack of a process has so much, taken at that rate
with_stack() {
	sample 1000 c:a:4096:0:0 | sed 's/snapshot":1/snapshot":2/; $d'
	printf '{"pid":1,"id":3,"stack":[{"function":"leak"}],"anon_bytes":%d,"swap_bytes":0,"why":"complete","one_in":%d,' $2 $1
	printf '"uncounted_bytes":0}\n{"end":1,"stacks":1}\n'
}
with_stack 64 4096 >rate64
with_stack 64 12288 >rate64.later
with_stack 1 1048576 >rate1
nulls='"file":null,"line":null,"module":null,"offset":null,"build_id":null,"inlined":false'
sed '/"stack"/s/"anon_bytes"/"touched_bytes":null,&/; s/"function":"leak"/&,'"$nulls"'/' rate64 >nulls
for from in rate64 nulls; do
	"$ctl" stacks -j --from $from | grep -F '"stack":[{"function":"leak",'"$nulls"'}],' | grep -q '"touched_bytes":null,'
	ok "$from: a stack in a file has no key, or null, for what is unknown; stacks -j has null"
done
"$ctl" diff --stacks rate64 rate64.later | grep -q '^c .*+8.0KiB'
ok 'diff --stacks compares stacks that were sampled alike'
fails 2 'rate1: stacks of .c. were sampled at different rates' diff --stacks rate64 rate1
fails 2 'rate1: stacks of .c. were sampled at different rates' diff --stacks --growth rate64 rate1
fails 2 'a sample of series is older than the one before it; name the oldest file first' diff --growth last series
fails 2 'a sample of series is older than the one before it; name the oldest file first' diff --since 1800 last series
fails 2 'diff --growth needs at least 3 samples; the files have 2' diff --growth series
fails 1 'diff takes two snapshot files; or --since SEC and one' diff one
fails 2 'both: no sample is 3601 s older than the last; the oldest is 3600 s older' diff --since 3601 both
fails 1 'diff --since needs at least one snapshot file' diff --since 60
fails 1 'diff --since reads its files twice, which standard input cannot be' diff --since 60 -
fails 1 'diff: --since compares two samples, --growth all of a series: give one of them' diff --since 60 -g both
{
	sample 0 w:a:4096:0:0
	sample 1000 other:a:4096:0:0 w:b:4096:0:0
	sample 2000 w:a:12288:0:0
	sample 3000 w:a:8192:0:0
} >played
TZ=UTC "$ctl" watch --from played 1 >got
diff - got <<-'END'
	00:00:00  sample 1  process 1 (w)
	TAG               RSS         Δ     ANON     FILE    SHMEM     SWAP
	a              4.0KiB         0   4.0KiB        0        0        0
	total          4.0KiB         0   4.0KiB        0        0        0

	00:00:01  sample 2  process 1 (other)
	TAG               RSS         Δ     ANON     FILE    SHMEM     SWAP
	a              4.0KiB         0   4.0KiB        0        0        0
	total          4.0KiB         0   4.0KiB        0        0        0

	00:00:02  sample 3  process 1 (w)
	TAG               RSS         Δ     ANON     FILE    SHMEM     SWAP
	a             12.0KiB   +8.0KiB  12.0KiB        0        0        0
	total         12.0KiB   +8.0KiB  12.0KiB        0        0        0

	00:00:03  sample 4  process 1 (w)
	TAG               RSS         Δ     ANON     FILE    SHMEM     SWAP
	a              8.0KiB   -4.0KiB   8.0KiB        0        0        0
	total          8.0KiB   -4.0KiB   8.0KiB        0        0        0
END
ok 'watch --from plays the samples of a file'
"$ctl" -j watch --from played 1 | jq -s -e 'map(.[0].rss_delta_bytes) == [0, 0, 8192, -4096] and .[3][0].time_ms == 3000' >/dev/null
ok 'with -j a line each, with their own times'
diff <("$ctl" watch -f json --from played 1) <("$ctl" -j watch --from played 1) && diff <(TZ=UTC "$ctl" -j watch -f table --from played 1) got
ok '-f json is -j, -f table the table'
[ "$("$ctl" watch --from played 2 | grep -c sample)" = 1 ] && [ "$("$ctl" watch --from - -n 2 1 <played | grep -c sample)" = 2 ]
ok 'those that have the process, and no more than -n'
fails 2 'no process 9 in any sample of played' watch --from played 9
fails 2 "cannot open the snapshot 'none': No such file" watch --from none 1
fails 1 'watch: the samples of a file have their own times; a delay is for live ones' watch --from played -d 2 1
head -n -1 played >cut
"$ctl" watch --from cut 1 >got 2>err
[ $? = 2 ] && grep -q '^mtagctl: cut: line 13: the file ends within the sample' err && [ "$(grep -c sample got)" = 3 ]
ok 'it plays the whole samples of a truncated file, and names the line'
cat two one >backwards
fails 2 'backwards: sample 2 is older than the one before it; --sample shows one of them' show -f html --from backwards
fails 2 'no process 9 in any sample of one' show -f html -o got.html --from one 9
fails 1 'diff --growth needs at least one snapshot file' diff --growth
fails 2 'other: line 1: no JSON object' diff one other

{
	sample 1 worker-1:io/t1:4096:0:0 worker-2:io/t2:8192:4096:0 worker-3:x:4096:0:0 other:io/t3:4096:0:0
	sample 2 worker-9:a.b:4096:0:0
} >threads
printf '%s\n' '# threads of a kind' '' 'comm s/^worker-[0-9]+$/worker/' 'tag s|/t([0-9])|/all|' 'tag s/^x$//' \
	'tag s/^(a)\.(b)$/\2\/\1/' >rules
"$ctl" merge --rules rules threads >got 2>err
[ $? = 2 ] && grep -q 'rules: line 6: the / behind s comes again behind the third; a rule has three' err && [ ! -s got ]
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
printf 'comm s/.*/all/\ntag s,/.*,/below,\n' >all.rules
of_all() { jq -s 'map(select(.pid)) | [(map(.uss_bytes) | add), (map(.pss_bytes) | add), (map(.pid) | unique | length)]'; }
[ "$("$ctl" merge -r all.rules "$shared" | of_all | jq -c '.[:2]')" = "$(of_all <"$shared" | jq -c '.[:2]')" ] &&
	[ "$("$ctl" merge -r all.rules "$shared" | of_all | jq '.[2]')" = 1 ]
ok 'merge adds up USS and PSS'
echo 'tag s/(/x/' >bad.rules
fails 2 'bad.rules: line 1: Unmatched ( or' merge -r bad.rules two
echo 'path s/a/x/' >bad.rules
fails 2 'bad.rules: line 1: a rule begins with comm or tag' merge -r bad.rules two
refused() { # PATTERN RULE: a rule that is refused when it is read
	printf '%s\n' "$2" >bad.rules
	fails 2 "bad.rules: line 1: $1" merge -r bad.rules two
}
refused 'the / behind s comes less than three times; a rule has three' 'comm s/a/b'
refused '.*None can be escaped: if a name has a /, choose another character, as in s,REGEX,NAME,' 'tag s/a/b\/c/'
refused 'the regular expression is empty; ^ matches every name' 'tag s//x/'
refused '\\2 in the name, but the expression has 1 groups' 'comm s/(d)/\1\2/'
refused '\\1 in the name, but the expression has 0 groups' 'comm s/d/\1/'
unfit() { # PATTERN RULE: a rule that makes a name which is none
	printf '# comment\n%s\n' "$2" >bad.rules
	fails 2 "two: sample 1: line 2 of the rules makes $1" merge -r bad.rules two
}
unfit "'' of 'db', but a process has a name" 'comm s/^db$//'
for name in '[untagged]' '[ksm]' '[other]' '[hidden]'; do
	unfit "'.${name#[}' of 'a', which mtagctl itself calls pages" "tag s/^a\$/$name/"
done
unfit "'.*' of 'a', but a tag's name is printable UTF-8" $'tag s/^a$/\001/'
echo 'comm s/^db$/data/' | "$ctl" merge -r - two | jq -r 'select(.pid) | .comm' | grep -qx data
ok 'merge -r - reads the rules from standard input'
fails 1 'merge: standard input (-) can be given only once' merge -r - -
fails 1 'merge: standard input (-) can be given only once' merge -r rules - -
"$ctl" merge -r none.rules rate64 >got 2>err && [ "$(cat err)" = 'mtagctl: merge: rate64 has stacks, which are left out' ]
ok 'merge says once that it leaves out stacks'
printf 'tag s/^(.*)$/\\1%0300d/\n' 0 >long.rules
cp merged kept
fails 2 'two: sample 1: the rules make a name of more than 255 bytes' merge -r long.rules -o merged two
cmp -s merged kept
ok 'then its file is as it was'
fails 1 'merge needs --rules FILE and at least one snapshot file' merge two

# many PROCESSES TAGS: a sample of so many processes, each with so many tags, a parent for three.
many() {
	awk -v processes="$1" -v tags="$2" 'BEGIN {
		print "{\"mtag_snapshot\":1,\"time_ms\":1}"
		for (pid = 1; pid <= processes; pid++)
			for (id = 0; id < tags; id++) {
				above = id > 5 ? int(id / 3) : 0
				path[id] = id ? (above ? path[above] "/" : "") "t" id : ""
				printf "{\"pid\":%d,\"comm\":\"p%d\",\"id\":%d,\"parent_id\":%d,\"tag\":\"%s\",\"rss_bytes\":%d,", \
					pid, pid, id, above, path[id], id * 4096
				printf "\"anon_bytes\":%d,\"file_bytes\":0,\"shmem_bytes\":0,\"swap_bytes\":0,\"peak_rss_bytes\":0}\n", \
					id * 4096
			}
		printf "{\"end\":%d}\n", processes * tags
	}'
}
# cheap SECONDS LINES WORD…: mtagctl prints so many lines, to got, and takes less of CPU. Twice may be bad luck.
# 10,000 tags have a second, several times what they need; 50,000 have three, as a busy machine's seconds are short.
cheap() {
	local seconds=$1 lines=$2 try
	shift 2
	for try in 1 2 3; do
		(ulimit -t "$seconds" && "$ctl" "$@" >got) && [ "$(wc -l <got)" -ge "$lines" ] && return
	done
	return 1
}
many 1 10000 >one.big
many 1000 50 >many.big
many 20000 1 >processes.big
echo 'comm s/^p.*/all/' >all.rules
printf '%s\n' 'comm s/^p/q/' 'tag s/^t/u/' >same.rules
for form in $("$ctl" complete -- show -f '' | tail -n +2); do
	cheap 1 1 show -f "$form" --from one.big && [ "$(wc -c <got)" -gt 50000 ] && cheap 3 1 show -f "$form" --from many.big
	ok "-f $form of 10,000 tags takes less than a second of CPU, that of 1,000 processes with 50 tags less than three"
done
# full NAME WORD…: where a file may not become that large, the exit status says so, and the message.
full() {
	local name=$1
	shift
	(ulimit -f 4 && "$ctl" "$@" >got 2>err)
	[ $? = 2 ] && grep -q '^mtagctl: cannot write .*: File too large$' err
	ok "$name"
}
full 'a limit on the size of files is reported, and no signal' show -j --from one.big
full 'so it is with -o' show -j -o got.json --from one.big
[ ! -e got.json ]
ok 'of which nothing is left'
full 'and by merge' merge -r same.rules one.big
cheap 1 9000 diff one.big "$golden" && cheap 1 1 diff --growth one.big one.big one.big && cheap 3 1 diff many.big many.big
ok 'so does diff, and diff --growth of three samples'
cheap 1 10002 merge -r same.rules one.big && cheap 3 50002 merge -r same.rules many.big &&
	cheap 3 52 merge -r all.rules many.big
ok 'so does merge'
cheap 3 20002 merge -r same.rules processes.big && cheap 3 2 merge -r all.rules processes.big
ok 'of many processes, too, none of them the same or all of them'

# bounded NAME PATTERN WORD…: on stdin a file that is too large for mtagctl: says so, and needs no memory for it.
bounded() {
	local name=$1 pattern=$2
	shift 2
	(ulimit -v 1000000 && "$ctl" "$@" >out 2>err)
	[ $? = 2 ] && [ ! -s out ] && grep -q "^mtagctl: $pattern" err
	ok "$name"
}
yes '{' | tr -d '\n' | bounded 'a line without end ends the reading' 'standard input: line 1: it is longer than' show --from -
yes '{"mtag_snapshot":1,"time_ms":1}' | bounded 'so does a file of headers' 'standard input: line 2: a header within' show --from -
many 1100000 1 | bounded 'a sample has a number of tags' 'standard input: line 1000002: .* more than 1000000 tags' show --from -
{
	echo '{"mtag_snapshot":1,"time_ms":1}'
	printf -v name '%0255d' 0
	awk -v "name=$name" 'BEGIN { for (pid = 1; ; pid++) {
		printf "{\"pid\":%d,\"comm\":\"c\",\"id\":2,\"parent_id\":0,\"tag\":\"%s\",\"rss_bytes\":0,\"anon_bytes\":0,", pid, name
		print "\"file_bytes\":0,\"shmem_bytes\":0,\"swap_bytes\":0,\"peak_rss_bytes\":0}"
	} }'
} | bounded 'and their names a size' 'standard input: line [0-9]*: the names .* more than 64 MiB' show --from -
head -c 1000000 /dev/urandom >random
bounded 'random bytes have a line, too' 'random: line 1: ' diff random one <random
# The largest that there may be, or a quarter of it in a quarter of the memory.
processes=250000
[ -z "${MTAG_LONG:-}" ] || processes=1000000
many "$processes" 1 | (ulimit -v $((processes * 3 / 2)) && "$ctl" show -j --from -) | wc -l | grep -qx 1
ok "a sample of $processes processes is printed in bounded memory"
yes 'comm s/a/b/' | bounded 'so is a file of rules' '/dev/stdin: line 1001: more than 1000 rules' merge -r /dev/stdin one
yes '#' | tr -d '\n' | bounded 'their lines' '/dev/stdin: line 1: it is longer than 4096 bytes' merge -r /dev/stdin one
printf 'comm s/a/\0/' | bounded 'and NULs are named' '/dev/stdin: line 1: it has a NUL' merge -r /dev/stdin one
for most in '[[:alpha:]]{3,}{1,300}{1,300}{1,300}' 'a{2001}'; do
	echo "comm s/$most/b/" | bounded "not written out: $most" '/dev/stdin: line 1: the expression is too large' merge -r /dev/stdin one
done
echo 'comm s/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}+$/uuid/' >uuid.rules
"$ctl" merge -r uuid.rules one >/dev/null
ok 'if it does not have to be'
# tag PID ID PATH BYTES: a line of a sample.
tag() {
	printf '{"pid":%d,"comm":"c","id":%d,"parent_id":0,"tag":"%s","rss_bytes":%s,"anon_bytes":%s,' "$1" "$2" "$3" "$4" "$4"
	echo '"file_bytes":0,"shmem_bytes":0,"swap_bytes":0,"peak_rss_bytes":0}'
}
# sample TIME LINE…: a sample of these.
sample() { printf '{"mtag_snapshot":1,"time_ms":%s}\n' "$1"; shift; printf '%s\n' "$@" "{\"end\":$#}"; }
sample 9007199254740992 "$(tag 1 2 a 4096)" >late
sample 9007199254740993 "$(tag 1 2 a 8192)" >>late
timeout 20 "$ctl" show --from late -f html | head -c 1000000 >late.html
[ "${PIPESTATUS[0]}" = 0 ] && ! grep -q nan late.html
ok 'times far away that differ by a millisecond are drawn'
sample 1 "$(tag 1 2 db 4096000)" >exec
sample 2 "$(tag 1 2 web 4096)" "$(tag 1 3 db 4096000)" >>exec
"$ctl" watch -j --from exec 1 | tail -1 | jq -e 'map(.rss_delta_bytes) | max == 4096 and min == 0' >/dev/null
ok 'watch knows a tag that has another number after exec'
sample 1 "$(tag 7 2 a 4096)" >ended
sample 2 "$(tag 8 2 a 4096)" >>ended
fails 2 'no process 7 in the last sample' tree --from ended -f html -o ended.html 7
{ echo '{"mtag_snapshot":1,"time_ms":1}'; printf '{"stack":[]'; for ((i = 0; i < 30000; i++)); do
	for ((b = 1, key = 0; b < 32768; b *= 2)); do ((i & b)) && printf -v key '%s\\u0061' "$key" || key+=a; done
	printf ',"%s":1' "$key"
done; echo '}'; } >keys
timeout 20 "$ctl" show --from keys 2>&1 | grep -q 'with an escape comes twice'
ok 'a key that is written in many ways is refused at once'
printf 'comm s/(.*)/%s/\n' "$(printf '\\1%.0s' {1..40})" >long.rules
sample 1 "$(tag 1 2 a 4096 | sed "s/\"c\"/\"$(printf '%0250d' 1)\"/")" >deep
fails 2 'deep: sample 1: the rules make' merge -r long.rules deep
touch none.rules
sample 1 "$(tag 1 2 x 1)" "$(tag 1 3 x/y 2)" "$(tag 1 4 'x\u0001' 3)" | sed 's/"id":3,"parent_id":0/"id":3,"parent_id":2/' >odd
[ "$("$ctl" merge -r none.rules odd | jq -r '.tag // empty' | sort | uniq -d | wc -l)" = 0 ]
ok 'merge makes no tag twice'

# ---- -o ----
echo old >private; chmod 600 private
"$ctl" merge -r none.rules -o private one && "$ctl" merge -r none.rules -o fresh one
[ "$(stat -c %a private fresh | sort -u)" = 600 ]
ok 'a file keeps its mode, and a new snapshot is private'
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	echo old >others; chown 12345:12346 others; chmod 640 others
	"$ctl" merge -r none.rules -o others one && [ "$(stat -c '%u:%g %a' others)" = '12345:12346 640' ] && cmp -s others fresh
	ok 'and its owner and group'
	mkdir shared; chmod 755 .; chmod 777 shared; cp one none.rules shared; echo old >shared/others; chmod 664 shared/others
	(cd shared && exec setpriv --reuid 12345 --regid 12345 --clear-groups "$ctl" merge -r none.rules -o others one) 2>err &&
		grep -q "'others' changes its owner or group: Operation not permitted" err &&
		[ "$(stat -c '%u:%g %a' shared/others)" = '12345:12345 604' ]
	ok 'or it is said that they change, and the other group may not read it'
else
	ok 'and its owner and group # SKIP only root gives files away'
fi
mkfifo never; env --ignore-signal=CHLD "$ctl" show --from never >/dev/null 2>&1 &
for ((i = 0; i < 1000; i++)); do [ "$(cat /proc/$!/comm)" = mtagctl ] && [ "$(cat /proc/$!/wchan)" != 0 ] && break; sleep 0.01; done
for ((i = 0, ignored = 1; i < 1000 && ignored; i++)); do
	((ignored = 0x$(sed -n 's/^SigIgn:[[:space:]]*//p' /proc/$!/status) >> 16 & 1)) || :; ((ignored)) && sleep 0.01
done
kill $!; wait $! 2>/dev/null; ((!ignored))
ok 'a caller that ignores SIGCHLD does not make children go unseen'
echo old >real; ln -s real link; { cat one; echo '{'; } >half
"$ctl" merge -r none.rules -o link half 2>err
[ $? = 2 ] && [ "$(cat real)" = old ] && "$ctl" merge -r none.rules -o link one && [ -L link ] && cmp -s real fresh
ok 'what a link leads to is replaced whole, or stays'
mkdir place && (cd place && mkfifo in && { "$ctl" merge -r ../none.rules -o out - <in & } && exec 3>in && sleep 0.2 &&
	kill $! && exec 3>&- && wait; [ "$(ls)" = in ])
ok 'of a file that was not completed nothing is left'
fails 2 '/: line 1: Is a directory' merge -r / one
# sample TAG PROCESSES: a snapshot of that many, each with 100 KiB under that tag, and one of 1 GB.
sample() {
	echo '{"mtag_snapshot":1,"time_ms":5}'
	jq -nc --arg tag "$1" --argjson n "$2" 'range(1; $n + 2) | . as $pid | ({id: 0, tag: "", size: 0},
		{id: 2, tag: $tag, size: (if $pid > $n then 1e9 else 102400 end)}) | {pid: $pid, comm: "p&#10;q", id, parent_id: 0, tag,
		rss_bytes: .size, anon_bytes: .size, file_bytes: 0, shmem_bytes: 0, swap_bytes: 0, peak_rss_bytes: .size}'
	echo "{\"end\":$((2 * $2 + 2))}"
}
sample x 400 >many && "$ctl" show -f html --from many | grep -q '>400 more<\|400 more'
ok 'processes too small for the treemap are one box'
sample 'a&lt;b' 1 | "$ctl" show -f dot --from - >hostile.dot && grep -qF 'a&amp;lt;b' hostile.dot && grep -qF 'p&amp;#10;q' hostile.dot
ok 'what graphviz would take for a reference of HTML is a name'
if command -v dot >/dev/null; then
	dot -Tplain graph.dot | awk '$1 == "node"' | wc -l | grep -qx 11
	ok 'graphviz finds a node for each process and tag'
else
	n=$((n + 1))
	echo "ok $n # SKIP no graphviz here (tests/lib/deps check installs it)"
fi
echo "1..$n"
