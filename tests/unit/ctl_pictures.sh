#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# mtagctl show -f svg and -f html, from snapshot files: libxml2 reads the one, Chromium renders both. What is
# on the screen is asked of Chromium itself, by its DevTools protocol: null-terminated JSON through pipes.
cd "$(dirname "$(realpath "$0")")/../.." || exit
ctl=$PWD/build/bin/mtagctl
golden=$PWD/tests/unit/ctl_golden/snapshot.jsonl
n=0
export LC_ALL=C.UTF-8 TZ=UTC
tmp=$(mktemp -d)
browser=''
trap '[ -z "$browser" ] || { kill "$browser"; wait "$browser"; }; rm -rf "$tmp"' EXIT
cd "$tmp" || exit

ok() { # NAME, after the command that is tested
	local status=$?
	n=$((n + 1))
	[ $status = 0 ] && echo "ok $n - $1" || echo "not ok $n - $1"
}
skip() { # NAME WHY
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}

# sample TIME COMM:PARENTS'-IDS:TAG:BYTES…: a sample of one process, in which the first tag has id 2.
sample() {
	jq -nc --argjson time "$1" '$ARGS.positional[1:] | ({mtag_snapshot: 1, time_ms: $time, host: "ho<st"},
		(to_entries[] | (.value | split(":")) as $w | ($w[3] | tonumber) as $b | {pid: 7, comm: $w[0], id: (.key + 2),
			parent_id: ($w[1] | tonumber), tag: $w[2], rss_bytes: $b, anon_bytes: $b, file_bytes: 0, shmem_bytes: 0,
			swap_bytes: 0, peak_rss_bytes: $b}),
		{end: length})' --args "$@"
}
M=1048576
evil='<script>alert(1)</script>'
quotes="\"' onload=alert(2) x='"
for minute in {0..59}; do
	sample $((1700004600000 + minute * 60000)) "$evil:0:db:$M" "$evil:2:db/cache:$((M * (minute + 1)))" \
		"$evil:2:db/$quotes:$((3 * M))" "$evil:0:]]>&amp;:$((2 * M))" "$evil:0:x:4096" $'e:0:\u0001\e[2J:4096'
done >series
awk 'BEGIN {
	for (sample = 0; sample < 1000; sample++) {
		print "{\"mtag_snapshot\":1,\"time_ms\":" sprintf("%.0f", 1.7e12 + sample * 1000) "}"
		for (id = 0; id < 100; id++)
			printf "{\"pid\":1,\"comm\":\"long\",\"id\":%d,\"parent_id\":0,\"tag\":\"%s\",\"rss_bytes\":%d,\"anon_bytes\":%d," \
				"\"file_bytes\":0,\"shmem_bytes\":0,\"swap_bytes\":0,\"peak_rss_bytes\":0}\n", id, id ? "t" id : "", \
				id * sample * 4096, id * sample * 4096
		print "{\"end\":100}"
	}
}' >long
awk 'BEGIN {
	print "{\"mtag_snapshot\":1,\"time_ms\":1}"
	for (id = 0; id < 10000; id++)
		printf "{\"pid\":1,\"comm\":\"big\",\"id\":%d,\"parent_id\":0,\"tag\":\"%s\",\"rss_bytes\":%d,\"anon_bytes\":%d," \
			"\"file_bytes\":0,\"shmem_bytes\":0,\"swap_bytes\":0,\"peak_rss_bytes\":0}\n", id, id ? "t" id : "", \
			2e9 / (id + 1), 2e9 / (id + 1)
	print "{\"end\":10000}"
}' >big

for form in svg html; do
	(ulimit -t 1 && "$ctl" show -f $form --from big >"big.$form")
	ok "-f $form of 10,000 tags takes less than a second of CPU"
	"$ctl" show -f $form --from "$golden" -o "golden.$form" && LC_ALL=C "$ctl" show -f $form --from "$golden" |
		cmp -s - "golden.$form"
	ok "-f $form does not depend on the locale"
	"$ctl" tree -f $form --from "$golden" 4711 | cmp -s - <("$ctl" show -f $form --from "$golden" 4711)
	ok "tree -f $form is what show -f $form of one process prints"
done
(ulimit -t 1 && "$ctl" show -f html --from long >long.html)
ok 'a page with the lines of 1,000 samples of 100 tags takes less than a second of CPU'
"$ctl" show -f svg --from series >evil.svg
"$ctl" show -f html --from series >evil.html
"$ctl" show -f html --from series --sample 3 >third.html

# titles FILE: a line for each box: path, bytes, anon, file, shmem, swap, and y of its row, with tabs between.
titles() {
	tr '\n' '\t' <"$1" | sed 's|<g>|\n|g' | sed -n 's|</g>.*||; s|^<title>||; s|\t\([0-9]*\) bytes, [^\t]*|\t\1|
		s|</title>.* y="\([0-9]*\)" width.*|\t\1|; s|anon \([0-9]*\), file \([0-9]*\), shmem \([0-9]*\), swap |\1\t\2\t\3\t|
		s|\titself: [^\t]*||; 1!p'
}
if command -v xmllint >/dev/null; then
	xmllint --noout golden.svg evil.svg big.svg
	ok 'libxml2 reads the svg, whatever the names contain'
	titles golden.svg | cut -f1-6 | grep '^postgres-4711/[^[]' | sort >got
	# A box has what its tag and all below it have.
	jq -rs 'map(select(.pid == 4711)) as $all | $all[] | select(.id > 1) | .tag as $tag |
		($all | map(select(.tag == $tag or (.tag | startswith($tag + "/"))))) as $in |
		["postgres-4711/" + ($tag | gsub("\\\\"; "\\\\")), ($in | map(.rss_bytes) | add), ($in | map(.anon_bytes) | add),
		($in | map(.file_bytes) | add), ($in | map(.shmem_bytes) | add), ($in | map(.swap_bytes) | add)] | select(.[1] > 0) |
		map(tostring) | join("\t")' "$golden" | sort >want
	[ -s want ] && diff want got
	ok 'the titles of its boxes have the sums of the snapshot, by kind'
	titles big.svg >got
	awk -F'\t' '{ sum[$7] += $2; n[$7]++; most = $2 > most ? $2 : most }
		END { for (y in sum) bad += sum[y] != most; exit bad || n[62] != 1 || n[134] < 20 || n[134] > 1000 }' got &&
		grep -q $'^big-1: [0-9]* more\t' got
	ok 'of 10,000 tags, those too thin to see are one box, and each row adds up to the total'
	"$ctl" show -f svg --from series | xmllint --xpath 'count(//*[local-name()="script" or @onload or @href])' - | grep -qx 0
	ok 'it has no script and refers to nothing'
else
	skip 'libxml2 reads the svg' 'no xmllint here (tests/lib/deps check installs it)'
fi
# Each hash of the policy is that of its element: Chromium takes no other.
for element in style script; do
	hash=$(sed -z "s|.*<$element>\(.*\)</$element>.*|\1|" golden.html | openssl dgst -sha256 -binary | base64)
	grep -qF "$element-src 'sha256-$hash'" golden.html || ! echo "# the hash of <$element> is $hash"
	ok "the page's policy allows its $element by hash"
done

# ---- the page as Chromium shows it ----

if ! command -v chromium >/dev/null; then
	skip 'Chromium renders the pictures' 'no chromium here (tests/lib/deps check installs it)'
	echo "1..$n"
	exit
fi
mkfifo in out
exec 7<>in 8<>out
chromium --headless --no-sandbox --disable-gpu --no-first-run --disable-extensions --disable-background-networking \
	--user-data-dir="$tmp/profile" --remote-debugging-pipe 3<in 4>out >/dev/null 2>chromium.log &
browser=$!
id=0 session=''
: >events

# call METHOD PARAMETERS: its result, in $reply; what comes before it is an event.
call() {
	local message
	id=$((id + 1))
	jq -nc --arg method "$1" --argjson params "$2" --argjson id $id --arg session "$session" \
		'{$id, $method, $params} + if $session == "" then {} else {sessionId: $session} end' | tr '\n' '\0' >&7
	while IFS= read -r -d '' -t 60 message <&8; do
		reply=$(jq -c --argjson id $id 'select(.id == $id) | .result // {error}' <<<"$message")
		[ -z "$reply" ] || return 0
		printf '%s\n' "$message" >>events
	done
	echo 'Bail out! Chromium does not answer'
	exit 1
}
# value EXPRESSION: what it is in the page. Polls while that is null: a page is loading.
value() {
	local deadline=$((SECONDS + 30))
	while :; do
		call Runtime.evaluate "$(jq -nc --arg e "$1" '{expression: $e, returnByValue: true}')"
		result=$(jq -r '.result.value' <<<"$reply")
		[ "$result" = null ] && [ $SECONDS -lt $deadline ] || break
	done
	printf '%s' "$result" >result
}
# is EXPRESSION WANT NAME
is() {
	value "$1"
	[ "$(<result)" = "$2" ] || ! echo "# it is: $(<result)"
	ok "$3"
}
# window WIDTH light|dark FILE: loads it.
window() {
	call Emulation.setDeviceMetricsOverride "{\"width\":$1,\"height\":900,\"deviceScaleFactor\":1,\"mobile\":false}"
	call Emulation.setEmulatedMedia "{\"features\":[{\"name\":\"prefers-color-scheme\",\"value\":\"$2\"}]}"
	call Page.navigate "{\"url\":\"file://$tmp/$3\"}"
	value "document.readyState === 'complete' && location.pathname.endsWith('/$3') ? true : null"
}

call Target.createTarget '{"url":"about:blank"}'
call Target.attachToTarget "$(jq -c '{targetId, flatten: true}' <<<"$reply")"
session=$(jq -r .sessionId <<<"$reply")
for domain in Page Runtime Log Network; do
	call $domain.enable '{}'
done

# The least contrast (WCAG 2) of a text to the box that is behind it.
contrast='(() => {
	const light = (color) => {
		const [r, g, b] = color.match(/[\d.]+/g).map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	};
	const ratio = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
	const style = (e) => getComputedStyle(e);
	const rects = [...document.querySelectorAll("g > rect")];
	const ground = document.body ? style(document.body).backgroundColor : style(document.querySelector(".ground")).fill;
	const found = [];
	for (const rect of rects)
		for (const text of rect.parentNode.querySelectorAll("text, p"))
			found.push(ratio(style(rect).fill, text.matches("p") ? style(text).color : style(text).fill));
	for (const text of document.querySelectorAll("text.note, .chart text")) found.push(ratio(ground, style(text).fill));
	for (const text of document.querySelectorAll("h1, section > p, td, th, small")) found.push(ratio(ground, style(text).color));
	for (const line of document.querySelectorAll(".chart path, .legend line")) found.push(ratio(ground, style(line).stroke) * 1.5);
	return found.length > 5 && Math.min(...found) >= 4.5 ? "enough" : found.length + ": " + Math.min(...found);
})()'
for width in 360 800 1600; do
	for scheme in light dark; do
		window $width $scheme evil.html
		is 'document.documentElement.scrollWidth <= innerWidth ? "fits" : document.documentElement.scrollWidth' fits \
			"the page fits a window of $width pixels, $scheme"
		is "$contrast" enough "its texts have a contrast of 4.5, its lines of 3"
	done
	is '[...document.querySelectorAll("svg.map, svg.chart")].filter((e) => e.getClientRects().length).map((e) => e.classList[0]).join()' \
		map,chart 'it shows one treemap, and one chart'
	is '[...document.querySelectorAll(".map i, .chart text")].filter((e) => e.getClientRects().length && (e.scrollWidth > e.clientWidth + 1 &&
		getComputedStyle(e).display === "block" || e.matches(".chart text") && (e.getBoundingClientRect().right > innerWidth ||
		e.getBoundingClientRect().left < 0))).map((e) => e.textContent).join()' '' 'no size and no label in them is cut'
done
is 'document.querySelectorAll(".wide.chart path").length + " " + document.querySelectorAll(".legend li").length' '6 6' \
	'a line for each of the six tags'
is 'document.querySelector(".legend li").innerText.replaceAll(/\s+/g, " ").replace(/.*cache /, "")' \
	'1.0MiB → 60.0MiB, at most 60.0MiB' 'the first one is of the tag that became the largest'
is '[...document.querySelectorAll(".wide.chart text[text-anchor=middle]")].map((e) => e.textContent).join(" ")' \
	'23:30 23:40 23:50 2023-11-15 00:10 00:20' 'the axis of times has ticks at round times, and a date where a day begins'
is '[...document.querySelectorAll(".wide.chart text[text-anchor=end]")].map((e) => e.textContent.trim()).join()' \
	'0,10 MiB,20 MiB,30 MiB,40 MiB,50 MiB,60 MiB' 'the axis of sizes has ticks at round sizes'
# Boxes that are divided have class c9.
leaves='[...document.querySelectorAll(".wide.map g")].filter((g) => !g.querySelector(".c9"))'
is "$leaves.map((g) => +g.querySelector('title').textContent.split('\\n')[1].split(' ')[0]).reduce((a, b) => a + b)" \
	$((66 * M + 8192)) 'the leaves of the treemap add up to the resident bytes'
is "(() => { const area = $leaves.map((g) => [+g.querySelector('title').textContent.split('\\n')[1].split(' ')[0],
	g.querySelector('rect').getBBox()]).filter((a) => a[0] >= $M).map(([b, r]) => (r.width + 1) * (r.height + 1) / b);
	return Math.max(...area) / Math.min(...area) < 1.25; })()" true 'their areas are as their bytes, but for gaps and frames'
is 'document.querySelector("td").textContent' "$evil 7" 'a name that is a script is text in the table'
is '[...document.querySelectorAll("td:nth-child(2)")].map((e) => e.textContent)[1]' "db/$quotes" 'so is one with quotes'
is '[...document.querySelectorAll("[onload], script")].length' 1 'no name became an element or an attribute'
is '[...document.querySelectorAll("td:nth-child(3)")].map((e) => e.textContent).join()' \
	'60.0MiB,3.0MiB,2.0MiB,1.0MiB,4.0KiB,4.0KiB,66.0MiB' 'the table has the largest tag first, and the total last'
is 'document.querySelectorAll("th button")[2].click(); [...document.querySelectorAll("td:nth-child(3)")].map((e) => e.textContent).join()' \
	'4.0KiB,4.0KiB,1.0MiB,2.0MiB,3.0MiB,60.0MiB,66.0MiB' 'a click on a heading sorts it'
is 'document.querySelectorAll("th button")[1].click(); [...document.querySelectorAll("td:nth-child(2)")].map((e) => e.textContent)[5] +
	document.querySelectorAll("th")[1].ariaSort' xascending 'by name, too, and says so to screen readers'
call Emulation.setScriptExecutionDisabled '{"value":true}'
window 1600 light evil.html
is 'document.querySelectorAll("button").length + " " + document.querySelectorAll("tbody tr").length + " " + document.querySelectorAll(".wide path").length' \
	'0 6 6' 'without scripts all is there but the buttons'
call Emulation.setScriptExecutionDisabled '{"value":false}'
window 1600 light third.html
is 'document.querySelectorAll(".chart").length + document.querySelector("td:nth-child(3)").textContent' 03.0MiB \
	'with --sample the page is of that one, without lines'
window 1600 dark big.html
is 'document.querySelectorAll("tbody tr").length' 10000 'the table of 10,000 tags has all of them'
for scheme in light dark; do
	for file in evil golden; do
		window 1250 $scheme $file.svg
		is "$contrast" enough "the texts of $file.svg have a contrast of 4.5, $scheme"
	done
done
is '[...document.querySelectorAll("g")].filter((g) => [...g.querySelectorAll("text")].some((t) => t.getBBox().x + t.getBBox().width >
	g.querySelector("rect").getBBox().x + g.querySelector("rect").getBBox().width)).length' 0 'no text is wider than its box'
is '[...document.querySelectorAll("g")].filter((g) => g.querySelector("rect").getBBox().width > 60 && g.querySelectorAll("text").length < 2).length' \
	0 'each box of 60 pixels or more has a name and a size'
window 360 light golden.svg
is '`${document.documentElement.getBoundingClientRect().width} ${document.scrollingElement.scrollWidth}`' '1200 1200' \
	'in a narrow window it is scrolled, not made too small to read'
jq -r 'select(.method == "Page.javascriptDialogOpening" or .method == "Runtime.exceptionThrown" or
	.method == "Runtime.consoleAPICalled" or .method == "Log.entryAdded") | "# \(.method) \(.params)"' events >bad
[ ! -s bad ] || ! cat bad
ok 'no dialog has opened, and the console is empty'
jq -r 'select(.method == "Network.requestWillBeSent") | .params.request.url' events | grep -v "^file://$tmp/[a-z]*\.\(svg\|html\)$" >bad
[ ! -s bad ] || ! sed 's/^/# /' bad
ok 'nothing else was loaded'
echo "1..$n"
