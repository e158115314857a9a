#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Programs that know nothing of mtag and have no frame pointers, under mtagctl run --stacks: whose stack a page has.
# The truth is smaps, and that a stack ends in the program's first function. What a program maps later by itself it uses
# before its unwind table is there, when it does so for the first time: here another process was first (tables_of).
# vm: group=parallel mem=1G timeout=300 short=6.1 because="programs are walked by the same code on all; t_stacks.c shows it on each" args=python redis
# vm: group=foreign mem=900M timeout=900 long=1 args=gcc postgres
# vm: group=stacks-runtimes mem=2G timeout=900 long=1 args=go node java chromium
. tests/kernel/lib.sh
. tests/kernel/postgres.sh
tmp=$(mktemp -d)
jobs=()
# The command by which a program is started as another user.
as=()

# end PID…
end() {
	local pid
	for pid; do
		kill -9 "$pid"
		wait "$pid"
	done
} 2>/dev/null

finish() {
	end "${jobs[@]}"
	rm -rf "$tmp"
}
trap finish EXIT

# under NAME COMMAND…: starts it under mtagctl run --stacks; its process is $started.
under() {
	local name=$1
	shift
	"${as[@]}" mtagctl run --stacks -t "$name" -- "$@" >"$tmp/$name.out" 2>&1 </dev/null &
	started=$!
	jobs+=("$started")
}

# tables_of NAME COMMAND…: hands in the unwind tables of all that it has mapped when it says "ready". It stays, and so do they.
tables_of() {
	local name=$1 pid
	shift
	"$@" >"$tmp/tables.out" 2>&1 </dev/null &
	pid=$!
	jobs+=("$pid")
	until_true 60 grep -q ready "$tmp/tables.out"
	ok $? "$name is there for its tables" || sed 's/^/# /' "$tmp/tables.out"
	check "$name: its tables are handed in" mtagctl track --stacks "$pid"
}

# smaps PID: its anonymous memory and swap, in bytes.
smaps() { awk '$1 == "Anonymous:" {a += $2} $1 == "Swap:" {s += $2} END {print a * 1024, s * 1024}' "/proc/$1/smaps"; }

# stopped PID: all of its threads are.
stopped() { ! grep -h ^State: "/proc/$1/task/"*/status | grep -qv '[TZ] ('; }

# drift [PID]
drift() { mtagctl -j audit "$@" | jq '[.[].drift_pages] | add'; }

# whys: how much of the memory in $tmp/stacks has stacks that ended for which reason.
whys() {
	jq -r 'map(. + {bytes: (.anon_bytes + .swap_bytes)}) | ([.[].bytes] | add) as $all | group_by(.why)[]
		| ([.[].bytes] | add) as $bytes
		| "#   \(.[0].why): \($bytes * 10000 / $all | round / 100) %, \($bytes / 1024) KiB, \(length) stacks"' "$tmp/stacks"
}

# outermost FILE: first and last offset of the code that has no caller: .eh_frame says so, or the kernel jumps there.
outermost() {
	local first last moved
	moved=$(readelf -lW "$1" 2>/dev/null | awk '$1 == "LOAD" && $8 == "E" {print $3 "-" $2; exit}')
	{
		readelf -hW "$1" | awk '/Entry point/ {print $4, "entry"}'
		readelf --debug-dump=frames "$1" | awk '
			/ CIE$/ {cie = $1; range = ""}
			/ FDE / {range = $NF; sub(/pc=/, "", range); of = $5; sub(/cie=/, "", of); if (of in ends) print range}
			/DW_CFA_undefined: r16 / {if (range) print range; else ends[cie] = 1}' | sed 's/\.\./ /'
	} 2>/dev/null | while read -r first last; do
		first=$((16#${first#0x}))
		if [ "$last" = entry ]; then last=$((first + 127)); else last=$((16#$last)); fi
		echo "$((first - (${moved:-0}))) $((last - (${moved:-0})))"
	done
}

# begins: where the complete stacks in $tmp/stacks begin; $elsewhere becomes how many bytes of them in code that has a caller.
begins() {
	local bytes offset module ranges
	elsewhere=0
	while read -r bytes offset module; do
		ranges=$(outermost "$module")
		if ! awk -v at=$((offset)) '$1 <= at && at <= $2 + 1 {found = 1} END {exit !found}' <<<"$ranges"; then
			echo "#   complete, and does not begin at $module+$offset: $((bytes / 1024)) KiB"
			elsewhere=$((elsewhere + bytes))
		fi
	done < <(jq -r 'map(select(.complete)) | group_by([.stack[0].module, .stack[0].offset])[]
		| "\([.[] | .anon_bytes + .swap_bytes] | add) \(.[0].stack[0].offset) \(.[0].stack[0].module)"' "$tmp/stacks")
}

# stacks_hold PID NAME BYTES: of a process that is stopped here: page for page, and to the outermost frame. It has so
# many bytes, or more.
stacks_hold() {
	local pid=$1 name=$2 least=$3 sums taken complete all
	kill -STOP "$pid"
	until_true 20 stopped "$pid"
	ok $? "$name is stopped" || return
	mtagctl stacks --no-symbols -j "$pid" >"$tmp/stacks" 2>"$tmp/stacks.err"
	is $? 0 "$name: its stacks are read" || { sed 's/^/# /' "$tmp/stacks.err"; return; }
	sums=$(jq -r '"\([.[].anon_bytes] | add) \([.[].swap_bytes] | add)"' "$tmp/stacks")
	is "$sums" "$(smaps "$pid")" "$name: the stacks add up to smaps, page for page"
	# What is no stack has [before], [kernel] or [unsampled] in place of frames.
	read -r all taken complete <<<"$(jq -r 'map(. + {bytes: (.anon_bytes + .swap_bytes)})
		| map(select(.why | IN("before", "kernel", "unsampled") | not)) as $taken
		| [([.[].bytes] | add), ([$taken[].bytes] | add), ([$taken[] | select(.complete).bytes] | add)]
		| map(. // 0) | join(" ")' "$tmp/stacks")"
	echo "# $name: $((all / 1024)) KiB, $((taken / 1024)) with a stack, $((complete / 1024)) complete"
	whys
	[ "$complete" -ge "$least" ]
	ok $? "$name: it has memory"
	[ $((complete * 100)) -ge $((taken * 99)) ]
	ok $? "$name: of what has a stack 99 % have one to its outermost frame" || incomplete
	begins
	is $elsewhere 0 "$name: what is complete begins where its file says that there is no caller"
	[ $((taken * 100)) -ge $((all * 95)) ]
	ok $? "$name: nearly all memory has a stack"
	is "$(drift "$pid")" 0 "$name: its counters are exact"
}

# incomplete: where stacks end.
incomplete() {
	jq -r 'map(select(.complete | not)) | sort_by(-.anon_bytes)[:12][]
		| "#   \(.why) \(.anon_bytes / 1024) KiB: \([.stack[-6:][] | "\(.module // .function)+\(.offset // 0)"] | join(" < "))
#      outermost: \(.stack[0] | "\(.module // .function)+\(.offset // 0)"), \(.stack | length) frames"' "$tmp/stacks"
}

tracked() { mtagctl -j audit | jq '.[].pid'; }

# all_stopped: all that is tracked is; its processes are $all. What is stopped starts no other.
all_stopped() {
	local pid
	all=$(tracked)
	# shellcheck disable=SC2086
	kill -STOP $all || return
	for pid in $all; do stopped "$pid" || return; done
	[ "$(tracked)" = "$all" ]
} 2>/dev/null

# as_it_is NAME BYTES: of all that is tracked, which is stopped here and has so many bytes, or more: what is so of every
# program. Which part of its stacks is incomplete, and why, is shown and not judged.
as_it_is() {
	local name=$1 least=$2 sums pid
	until_true 60 all_stopped
	ok $? "$name is stopped" || return
	mtagctl stacks --no-symbols -j >"$tmp/stacks" 2>"$tmp/stacks.err"
	is $? 0 "$name: its stacks are read" || { sed 's/^/# /' "$tmp/stacks.err"; return; }
	sums=$(jq -r 'group_by(.pid)[] | "\(.[0].pid) \([.[].anon_bytes] | add) \([.[].swap_bytes] | add)"' "$tmp/stacks")
	is "$sums" "$(for pid in $all; do echo "$pid $(smaps "$pid")"; done | sort -n)" \
		"$name: the stacks of each process add up to smaps, page for page"
	[ "$(jq '[.[] | .anon_bytes + .swap_bytes] | add' "$tmp/stacks")" -ge "$least" ]
	ok $? "$name: it has memory"
	is "$(drift)" 0 "$name: the counters of all its processes are exact"
	echo "# $name: $(wc -w <<<"$all") processes"
	whys
	begins
	incomplete
}

# beneath FUNCTION: how many bytes of $started have a function with that in its name in their stack.
beneath() {
	mtagctl stacks -j "$started" | jq --arg name "$1" '[.[] | select(any(.stack[]; .function // "" | contains($name)))
		| .anon_bytes + .swap_bytes] | add // 0'
}

all_ended() {
	visit_cpus
	[ "$(health tracked)" = 0 ]
}

# end_all: after as_it_is.
end_all() {
	# shellcheck disable=SC2086
	kill -9 $all 2>/dev/null
	end "$started"
	until_true 60 all_ended
}

says() { grep -q "$2" "$tmp/$1.out"; }

python() {
	cat >"$tmp/work.py" <<-'END'
		import re, signal, sys, threading
		# Not all of Python may be installed.
		for name in "csv ctypes decimal hashlib json sqlite3 ssl unicodedata zlib".split():
		    try: __import__(name)
		    except ImportError: pass
		if sys.argv[1:]:
		    print("ready", flush=True)
		    signal.pause()
		kept = [[i, str(i)] for i in range(150000)]
		kept.append(eval(repr({str(i): [i] * 4 for i in range(2000)})))
		kept.sort(key=lambda x: len(x))
		kept.append(re.findall("[0-9]+", " ".join(map(str, range(50000)))))
		def work(n): kept.append(sorted((str(i) for i in range(n)), reverse=True))
		threads = [threading.Thread(target=work, args=(9000,)) for _ in range(3)]
		for t in threads: t.start()
		for t in threads: t.join()
		print("ready", flush=True)
		signal.pause()
	END
	tables_of python /usr/bin/python3 "$tmp/work.py" only
	under python /usr/bin/python3 "$tmp/work.py"
	until_true 90 says python ready
	ok $? "python works" || { sed 's/^/# /' "$tmp/python.out"; return; }
	stacks_hold "$started" python $((30 << 20))
	end "$started"
}

# compiler PID: its child cc1, once it has 24 MiB.
compiler() {
	cc1=$(pgrep -P "$1" cc1) && [ "$(awk '$1 == "RssAnon:" {print $2}' "/proc/$cc1/status")" -ge $((24 << 10)) ]
} 2>/dev/null

gcc_build() {
	local i
	{
		echo '#include <stdio.h>'
		for ((i = 0; i < 4000; i++)); do
			echo "int f$i(int n, const char *s) { int t = $i; for (int i = 0; i < n; i++) { if (s[i] == 'x') t += i * $i;" \
				"else t ^= puts(s + t); } return t ? t : f$((i ? i - 1 : 0))(n - 1, s + 1); }"
		done
	} >"$tmp/large.c"
	# cc1 itself reads what never comes; its tables are handed in before it starts.
	mkfifo "$tmp/never.c"
	under cc1 "$(gcc -print-prog-name=cc1)" -quiet "$tmp/never.c"
	until_true 60 grep -q cc1 "/proc/$started/comm"
	ok $? "cc1 is there for its tables"
	under gcc gcc -O1 -c "$tmp/large.c" -o "$tmp/large.o"
	until_true 60 compiler "$started"
	ok $? "cc1 works" || { sed 's/^/# /' "$tmp/gcc.out"; return; }
	jobs+=("$cc1")
	stacks_hold "$cc1" cc1 $((20 << 20))
	end "$cc1" "$started"
}

redis() {
	local port=6398
	under redis redis-server --port $port --save '' --dir "$tmp" --io-threads 2
	until_true 60 eval "redis-cli -p $port ping 2>/dev/null | grep -q PONG"
	ok $? "redis-server answers" || { sed 's/^/# /' "$tmp/redis.out"; return; }
	redis-benchmark -p $port -n "$(more 4000 20000)" -r 20000 -d 1000 -c 20 -P 8 -t set,get,lpush,hset,zadd -q >"$tmp/load" 2>&1
	is $? 0 "redis-benchmark works"
	stacks_hold "$started" redis-server $((4 << 20))
	end "$started"
}

# With its processes for background work, which are forked.
postgres() {
	local backend as
	postgres_works "$tmp/postgres.out" under postgres || return
	stacks_hold "$backend" "PostgreSQL's backend" $((2 << 20))
	kill -CONT "$backend"
	kill -INT "$started"
	wait "$started"
}

# Its code has frame pointers, and goroutines have stacks of their own; what the runtime does it does on others, whose
# callers nobody can tell.
go() {
	local bytes all
	[ -x /usr/bin/go ] || { skip "go's stacks (not installed)"; return; }
	cat >"$tmp/work.go" <<-'END'
		package main

		import (
		    "fmt"
		    "time"
		)

		type row struct {
		    name  string
		    cells []int
		}

		//go:noinline
		func fillRows(n int) []row {
		    rows := make([]row, n)
		    for i := range rows {
		        rows[i] = row{fmt.Sprintf("row %d", i), make([]int, 16)}
		    }
		    return rows
		}

		func main() {
		    kept := make(chan []row)
		    for i := 0; i < 4; i++ {
		        go func() { kept <- fillRows(30000) }()
		    }
		    all := [][]row{<-kept, <-kept, <-kept, <-kept}
		    fmt.Println("ready")
		    time.Sleep(1 << 60)
		    fmt.Println(all)
		}
	END
	HOME=$tmp /usr/bin/go build -o "$tmp/work" "$tmp/work.go" >"$tmp/go.out" 2>&1
	is $? 0 "go: the program compiles" || { sed 's/^/# /' "$tmp/go.out"; return; }
	under go "$tmp/work"
	until_true 100 says go ready
	ok $? "go works" || { sed 's/^/# /' "$tmp/go.out"; return; }
	as_it_is go $((16 << 20))
	bytes=$(beneath fillRows)
	all=$(jq '[.[] | .anon_bytes + .swap_bytes] | add' "$tmp/stacks")
	[ $((bytes * 10)) -ge $((all * 8)) ]
	ok $? "go: most is beneath the function that goroutines run ($((bytes >> 10)) of $((all >> 10)) KiB)"
	end_all
}

# The code of V8's compilers has frame pointers.
node() {
	local bytes
	[ -x /usr/bin/node ] || { skip "node's stacks (not installed)"; return; }
	cat >"$tmp/work.js" <<-'END'
		const kept = [];
		function fillRows(n) {
		    const rows = [];
		    for (let i = 0; i < n; i++) rows.push({id: i, name: 'row ' + i, cells: [i, i * 2, i * 3]});
		    return rows;
		}
		for (let i = 0; i < 60; i++) kept.push(fillRows(2000));
		kept.push(JSON.parse(JSON.stringify(kept[0])), Buffer.alloc(4 << 20, 'x'));
		console.log('ready');
		setInterval(() => kept.length, 1 << 30);
	END
	under node /usr/bin/node --perf-basic-prof "$tmp/work.js"
	until_true 100 says node ready
	ok $? "node works" || { sed 's/^/# /' "$tmp/node.out"; return; }
	as_it_is node $((20 << 20))
	bytes=$(beneath fillRows)
	[ "$bytes" -ge $((1 << 20)) ]
	ok $? "node: a function that was compiled just in time has its name ($bytes bytes)"
	end_all
}

# Compiled without frame pointers unless it is told otherwise. Its list of functions is made by jcmd.
java() {
	[ -x /usr/bin/javac ] || { skip "java's stacks (not installed)"; return; }
	cat >"$tmp/Work.java" <<-'END'
		import java.util.*;
		class Work {
		    static Map<String, int[]> fillRows(int n) {
		        Map<String, int[]> rows = new HashMap<>();
		        for (int i = 0; i < n; i++) rows.put("row " + i, new int[] {i, i * 2, i * 3});
		        return rows;
		    }
		    public static void main(String[] args) throws Exception {
		        List<Object> kept = new ArrayList<>();
		        for (int i = 0; i < 60; i++) kept.add(fillRows(2000));
		        System.out.println("ready");
		        Thread.sleep(1L << 40);
		    }
		}
	END
	javac -d "$tmp" "$tmp/Work.java" >"$tmp/javac.out" 2>&1
	is $? 0 "java: the program compiles" || { sed 's/^/# /' "$tmp/javac.out"; return; }
	under java /usr/bin/java "$@" -Xmx256m -Xmn128m -cp "$tmp" Work
	until_true 100 says java ready
	ok $? "java works" || { sed 's/^/# /' "$tmp/java.out"; return; }
	jcmd "$started" Compiler.perfmap 2>&1 | sed 's/^/# /'
	as_it_is "java${*:+ $*}" $((20 << 20))
	echo "# java: $(beneath fillRows) bytes beneath Work.fillRows"
	end_all
}

# Browser, zygotes, renderers and others, which are forked, most from a zygote.
chromium() {
	local port=9223
	[ -x /usr/bin/chromium ] || { skip "chromium's stacks (not installed)"; return; }
	cat >"$tmp/work.html" <<-'END'
		<body><script>
		const kept = [];
		function fillRows(n) {
		    for (let i = 0; i < n; i++) {
		        const row = document.createElement("p");
		        row.textContent = "row " + i;
		        document.body.append(row);
		        kept.push({id: i, cells: [i, i * 2]});
		    }
		}
		for (let i = 0; i < 10; i++) fillRows(300);
		document.title = "ready";
		</script></body>
	END
	under chromium /usr/bin/chromium --headless --no-sandbox --disable-gpu --no-first-run --disable-extensions \
		--disable-background-networking --user-data-dir="$tmp/profile" --remote-debugging-port=$port \
		"file://$tmp/work.html"
	until_true 200 eval "curl -s http://127.0.0.1:$port/json | grep -q '\"title\": \"ready\"'"
	ok $? "chromium works" || { tail -n 20 "$tmp/chromium.out" | sed 's/^/# /'; return; }
	as_it_is chromium $((60 << 20))
	end_all
}

no_khugepaged
for program; do
	case $program in
	python) python ;;
	gcc) gcc_build ;;
	redis) redis ;;
	postgres) postgres ;;
	go) go ;;
	node) node ;;
	java) java; java -XX:+PreserveFramePointer ;;
	chromium) chromium ;;
	esac
done
is "$(health stack_lost)" 0 "there was room for every stack"
end "${jobs[@]}"
jobs=()
until_true 60 all_ended
ok $? "all have ended"
is "$(health drift)" 0 "every process that ended had all counters at 0"
done_testing
