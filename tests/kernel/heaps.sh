# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# What tests of mtagctl heap share that look at programs of others: sourced after lib.sh.

# What mtagctl's JSON in $tmp/json says of the process itself: of KEY.
of() { jq --arg key "$1" '.[] | select(.tag == null) | .[$key]' "$tmp/json"; }

# smaps_kinds PID: what smaps says, by the names of mappings: pages of files, copies of them, shared memory, [heap] and
# [stack], in bytes.
smaps_kinds() {
	awk '/^[0-9a-f]+-[0-9a-f]+ / {
			kind = $6
			if (kind ~ /^\/(memfd:|SYSV|dev\/shm\/|dev\/zero)/)
				kind = "shared"
			else if (kind ~ /^\//)
				kind = "file"
		}
		$1 == "Rss:" {rss[kind] += $2 * 1024}
		$1 == "Anonymous:" {anon[kind] += $2 * 1024}
		END {printf "%d %d %d %d %d\n", rss["file"] - anon["file"], anon["file"], rss["shared"], rss["[heap]"], rss["[stack]"]}
	' "/proc/$1/smaps"
}

# as_smaps NAME PID: of a process that stands still, the terms in $tmp/json that smaps knows by the names of mappings; the
# others have all of what they have at least.
as_smaps() {
	local files data shared heap stack term
	local -A of
	read -r files data shared heap stack < <(smaps_kinds "$2")
	for term in files data shared live free own stacks; do
		of[$term]=$(jq --arg key rss_${term}_bytes '.[] | select(.tag == null) | .[$key]' "$tmp/json")
	done
	is "${of[files]} ${of[data]} ${of[shared]}" "$files $data $shared" \
		"$1: pages of files, copies of them, and shared memory are what smaps says of such mappings"
	allocators=$((of[live] + of[free] + of[own]))
	[ $allocators -ge "$heap" ]
	ok $? "$1: the allocator has $heap bytes of [heap], and more ($allocators)"
	[ "${of[stacks]}" -ge "$stack" ]
	ok $? "$1: stacks have $stack bytes of [stack], and more (${of[stacks]})"
}

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
	as_smaps "$name" "$pid"
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
