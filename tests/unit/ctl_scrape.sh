#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Metrics of snapshots with odd names and with many tags, as Prometheus has them: see tests/lib/scrape.sh. With the
# module and systemd's timer: tests/kernel/t_metrics.sh.
cd "$(dirname "$(realpath "$0")")/../.." || exit
. tests/kernel/lib.sh
. tests/lib/scrape.sh
ctl=$PWD/build/bin/mtagctl
export LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
tmp=$(mktemp -d)
finish() {
	[ ${#servers[@]} = 0 ] || { kill "${servers[@]}"; wait; } 2>/dev/null
	rm -rf "$tmp"
}
trap finish EXIT
trap 'exit 143' TERM INT

write() { "$ctl" show -f openmetrics --from "$1" -o "$tmp/text/mtag.prom"; }

mkdir "$tmp/text"
python make_odd "$tmp/odd"
python make_wide "$tmp/wide"

write "$tmp/odd"
scrape "$tmp/text"
for from in odd wide; do
	write "$tmp/$from"
	until_true 120 scraped "$(date +%s.%N)"
	ok $? "Prometheus has scraped the metrics of $from"
	is "$(query node_textfile_scrape_error "$at")" 0 'node_exporter had no error with them'
	check 'each byte is what mtagctl -j says' python prometheus "$ctl" "$tmp/$from" "http://127.0.0.1:$prometheus" "$at"
done
is "$(query 'sum(mtag_rss_bytes)' "$at")" "$("$ctl" show -j --from "$tmp/wide" | jq 'map(.rss_bytes) | add' |
	/usr/bin/python3 -c 'print(int(float(input())))')" 'the sum of all is the resident memory of all'
done_testing
