#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# mtagctl: its exit status and messages for command lines that need no module.
cd "$(dirname "$(realpath "$0")")/../.." || exit
ctl=build/bin/mtagctl
n=0
export LC_ALL=C.UTF-8

# is STATUS WHERE PATTERN WORD…: the exit status, and what is on stdout (1) or stderr (2); the other is empty.
is() {
	local status=$1 where=$2 pattern=$3 out err got
	shift 3
	err=$({ out=$("$ctl" "$@"); got=$?; printf '%s' "$out" >&3; } 2>&1 3>"$tmp"; exit "$got")
	got=$?
	out=$(cat "$tmp")
	[ "$where" = 1 ] || { local swap=$out; out=$err err=$swap; }
	n=$((n + 1))
	if [ "$got" = "$status" ] && [[ $out =~ $pattern ]] && [ -z "$err" ]; then
		echo "ok $n - mtagctl ${*:-without arguments}"
	else
		echo "not ok $n - mtagctl $* (exit $got: $out$err)"
	fi
}

tmp=$(mktemp)
trap 'rm -f "$tmp"' EXIT
is 1 2 '^Usage: mtagctl'
is 0 1 '^Usage: mtagctl' help
is 0 1 '^Usage: mtagctl' -h
is 0 1 '^mtagctl [0-9]' -V
is 0 1 '^mtagctl [0-9]' --version
for command in show tree watch top snapshot diff merge run track untrack stacks heap limit events audit history doctor help \
		complete; do
	is 0 1 "^Usage: mtagctl $command" help "$command"
	is 0 1 "^Usage: mtagctl $command" "$command" --help
	n=$((n + 1))
	if "$ctl" help "$command" | grep '.\{81\}'; then
		echo "not ok $n - the help of $command fits 80 columns"
	else
		echo "ok $n - the help of $command fits 80 columns"
	fi
	is 1 2 "^mtagctl: $command: invalid option '-x'" "$command" -x
done
for command in run merge track untrack snapshot help; do
	for option in -j -p -s --json; do
		is 1 2 "^mtagctl: $command: option '-[jps]' .--[a-z]*. does nothing here; .mtagctl help $command" \
			"$command" "$option"
	done
	is 1 2 "^mtagctl: $command: option '-j' .--json. does nothing here" -j "$command" 1
done
for command in limit diff events audit doctor stacks heap; do
	is 1 2 "^mtagctl: $command: option '-s' .--statistics. does nothing here" "$command" -s
	is 1 2 "^mtagctl: $command: option '-s' .--statistics. does nothing here" -s "$command"
done
for command in watch top diff events audit history; do
	is 1 2 "^mtagctl: $command: unknown format 'dot' .table or json." "$command" -f dot
	is 1 2 "^mtagctl: $command: option '--format' needs a value" "$command" --format
done
is 1 2 "^mtagctl: option '-f' .--format. must follow the command" -f json show
is 1 2 "^mtagctl: run: option '-f' .--format. does nothing here" run -f json
for command in limit events audit history snapshot; do
	is 1 2 "^mtagctl: $command reads only the running kernel; --from does not apply" "$command" --from x
	is 1 2 "^mtagctl: $command reads only the running kernel; --from does not apply" "$command" --from=x
done
is 1 2 "^mtagctl: unknown command 'sho'" sho
is 1 2 "^mtagctl: unknown command 'sho'" help sho
is 1 2 "^mtagctl: invalid option '--nope'" --nope show
is 1 2 "^mtagctl: invalid process id 'abc'" show abc
is 1 2 "^mtagctl: invalid process id '-'" -j audit 1 -
is 1 2 "^mtagctl: process id '99999999999' is too large" track 99999999999
is 1 2 "^mtagctl: invalid process id '.x1b.2J'" show $'\e[2J'
is 1 2 "^mtagctl: unknown command 'a.b.x1b.2Jü.xc2.x9b'" $'a\\b\e[2Jü\xc2\x9b'
is 1 2 "^mtagctl: invalid option '--.x07'" $'--\a'
is 1 2 "^mtagctl: watch: invalid delay '.x1b'" watch 1 -d $'\e'
is 1 2 '^mtagctl: tree takes one process id' tree
is 1 2 '^mtagctl: watch: -s is for the format json' watch -s 1
is 1 2 '^mtagctl: top: --statistics is for the format json, by process' top --statistics
is 1 2 '^mtagctl: top: --statistics is for the format json, by process' top -j --by tag --statistics
is 1 2 '^mtagctl: snapshot: --keep needs --max-size .-m SIZE.' snapshot -o x -k 2
is 2 2 "^mtagctl: doctor: cannot read the module '/nowhere': No such file" doctor -m /nowhere
is 1 2 '^mtagctl: tree takes one process id' tree 1 2
is 1 2 '^mtagctl: watch takes one process id' watch
is 1 2 "^mtagctl: watch: invalid delay 'x'" watch 1 -d x
is 1 2 "^mtagctl: watch: invalid count '0'" watch 1 -n 0
most=18446744073709551615
for command in 'watch 1' top snapshot history events 'diff a b' stacks; do
	is 1 2 "^mtagctl: ${command%% *}: count '${most}0' is too large .at most $most.$" $command -n ${most}0
done
is 1 2 "^mtagctl: sample '${most}0' is too large .at most $most.$" show --from x --sample ${most}0
is 1 2 "^mtagctl: limit: size '$most$most' is too large .at most 8589934591G.$" limit 1 a $most$most
is 1 2 "^mtagctl: limit: size '${most}G' is too large " limit 1 a ${most}G
is 1 2 "^mtagctl: limit: invalid size '${most}x' " limit 1 a ${most}x
is 1 2 "^mtagctl: watch: option '-d' needs a value" watch 1 -d
is 1 2 "^mtagctl: top: no column 'x' .pid, name, tag, rss" top -s x
is 1 2 "^mtagctl: top: cannot group by 'x' .process, tag or cgroup" top --by x
is 1 2 "^mtagctl: top: invalid delay '0'" top -d 0
is 1 2 '^mtagctl: top takes no arguments' top 1
is 1 2 '^mtagctl: top: -d and -n are for live data' top --from x -n 2
is 1 2 "^mtagctl: history: invalid count '0'" history -n 0
is 1 2 '^mtagctl: history: -s is for the format table; json has all tags anyway$' history -j -s
is 1 2 '^mtagctl: history: -s is for the format table' -s history -f json
is 1 2 "^mtagctl: history: --clear forgets all processes; it takes nothing else" history --clear 1
is 1 2 "^mtagctl: history: --clear forgets all processes; it takes nothing else" history --clear -j
is 1 2 '^mtagctl: top: --sample chooses a sample of a file' top --sample 2
is 1 2 '^mtagctl: tree: --by-pid is for show' tree --by-pid -f openmetrics 1
is 1 2 '^mtagctl: track needs at least one process id' track
is 1 2 '^mtagctl: run needs a command' run -t a --
is 1 2 "^mtagctl: run: the tag 'a//b' is malformed " run -t a//b -- true
is 1 2 "^mtagctl: run: --by-thread=pid: must be 'name' .* or 'tid' " run --by-thread=pid -- true
is 1 2 "^mtagctl: run: --by-thread=: must be 'name' " run --by-thread= -- true
is 1 2 '^mtagctl: run: only one of --by-thread=name, --by-thread=tid and --by-map' \
	run --by-thread=tid --by-map -- true
is 1 2 '^mtagctl: run: only one of ' run --by-thread --by-thread=tid -- true
is 1 2 "^mtagctl: run: invalid option '--by-map=x'" run --by-map=x -- true
is 1 2 "^mtagctl: run: the tag '0{64}' is too long " run -t "$(printf '%064d' 0)" -- true
is 1 2 "^mtagctl: run: --stacks=2: must be '1/N'" run --stacks=2 -- true
is 1 2 "^mtagctl: run: --stacks=1/0: must be '1/N'" run --stacks=1/0 -- true
is 1 2 "^mtagctl: track: --stacks=1/x: must be '1/N'" track --stacks=1/x 1
is 1 2 "^mtagctl: track: --stacks=: must be '1/N'" track --stacks= 1
is 1 2 "^mtagctl: track: --stacks=1/4294967296: must be '1/N'" track --stacks=1/4294967296 1
is 1 2 '^mtagctl: track needs at least one process id' track --stacks
is 1 2 "^mtagctl: untrack: invalid option '--stacks'" untrack --stacks 1
for word in exact name tid 1/64; do
	case $word in exact) option=--heap ;; 1/*) option=--stacks ;; *) option=--by-thread ;; esac
	is 1 2 "^mtagctl: run: the command follows '--', which '$word' does not .write $option=$word.$" run $option $word -- true
done
is 1 2 "^mtagctl: track: invalid process id '1/4' .write --stacks=1/4.$" track --stacks 1/4 12
is 1 2 "^mtagctl: invalid process id '1/4' .1 to " track 1/4
is 1 2 "^mtagctl: show: option '--s' is ambiguous .--sample, --statistics.$" show --s
is 1 2 "^mtagctl: show: option '--f' is ambiguous .--from, --format.$" show --f
is 1 2 "^mtagctl: stacks: option '--o=x' is ambiguous .--older, --output.$" stacks --o=x
is 1 2 "^mtagctl: show: invalid option '--x'" show --x
is 1 2 "^mtagctl: show: invalid option '--='" show --=
is 1 2 '^mtagctl: diff: standard input .-. can be given only once$' diff - -
is 1 2 '^mtagctl: diff: standard input .-. can be given only once$' diff --growth - x -
is 1 2 "^mtagctl: run: --heap=all: must be 'exact'" run --heap=all -- true
is 1 2 "^mtagctl: heap: unknown format 'dot' .table, json or pprof" heap -f dot
is 1 2 "^mtagctl: invalid process id '0'" heap 0
is 1 2 '^mtagctl: stacks takes one process id, or none' stacks 1 2
is 1 2 '^mtagctl: stacks: --older and --no-symbols ask the kernel' stacks --from x --older 5
is 1 2 '^mtagctl: --sample chooses a sample of a file' stacks --sample 2
is 1 2 "^mtagctl: diff: invalid count '0' .lines, at least 1" diff -n 0 a b
is 1 2 "^mtagctl: stacks: unknown format 'dot' .table, json, folded, pprof, speedscope, svg or html" stacks -f dot
is 1 2 "^mtagctl: stacks: unknown format 'or' " stacks -f or
is 1 2 "^mtagctl: stacks: unknown format '' " stacks -f ''
is 1 2 "^mtagctl: stacks: invalid count '0' .stacks of each process, at least 1" stacks -n 0
is 1 2 "^mtagctl: stacks: invalid age '1.5' .whole seconds, 1 to 1044464" stacks --older 1.5
is 1 2 "^mtagctl: stacks: invalid age '1044465' .the module tells ages up to 12 days: at most 1044464" stacks --older 1044465
is 1 2 '^mtagctl: stacks: --older and --no-symbols ask the kernel' stacks --from x --older 1044464
is 1 2 "^mtagctl: stacks: malformed tag 'a//b' .components separated by '/', or .untagged" stacks -t a//b
is 1 2 "^mtagctl: invalid process id 'abc'" stacks abc
is 1 2 "^mtagctl: stacks: option '--older' needs a value" stacks --older
is 1 2 '^mtagctl: doctor takes no arguments' doctor 1
is 1 2 "^mtagctl: doctor: option '-m' needs a value" doctor -m
echo "1..$n"
