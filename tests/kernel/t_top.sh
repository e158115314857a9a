#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# mtagctl top and watch on a terminal, which tmux is: what stands on the screen after which keys, that numbers are
# those of smaps, and that the terminal is left as it was. Then top with 40 processes (with --long 500) and 50 tags.
# vm: short=6.1 because="what is on the screen is not the kernel's" group=tutorial mem=2G module=linger_ms=2000 timeout=900
. tests/kernel/lib.sh
command -v tmux >/dev/null || bail "no tmux"
export LC_ALL=C.UTF-8
tmp=$(mktemp -d)
terminals=0
# Each terminal has a server of its own: one that is ending would refuse the next.
tmux() { command tmux -u -L "mtag-top-$$-$terminals" -f /dev/null "$@"; }
trap 'tmux kill-server 2>/dev/null; kill -KILL $(jobs -p) 2>/dev/null; rm -rf "$tmp"' EXIT

# ---- the terminal ----

# terminal WIDTH HEIGHT LOCALE: a new one, with a shell.
terminal() {
	tmux kill-server 2>/dev/null
	terminals=$((terminals + 1))
	tmux new-session -d -x "$1" -y "$2" "env -i PATH=$PATH HOME=/root TERM=screen LC_ALL=$3 PS1='ready> ' bash --norc --noprofile"
	where="$1x$2, $3" height=$2
	until_true 20 on_screen '^ready>' || bail "no terminal"
}
screen() { tmux capture-pane -p; }
on_screen() { screen | grep -qE -- "$1"; }
press() { tmux send-keys "$@"; }
# shows NAME PATTERN: it comes to stand on the screen.
shows() {
	until_true 30 on_screen "$2"
	ok $? "$where: $1" || screen | sed 's/^/#   |/'
}
line() { screen | sed -n "$1p"; }
line_is() { line "$1" | grep -qE -- "$2"; }
# line_shows NAME LINE PATTERN
line_shows() {
	until_true 30 line_is "$2" "$3"
	ok $? "$where: $1" || screen | sed 's/^/#   |/'
}
# The shell has the terminal again, as it was: with echo and by the line, the cursor to be seen, the screen the shell's.
is_sane() {
	[ "$(tmux display -p '#{cursor_flag} #{alternate_on} #{keypad_cursor_flag}')" = '1 0 0' ] || return 1
	press C-l "stty -a | tr -d ';' | tr ' ' '\\n' | grep -xE 'icanon|echo|onlcr|icrnl' | wc -l" Enter
	until_true 20 on_screen '^4$'
}
sane() { # NAME [STATUS]
	until_true 20 on_screen "^status=${2:-0}\$" && is_sane
	ok $? "$where: $1" || { screen | sed 's/^/#   |/'; tmux display -p '# #{cursor_flag} #{alternate_on}'; }
}

# ---- programs with known tags ----

# kept SIZE TAG: a program that holds about that much, all of it under this tag, and is stopped; its pid is in $pid.
kept() {
	mkfifo "$tmp/fifo"
	mtagctl run -t "$2" -- tail -c "$1" <"$tmp/fifo" >/dev/null &
	pid=$!
	{ head -c "$1" /dev/zero; exec sleep 10000; } >"$tmp/fifo" &
	until_true 60 resident "$pid" "$1" || bail "$2 does not get its memory"
	rm "$tmp/fifo"
	kill -STOP "$pid"
	until_true 20 grep -q '^State:.T' "/proc/$pid/status"
}
resident() { [ "$(rss "$1")" -ge "$(($(numfmt --from=iec "${2%B}") / 1024))" ]; }
rss() { awk '/^Rss:/ {print $2}' "/proc/$1/smaps_rollup"; }
# A program that grows; its pid is in $pid.
growing() {
	mkfifo "$tmp/fifo"
	mtagctl run -t leak -- sort -S 300M <"$tmp/fifo" >/dev/null &
	pid=$!
	{ for ((i = 0; i < 300; i++)); do head -c 256K /dev/zero; read -rt 0.1 <> <(:); done; exec sleep 10000; } >"$tmp/fifo" &
	feeder=$!
	until_true 20 resident "$pid" 4M
	rm "$tmp/fifo"
}

no_khugepaged
kept 24M db/cache
large=$pid
kept 8M db/cache
small=$pid
mtagctl run -t web/http -- sleep 10000 &
sleeper=$!
group=/sys/fs/cgroup/mtag-top
mkdir -p "$group"
echo "$large" >"$group/cgroup.procs"
until_true 20 eval '[ "$(mtagctl -j show | jq "[.[].pid] | unique | length")" = 3 ]' || bail "three programs are not tracked"
sum=$(($(rss "$large") + $(rss "$small")))

# ---- top ----

orders() {
	line_shows "the largest comes first" 6 "^. +$large tail"
	press N
	line_shows "N sorts by PID" 2 'by process, sorted by PID, ascending$'
	line_shows "from the smallest" 6 "^. +$(printf '%s\n' "$large" "$small" "$sleeper" | sort -n | head -n 1) "
	press r
	line_shows "r inverts that" 6 "^. +$(printf '%s\n' "$large" "$small" "$sleeper" | sort -n | tail -n 1) "
	press s rs Enter
	line_shows "s and some letters sort by a column" 2 'sorted by RSS, largest first$'
	press '>'
	line_shows "> sorts by the next one" 2 'sorted by Δ?RSS/s, '
	press '<'
}
filters() {
	press / slee
	line_shows "a filter acts while it is typed" 2 '^1 of 3 processes, '
	line_shows "it is shown" 4 '^Filter: slee$'
	line_shows "and leaves what matches" 6 "^. +$sleeper sleep"
	press Escape
	line_shows "Esc takes it back" 2 '^3 processes, '
}
folds() {
	shows "a process with memory under one tag is one row" "^ +$large tail .* db/cache\$"
	press z Home
	shows "z shows its empty tags, too" "^[▸+] +$large tail .* db/cache \\+2$"
	press Enter
	shows "Enter unfolds a process" '^ +[0-9.]+M .* db/cache$'
	press Enter
	shows "and folds it again" "^[▸+] +$large tail .* db/cache \\+2$"
	press z
	press b u
	shows "by tag, a row is what smaps_rollup says of its stopped programs" "^. db/cache +$sum "
	line_shows "in KiB" 3 '^total KiB: RSS '
	press b
	shows "by group, what is in one" "^. /mtag-top +$(rss "$large") "
	press u b
}
drive() { # WIDTH HEIGHT LOCALE
	terminal "$@"
	press 'mtagctl top -d 0.5; echo status=$?' Enter
	line_shows "top has a headline" 1 '^mtagctl top [0-9]{2}:[0-9]{2}:[0-9]{2}, every 0.5s; refresh .*, own CPU .*%, dumps missed 0$'
	line_shows "counts" 2 '^3 processes, [0-9]+ tags; by process, sorted by RSS, largest first$'
	line_shows "totals" 3 '^total: RSS [0-9.]+M, ANON '
	line_shows "columns" 5 '^ +PID NAME +RSS +Δ?RSS/s +ANON +FILE +SHMEM +SWAP +PEAK TAG$'
	line_shows "and keys" "$height" '^h help  q quit'
	orders
	filters
	folds
	press h
	line_shows "h shows the help" 3 '^  Space +refresh now'
	press x
	line_shows "any key ends it" 5 '^ +PID NAME'
	tmux resize-window -x 100 -y 20
	line_shows "it fits another window" 20 '^h help  q quit'
	[ "$3" != C ] || ! screen | LC_ALL=C grep -q '[^ -~]'
	ok $? "$where: no character is one that the terminal may not have"
	press q
	sane "q leaves the terminal as it was"
}
drive 80 24 C.UTF-8
drive 160 50 C

terminal 80 24 C.UTF-8
press 'mtagctl top; echo status=$?' Enter
line_shows "top runs" 1 '^mtagctl top '
pkill -TERM -x mtagctl
sane "a signal leaves the terminal as it was"
press C-l 'mtagctl top -d 0.2 -n 2; echo status=$?' Enter
sane "so does the end after -n"
press C-l 'TERM=dumb mtagctl top -n 1; echo status=$?' Enter
shows "a terminal that cannot be drawn on gets a batch" '^  total +[0-9.]+M'
shows "with a message" '^mtagctl: cannot draw on this terminal'

# ---- elsewhere ----

LC_ALL=C mtagctl top --by tag >"$tmp/out"
! LC_ALL=C grep -q '[^ -~]' "$tmp/out" && [ "$(awk '{print length}' "$tmp/out" | sort -n | tail -n 1)" -le 80 ]
ok $? "in a pipe there are no control codes, and 80 columns"
[ "$(grep -c '^  TAG ' "$tmp/out")$(grep -c '^  total' "$tmp/out")" = 11 ]
ok $? "but one table"
is "$(mtagctl top -n 3 -d 0.1 | grep -c '^  total')" 3 "-n 3 prints three"
mtagctl top -j --by tag -n 2 -d 0.1 >"$tmp/json"
is "$(jq -c '.[] | select(.tag == "db/cache") | [.processes, .rss_bytes / 1024]' "$tmp/json" | uniq -c | tr -s ' ')" \
	" 2 [2,$sum]" "-j prints an array a refresh, with the sums by tag"
is "$(mtagctl top -j -n 1 | jq 'map(.rss_bytes) | add')" "$(mtagctl -j show | jq 'map(.rss_bytes) | add')" \
	"by process it has every tag that show has"

# ---- watch ----

watches() { # WIDTH HEIGHT LOCALE LOWEST HIGHEST
	growing
	terminal "$1" "$2" "$3"
	press "mtagctl watch -d 0.3 $pid; echo status=\$?" Enter
	shows "watch has a column for the history" '^TAG .* SWAP HISTORY$'
	shows "a tag that grows has rising bars" "^leak .* $4[^ ]*$5\$"
	shows "so has the total" "^total .* $4[^ ]*$5\$"
	shows "one that does not is flat" "^\\[untagged\\] .* $4{4,}\$"
	kill -KILL "$feeder" "$pid"
	wait "$feeder" "$pid" 2>/dev/null
	sane "when the process ends, so does watch"
}
watches 80 24 C.UTF-8 ▁ █
watches 160 50 C _ '#'

# Where a line cannot be as narrow as the terminal, it is cut, and each stays one: nothing else stands on the screen.
growing
terminal 30 12 C.UTF-8
press "mtagctl watch -d 0.2 $pid; echo status=\$?" Enter
shows "watch goes on where it is narrow" '^[0-9:]{8}  sample ([5-9]|[0-9]{2,}) '
only_lines() { ! screen | grep -vE '^([0-9:]{8}  sample .*|(TAG|leak|\[untagged\]|total) .*|)$'; }
until_true 20 only_lines
ok $? "$where: and has a line for each tag" || screen | sed 's/^/#   |/'
kill -KILL "$feeder" "$pid"
wait "$feeder" "$pid" 2>/dev/null
sane "then it ends"

# ---- many processes and 50 tags ----

many=$(more 40 500)
$bin/crowd $many 50 >"$tmp/ready" &
crowd=$!
until_true 200 grep -q ready "$tmp/ready" || bail "the crowd is not ready"
is "$(mtagctl top -j --by tag -n 1 | jq '[.[] | select(.tag | startswith("part-")) | select(.rss_bytes == '"$many"' * 4096 and .processes == '$((many + 1))')] | length')" \
	50 "each of 50 tags has a page of each of $many processes"
# sent COUNT: the messages that top sends for that many refreshes.
sent() {
	# By a filter in the kernel, or each call of all the processes' files would stop it twice. That wants -f, and has pids.
	strace -f --seccomp-bpf -qq -e trace=sendmsg,sendto -o "$tmp/calls" mtagctl top -n "$1" -d 0.1 >/dev/null 2>>"$tmp/said"
	grep -cE '^([0-9]+ +)?send' "$tmp/calls"
}
is $(($(sent 3) - $(sent 1))) 2 "a refresh is one request"
is "$(cat "$tmp/said")" "" "none is missed"
terminal 80 24 C.UTF-8
press 'TIMEFORMAT="cpu=%U+%S"; time mtagctl top -d 2 -n 5' Enter
line_shows "top shows a crowd" 2 "^$((many + 4)) processes, $((many / 20))[0-9]{3} tags; "
shows "and ends" '^cpu='
echo "# CPU seconds for 5 refreshes of $((many + 4)) processes and their tags: $(screen | sed -n 's/^cpu=//p')"
press C-l 'mtagctl top; echo status=$?' Enter
line_shows "it shows all" 2 "^$((many + 4)) processes, $((many / 20))[0-9]{3} tags; "
press e b
line_shows "and by tag" 2 '; by tag, '
press b
line_shows "and by group" 2 '; by cgroup, '
shows "there is a sum of all" '^▾ /[^ ]* +[0-9.]+[MG] '
line_shows "no dump was missed" 1 'dumps missed 0$'
hwm=$(awk '/^VmHWM:/ {print $2}' "/proc/$(pgrep -x mtagctl)/status")
echo "# VmHWM $hwm KiB"
[ "$hwm" -lt 65536 ]
ok $? "its memory stays below 64 MiB"
kill -KILL $(pgrep -P "$crowd") "$crowd"
wait "$crowd" 2>/dev/null

# ---- without the module ----

unload
ok $? "the module can be unloaded under top"
shows "top says so" '^mtagctl: the mtag module is not loaded'
sane "and leaves the terminal as it was" 4
load linger_ms=2000
kill -KILL "$large" "$small" "$sleeper"
wait "$large" "$small" "$sleeper" 2>/dev/null
rmdir "$group"
done_testing
