# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154
# Debian's Prometheus, which scrapes Debian's node_exporter, which reads metrics of mtagctl's from files, as
# docs/metrics.md sets it up. Both run on ports of their own. Sourced, after tests/kernel/lib.sh, by tests that set $tmp
# and end what is in $servers.
servers=()
python() { /usr/bin/python3 tests/unit/ctl_exports.py "$@"; }
free_port() {
	/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
get() { curl -sf --max-time 10 "http://127.0.0.1:$1"; }
# query QUERY [TIME]: the first value of the answer.
query() { get "$prometheus/api/v1/query?query=$1${2:+&time=$2}" | jq -r '.data.result[0].value[1] // empty'; }
# scraped WRITTEN: a scrape came after that file was written: sets `at`, when. What is asked of that time is what it
# brought, whatever becomes of the next one on a busy machine.
scraped() {
	at=$(query 'timestamp(node_textfile_mtime_seconds)')
	[ -n "$at" ] && jq -en "$at > $1" >/dev/null
}
# scrape DIR: starts both; the files are in DIR.
scrape() {
	exporter=$(free_port) prometheus=$(free_port)
	cat >"$tmp/prometheus.yml" <<-END
		global: {scrape_interval: 1s, scrape_timeout: 1s}
		scrape_configs:
		- {job_name: node, static_configs: [{targets: ['127.0.0.1:$exporter']}]}
	END
	prometheus-node-exporter --web.listen-address=127.0.0.1:"$exporter" --collector.disable-defaults \
		--collector.textfile --collector.textfile.directory="$1" >"$tmp/exporter.log" 2>&1 &
	servers+=($!)
	until_true 120 get "$exporter/metrics" >/dev/null || { cat "$tmp/exporter.log"; bail 'node_exporter does not answer'; }
	prometheus --config.file="$tmp/prometheus.yml" --storage.tsdb.path="$tmp/data" \
		--web.listen-address=127.0.0.1:"$prometheus" >"$tmp/prometheus.log" 2>&1 &
	servers+=($!)
	until_true 120 get "$prometheus/-/ready" >/dev/null ||
		{ cat "$tmp/prometheus.log"; bail 'Prometheus does not answer'; }
}
