# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What tests of mtagctl heap share that look at programs of others: sourced after lib.sh.

# What mtagctl's JSON in $tmp/json says of the process itself: of KEY.
of() { jq --arg key "$1" '.[] | select(.tag == null) | .[$key]' "$tmp/json"; }

stands_still() { ! grep -h ^State: "/proc/$1/task/"*/status | grep -qv '[TZ] ('; } 2>/dev/null

# accounted NAME PID: stops it. The terms are the RSS, and that is what smaps_rollup says; what they are is shown.
accounted() {
	local name=$1 pid=$2 rss
	kill -STOP "$pid"
	until_true 60 stands_still "$pid"
	ok $? "$name stands still" || return
	check "$name: heap prints JSON" mtagctl heap -j -o "$tmp/json" "$pid" || return
	rss=$(awk '/^Rss:/ {print $2 * 1024}' "/proc/$pid/smaps_rollup")
	is "$(jq '.[] | select(.tag == null) | .rss_live_bytes + .rss_free_bytes + .rss_own_bytes + .rss_stacks_bytes +
		.rss_files_bytes + .rss_data_bytes + .rss_shared_bytes + .rss_view_bytes + .rss_other_bytes' "$tmp/json")" "$rss" \
		"$name: the terms of the account are the RSS of smaps_rollup"
	is "$(mtagctl audit -j "$pid" | jq '.[].drift_pages')" 0 "$name: no drift"
	mtagctl heap "$pid" >"$tmp/table"
	sed -n '/^RSS /,$s/^/#   /p' "$tmp/table"
	is "$(wide "$tmp/table")" "" "$name: the table has 80 columns"
}

# within NAME KEY LEAST MOST, MiB: a term is plausible.
within() {
	local bytes
	bytes=$(of "$2")
	[ "$bytes" -ge $(($3 << 20)) ] && [ "$bytes" -le $(($4 << 20)) ]
	ok $? "$1: $2 is from $3 to $4 MiB ($bytes bytes)"
}
