#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The exports of mtagctl, read back by the tools that they are for: go tool pprof, the schema of speedscope,
# promtool, and the OpenMetrics parser of Prometheus's Python client.
cd "$(dirname "$(realpath "$0")")/../.." || exit
. tests/kernel/lib.sh
ctl=$PWD/build/bin/mtagctl
golden=$PWD/tests/unit/ctl_golden/snapshot.jsonl
read_back=$PWD/tests/unit/ctl_exports.py
speedscope=$PWD/tests/lib/speedscope
export LC_ALL=C.UTF-8
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit
# Debian's, for which Debian has the packages.
python() { PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$read_back" "$@"; }

# show FORMAT SNAPSHOT WORD…: into the file FORMAT
show() {
	local form=$1 from=$2
	shift 2
	"$ctl" show -f "$form" -o "$form" --from "$from" "$@"
}
raw() { show pprof "$1" && go tool pprof -raw pprof >raw 2>err && [ ! -s err ] && python pprof "$ctl" "$1" raw; }
linted() { show openmetrics "$@" && promtool check metrics <openmetrics && [ "$(tail -n 1 openmetrics)" = '# EOF' ]; }
parsed() { linted "$@" && python openmetrics "$ctl" "$1" openmetrics ${2:+by_pid}; }

python make_odd odd
python make_wide wide
python make_many many 10000

for from in "$golden" "$tmp/odd"; do
	check "go tool pprof has each byte of ${from##*/}, by tag, process and stack" raw "$from"
done
go tool pprof -top pprof 2>&1 | grep -qx 'Type: rss'
ok $? 'and shows the resident size unless asked for another'
go tool pprof -top -unit B -tagfocus 'tag=^a/b$' pprof 2>/dev/null | grep -q '^ *77824B .* 77824B .* b$'
ok $? 'the label tag picks a path'
is "$(go tool pprof -top -unit B -focus '^db$' -tagroot comm pprof 2>/dev/null | awk '$NF == "db" {print $4}')" \
	"$("$ctl" show -j --from odd | jq -r '[.[] | select(.comm == "db") | .rss_bytes] | add')B" \
	'-tagroot=comm adds up processes by name'
go tool pprof -top pprof 2>/dev/null | grep -q -- '-10$'
ok $((! $?)) 'which are no frames otherwise'
sed 's|"tag": "a\(["/]\)|"tag": "a<x as y>::drop\1|' odd >rust && show pprof rust &&
	go tool pprof -top -unit B pprof 2>/dev/null | grep -qF 'a<x as y>::drop'
ok $? 'and cuts nothing out of names'
show pprof odd
script -qec "'$ctl' show -f pprof --from odd" /dev/null >got </dev/null
is "$? $(tr -d '\r' <got)" "1 mtagctl: show: this format is binary and not for a terminal; name a file: -o FILE" \
	'pprof is not printed to a terminal'
"$ctl" show -f pprof --from odd | cmp - pprof
ok $? 'but into a pipe, always the same'

if schema=$("$speedscope" 2>err); then
	for from in "$golden" "$tmp/odd"; do
		show speedscope "$from"
		check "speedscope's schema allows what is made of ${from##*/}, and its bytes are there" \
			python speedscope "$ctl" "$from" speedscope "$schema"
	done
	grep -q '"exporter":"mtagctl@[0-9.]*"' speedscope
	ok $? 'it says who wrote it'
else
	ok 1 "speedscope's schema is there"
	sed 's/^/# /' err
fi

for from in "$golden" "$tmp/odd" "$tmp/wide"; do
	check "promtool and an OpenMetrics parser find the bytes of ${from##*/} in the metrics" parsed "$from"
done
check 'likewise by process' parsed odd --by-pid
LC_ALL=C grep -q '[^[:print:][:space:]]' <(LC_ALL=C tr -d '\200-\377' <openmetrics)
ok $((! $?)) 'no name does anything to a terminal'
show openmetrics wide
check 'at most 200 tags of a name and cgroup are kept, and with the rest their sums are all' python totals wide openmetrics
"$ctl" show -f table --by-pid --from odd >got 2>err
is "$? $(cat got err)" \
	"1 mtagctl: show: --by-pid is for -f openmetrics; the other formats show each process anyway" \
	'--by-pid is refused where it has no meaning'
for form in pprof speedscope openmetrics; do
	show $form odd && LC_ALL=C "$ctl" show -f $form --from odd | cmp - $form
	ok $? "-f $form is the same in every locale"
done
"$ctl" show -f openmetrics --from - <<<$'{"mtag_snapshot":1,"time_ms":1}\n{"end":0}' >got 2>err
is "$? $(cat err) $(tail -n 1 got)" '0  # EOF' 'no process is no error to a database of metrics'
"$ctl" merge -r /dev/null odd | jq -r 'select(.pid) | "\(.pid) \(.cgroup)"' | sort -u >got
diff got <(jq -r 'select(.pid) | "\(.pid) \(.cgroup)"' odd | sort -u)
ok $? 'merge keeps the cgroups of processes'
echo 'comm s/^(db|big)$/\1/' >rules
"$ctl" merge -r rules odd | jq -r 'select(.comm == "db") | "\(.pid) \(.cgroup)"' | sort -u >got
is "$(cat got)" '10 null' 'but has none for processes of several cgroups'

for form in pprof speedscope openmetrics; do
	(ulimit -t 1 && show $form many)
	ok $? "-f $form of 10,000 tags takes less than a second of CPU"
done
check 'and they are all there' raw many
done_testing
