#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# From the module to Prometheus: systemd's timer has mtagctl write a file, node_exporter reads it, Prometheus asks that,
# and has to the byte what mtagctl -j and smaps_rollup say of a program that is stopped.
# vm: long=1 only=6.1 stock=1 because="what comes after mtagctl is the same on all" module=linger_ms=2000 timeout=600
. tests/kernel/lib.sh
. tests/lib/scrape.sh
export LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1 XDG_RUNTIME_DIR=/run/user/0
tmp=$(mktemp -d)
finish() {
	kill -KILL "${servers[@]}" "${held[@]}" $manager
	rm -rf "$tmp"
} 2>/dev/null
trap finish EXIT
held=() manager=
dir=/var/lib/prometheus/node-exporter

no_khugepaged
# hold SIZE TAG: a program that holds so much beneath its tag, and is stopped.
hold() {
	mtagctl run -t "$2" -- sh -c 'x=$(head -c '"$1"' /dev/zero | tr "\0" x); kill -STOP $$' &
	held+=($!)
	until_true 60 grep -q '^State:.T ' "/proc/$!/status" || bail "$2 does not stop"
}
hold 3M db/cache
hold 1M 'odd "name"\'

# A manager of units without the rest of systemd; it looks for that first. Mounts of its own it cannot make here: the
# test of the packages has the whole unit.
mkdir -p /run/systemd/system $XDG_RUNTIME_DIR/systemd/user $dir
for unit in service timer; do
	sed "s|@BINDIR@|$PWD/build/bin|; /^Protect\|^Private\|^ReadWritePaths/d" "ctl/systemd/mtag-metrics.$unit" \
		>"$XDG_RUNTIME_DIR/systemd/user/mtag-metrics.$unit"
done
/lib/systemd/systemd --user >"$tmp/systemd.log" 2>&1 &
manager=$!
until_true 60 systemctl --user is-system-running --wait >"$tmp/state" 2>&1 ||
	{ cat "$tmp/state" "$tmp/systemd.log"; bail "no manager of units"; }
check "systemd takes the timer" systemctl --user start mtag-metrics.timer
until_true 60 test -s $dir/mtag.prom
ok $? "it has the metrics written" || { systemctl --user status mtag-metrics.service; cat "$tmp/systemd.log"; } 2>&1 |
	sed 's/^/# /'
first=$(stat -c '%i %.Y' $dir/mtag.prom)
written_since() { [ "$(stat -c '%i %.Y' $dir/mtag.prom)" != "$1" ]; }

scrape $dir
until_true 60 written_since "$first"
ok $? "the timer has them written again: another file takes the place of the first"
until_true 120 scraped "$(stat -c %.Y $dir/mtag.prom)"
ok $? "Prometheus has scraped them"
is "$(query node_textfile_scrape_error "$at")" 0 "node_exporter had no error with them"
mtagctl snapshot -o "$tmp/now"
is "$(mtagctl -j show)" "$(mtagctl -j show --from "$tmp/now")" "the programs are as they are"
check "each byte is what mtagctl -j says" python prometheus mtagctl "$tmp/now" "http://127.0.0.1:$prometheus" "$at"
for pid in "${held[@]}"; do awk '$1 == "Rss:" {print $2 * 1024}' "/proc/$pid/smaps_rollup"; done >"$tmp/rss"
is "$(query 'sum(mtag_rss_bytes)' "$at")" "$(($(paste -sd+ "$tmp/rss")))" "and what smaps_rollup says"

kill -KILL "${held[@]}"
{ wait "${held[@]}"; } 2>/dev/null
until_true 30 unload
ok $? "the module is unloaded"
until_true 60 test ! -e $dir/mtag.prom
ok $? "the file disappears: the past is not shown as the present"
gone() { [ -z "$(query 'mtag_rss_bytes')" ]; }
until_true 60 gone
ok $? "and so it does in Prometheus"
done_testing
