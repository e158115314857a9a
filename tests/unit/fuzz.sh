#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The fuzzers of mtagctl and libmtag, tests/fuzz/*.c, each without and with knowledge of the grammar:
# nothing crashes, no sanitizer complains, and Python reads all JSON that is printed. The inputs are
# always the same ones; MTAG_FUZZ_SEED=N makes others. With MTAG_LONG=1 a million, else some thousands.
cd "$(dirname "$(realpath "$0")")/../.." || exit
bin=build/tests/fuzz n=0 failed=0 inputs=0 seed=${MTAG_FUZZ_SEED:-1}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
PATH=/usr/lib/ccache:$PATH make -s -j2 fuzz >"$tmp/log" 2>&1 || { sed 's/^/# /' "$tmp/log"; echo 'Bail out! the fuzzers do not build'; exit 1; }
export UBSAN_OPTIONS=print_stacktrace=1
times=1
[ -z "${MTAG_LONG:-}" ] || times=80

# ok STATUS NAME
ok() {
	n=$((n + 1))
	[ "$1" = 0 ] || failed=1
	[ "$1" = 0 ] && echo "ok $n - $2" || echo "not ok $n - $2"
}

# Inputs by which defects were found: fuzzer, way, input. What is wrong with one is in its fix.
while read -r target way input; do
	base64 -d <<<"$input" >"$tmp/input"
	MTAG_FUZZ=$way "$bin/$target" "$tmp/input" >"$tmp/log" 2>&1
	status=$?
	ok $status "$target, $way: what was found once"
	[ $status = 0 ] || sed 's/^/# /' "$tmp/log"
done < <(grep -v '^#' tests/fuzz/found)

# fuzz TARGET WAY INPUTS
fuzz() {
	local target=$1 way=$2 runs=$3 status
	rm -rf "$tmp/corpus"
	mkdir "$tmp/corpus"
	[ "$way" = built ] || MTAG_FUZZ_SEEDS=$tmp/corpus "$bin/$target" 2>/dev/null
	# Neither addresses nor the clock may have a part in what comes next, nor the environment: it is on
	# the stack, and what a comparison finds there is tried as an input.
	env -i LC_ALL=C.UTF-8 UBSAN_OPTIONS="$UBSAN_OPTIONS" MTAG_FUZZ="$way" MTAG_FUZZ_JSON="$tmp/json" \
		setarch -R "$bin/$target" -seed="$seed" -runs="$runs" -len_control=0 -max_len=2048 \
		-reload=0 -timeout=60 -verbosity=0 -artifact_prefix="$bin/$target-$way-" \
		"$tmp/corpus" >"$tmp/log" 2>&1
	status=$?
	ok $status "$target, $way: $runs inputs"
	[ $status = 0 ] || sed 's/^/# /' "$tmp/log"
	inputs=$((inputs + runs))
	[ -f "$tmp/json" ] || return
	python3 - "$tmp/json" <<-'END' 2>"$tmp/log"
		import json, sys
		def unique(pairs):
		    assert len(dict(pairs)) == len(pairs), pairs
		    assert all(type(value) in (int, str, bool, list, type(None)) for key, value in pairs), pairs
		    return dict(pairs)
		for line in open(sys.argv[1], encoding='utf-8', newline='\n'):
		    assert isinstance(json.loads(line, object_pairs_hook=unique), list)
	END
	status=$?
	ok $status "$target, $way: $(wc -l <"$tmp/json") of its JSON documents, read by Python"
	[ $status = 0 ] || sed 's/^/# /' "$tmp/log"
	rm "$tmp/json"
}

while read -r target runs; do
	for way in raw built; do
		fuzz "$target" $way $((runs * times))
	done
done <<-END
	decode 1200
	reply 2000
	command 1000
	doctor 500
	lib 2000
	text 1200
	snapshot 800
	merge 800
	diff 500
	unwind 2000
	heap 800
END
echo "# counts: inputs=$inputs"
echo "1..$n"
exit $failed
