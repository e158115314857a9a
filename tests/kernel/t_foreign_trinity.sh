#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# trinity, which calls the kernel at random, as nobody and with everything tracked; /dev/mtag is among the
# files that it opens, maps and calls. Without mtag first: what the kernel says of that is not ours.
# vm: group=selftests timeout=300 needs=foreign only=6.1 because="the programs for one kernel are enough outside make check-long" args=1
# vm: group=selftests timeout=7200 needs=foreign long=1 args=5
. tests/kernel/lib.sh
series=$(uname -r | grep -oE '^[0-9]+\.[0-9]+')
trinity=$(. /run/vm/conf && echo "$cache/foreign/$series/bin/trinity")
[ -x "$trinity" ] || bail "no $trinity: run tests/lib/foreign $series on the host"
rounds=${1:-1} seed=${2:-1} calls=${3:-$(more 3000 30000)}
tmp=$(mktemp -d)
chmod 755 "$tmp"
made=0 lifetimes=0

# What it may open: files, and with mtag loaded its device.
victims() {
	local n
	rm -rf "$tmp/victims"
	mkdir "$tmp/victims"
	for n in 1 2 3; do head -c $((n * 300000)) /dev/urandom >"$tmp/victims/file$n"; done
	cp build/bin/mtagctl "$tmp/victims"
	[ ! -e /dev/mtag ] || cp -a /dev/mtag "$tmp/victims"
	chmod -R a+rw "$tmp/victims"
}

# once SEED: trinity's own output to $tmp/said, the calls that it made to $ran.
once() {
	rm -rf "$tmp/dir"
	install -d -o nobody "$tmp/dir"
	# Address space: no call may make the kernel kill for want of memory, of which it says a lot.
	# Without sockets, which this trinity dies of, and perf, which is not for nobody. Of the kernel's taints
	# it minds what cannot be a module that a call has loaded.
	(
		cd "$tmp/dir" || exit
		ulimit -c 0 -v 1500000 -f 200000
		exec setsid timeout --foreground -k 5 300 setpriv --reuid=65534 --regid=65534 --clear-groups \
			--inh-caps=-all "$trinity" -q -l off -C 2 -N "$calls" -s "$1" -V "$tmp/victims" \
			--disable-fds=sockets,perf -T DIE
	) >"$tmp/said" 2>&1 </dev/null
	status=$?
	pkill -KILL -u 65534
	until_true 30 eval '! pgrep -u 65534 >/dev/null' || echo "# some of nobody's processes do not end"
	ran=$(sed -nE 's/.*[Rr]an ([0-9]+) syscalls.*/\1/p' "$tmp/said" | tail -n 1)
	ran=${ran:-0}
}

# fuzz SEED: with some seeds trinity dies as it starts, of itself: then with others.
fuzz() {
	local try
	victims
	for try in 0 1 2 3 4 5 6 7; do
		once $(($1 + try * 1000))
		[ "$ran" = 0 ] || return
	done
} 2>/dev/null

# audit_all: of every process, while they run. Says what is wrong, on its standard error why there was none.
audit_all() {
	local status
	mtagctl -j audit >"$tmp/said.audit" 2>"$tmp/audit.err"
	status=$?
	# 3 is drift, of which the rows tell.
	[[ $status == [03] ]] && jq -c '.[]' "$tmp/said.audit" >"$tmp/audit" && [ -s "$tmp/audit" ] ||
		{ echo "# audit: status $status $(head -n 1 "$tmp/audit.err")" >&2; return 1; }
	! jq -ce 'select(.drift_pages != 0 or .lost != 0)' "$tmp/audit" | sed 's/^/# drift: /' | grep .
}
# Runs until its file goes: if it were killed, an audit would go on and write its output.
watch_trinity() {
	while [ -e "$tmp/watched" ]; do
		audit_all >>"$tmp/bad" 2>>"$tmp/failed" && echo >>"$tmp/good"
		read -rt 1 <> <(:)
	done
}

# round SEED
round() {
	local before watcher audits
	before=$(health ended)
	: >"$tmp/bad"
	: >"$tmp/good"
	: >"$tmp/failed"
	: >"$tmp/watched"
	watch_trinity &
	watcher=$!
	fuzz "$1"
	rm "$tmp/watched"
	wait $watcher
	[ "$ran" -ge $((calls / 4)) ]
	ok $? "seed $1: trinity ran with everything tracked ($ran calls, status $status)" ||
		tail -n 20 "$tmp/said" | sed 's/^/# /'
	made=$((made + ran))
	audits=$(wc -l <"$tmp/good")
	head -n 3 "$tmp/failed"
	[ ! -s "$tmp/bad" ] && [ "$audits" -gt 0 ]
	ok $? "seed $1: while it runs every audit says drift 0, lost 0 ($audits audits)" || head "$tmp/bad"
	audit_all 2>&1
	ok $? "seed $1: afterwards, too"
	lifetimes=$((lifetimes + $(health ended) - before))
}

[ ! -d /sys/module/mtag ] || unload || bail "the module cannot be unloaded at first"
fuzz "$seed"
[ "$ran" -ge $((calls / 4)) ]
ok $? "trinity runs without mtag ($ran calls, status $status)" || tail -n 20 "$tmp/said" | sed 's/^/# /'
load track=all || bail "the module does not load"
until_true 20 [ -e /dev/mtag ]
chmod 666 /dev/mtag
memory=$(health memory) tracked=$(health tracked)
for ((n = 0; n < rounds; n++)); do round $((seed + n)); done
until_true 60 eval 'visit_cpus; [ "$(health tracked)" -le "$tracked" ]'
echo "# $(tr '\n' ' ' <$debug/health)"
for name in drift lost dirty_ended; do is "$(health $name)" 0 "$name stays 0"; done
# A space takes less than that; trinity's would be thousands.
until_true 60 eval '[ "$(health memory)" -le $((memory + 65536)) ]'
ok $? "the module's memory is back ($memory bytes at first, now $(health memory))"
unload
ok $? "the module can be unloaded"
echo "# counts: calls=$made lifetimes=$lifetimes"
done_testing
