#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# libmtag-heap, preloaded into programs: what it counts is so, what it costs, and that the programs do not notice.
# Without the module. The sanitizers interpose malloc(), too: what is tested here is built without them.
cd "$(dirname "$(realpath "$0")")/../.." || exit
bin=build/tests/unit/heap lib=$PWD/build/lib/libmtag-heap.so
make -s "$lib" $bin/{phases,threads,first,seeds,stress,pair,probes,floats,operators} >/dev/null 2>&1 || { echo 'Bail out! it does not build'; exit 1; }
tmp=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$tmp"' EXIT
n=0 failed=0
result() { # STATUS NAME
	n=$((n + 1))
	if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; failed=1; fi
	return "$1"
}
same() { # IS WANTED NAME
	[ "$1" = "$2" ]
	local status=$?
	[ $status = 0 ] || printf '# %s\n' "is:" "${1:0:500}" "should be:" "${2:0:500}"
	result $status "$3"
}
# tap COMMAND NAME: its tests, as ours.
tap() {
	local line
	eval "$1" >"$tmp/tap"
	while IFS= read -r line; do
		case $line in
		"ok "*) result 0 "$2: ${line#ok * - }" ;;
		"not ok "*) result 1 "$2: ${line#not ok * - }" ;;
		1..*) ;;
		*) echo "$line" ;;
		esac
	done <"$tmp/tap"
	grep -q '^1\.\.' "$tmp/tap" || result 1 "$2: it ran to its end"
}
# others: the allocators beside the C library's that tests/lib/deps installs.
others() {
	local name
	for name in libjemalloc libtcmalloc_minimal libmimalloc; do
		ldconfig -p | sed -n "s/^	\($name\.so\.[0-9]*\) .*/\1/p" | head -n 1
	done
}
same "$(others | wc -l)" 3 "jemalloc, tcmalloc and mimalloc are here"

# ---- the truth ----
for truth in phases threads; do
	tap "MTAG_HEAP=exact LD_PRELOAD=$lib $bin/$truth" exact
	tap "MTAG_HEAP_PERIOD=2048 LD_PRELOAD=$lib $bin/$truth" sampled
	for other in $(others); do
		tap "MTAG_HEAP_PERIOD=8192 LD_PRELOAD='$lib $other' $bin/$truth" "sampled, $other"
	done
done
tap "MTAG_HEAP_PERIOD=2048 LD_PRELOAD=$lib $bin/first" sampled
tap "MTAG_HEAP=exact LD_PRELOAD=$lib $bin/first" exact
tap "$bin/seeds" "1,000 seeds"
tap "MTAG_HEAP_PERIOD=1024 LD_PRELOAD=$lib $bin/floats" "floating-point numbers"
for other in '' $(others); do
	same "$(LD_PRELOAD="$lib $other" $bin/operators 2>&1)" good "all operators of C++ are seen${other:+, $other}"
done
for option in -shared-libgcc '-static-libstdc++'; do
	g++ -O1 -fno-builtin -w -shared -fPIC $option tests/unit/heap/plugin/plugin.cpp -o "$tmp/plugin.so"
	result $? "a plugin in C++ is built with $option" || continue
	for mode in sampled exact; do
		same "$(MTAG_HEAP=$mode LD_PRELOAD=$lib python3 -c 'import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).plugin())' \
			"$tmp/plugin.so" 2>&1)" 4 "a plugin in C++ of a program in C, $option, $mode"
	done
done
g++ -O1 -fno-builtin -w -std=c++17 -shared -fPIC tests/unit/heap/plugin/aligned.cpp -o "$tmp/aligned.so"
same "$(LD_PRELOAD=$lib python3 -c 'import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).plugin())' "$tmp/aligned.so" 2>&1)" \
	22 "aligned operators out of memory"
gcc -O1 -fno-builtin tests/unit/heap/plugin/wrapper.c -o "$tmp/wrapper"
for mode in sampled exact off; do
	same "$(MTAG_HEAP=$mode LD_PRELOAD=$lib "$tmp/wrapper" 2>&1)" good "a program with a malloc() of its own, $mode"
done
gcc -O1 -fno-builtin -shared -fPIC tests/unit/heap/plugin/partial.c -o "$tmp/partial.so"
for mode in sampled exact off; do
	same "$(MTAG_HEAP=$mode LD_PRELOAD="$lib $tmp/partial.so" python3 -c 'import ctypes; c = ctypes.CDLL(None)
c.malloc.restype = ctypes.c_void_p; print(c.malloc_usable_size(ctypes.c_void_p(c.malloc(1000))))' 2>&1)" 1000 \
		"an allocator without malloc_usable_size(3) leaves that to the C library, $mode"
done
while read -r flags wanted; do
	rm -f "$tmp/bypass"
	# shellcheck disable=SC2086 # several flags
	gcc -O1 -fno-builtin -D_GNU_SOURCE -Iinclude -Ilib ${flags//,/ } tests/unit/heap/plugin/bypass.c -o "$tmp/bypass"
	same "$(LD_PRELOAD=$lib "$tmp/bypass" 2>&1)" "$wanted" "whether a program has a malloc() of its own: $flags"
done <<-'END'
	-fPIE not bypassed, seen
	-fno-pie,-no-pie,-DADDRESS not bypassed, seen
	-DOWN bypassed, seen
	-fno-pie,-no-pie,-DOWN bypassed, seen
END
g++ -O1 -fno-builtin -w -shared -fPIC -pthread tests/unit/heap/plugin/starter.cpp -o "$tmp/starter.so"
for mode in sampled exact off; do
	same "$(MTAG_HEAP=$mode LD_PRELOAD=$lib timeout 60 python3 -c 'import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).plugin())' \
		"$tmp/starter.so" 2>&1)" 1 "a plugin whose constructor waits for a thread, $mode"
done
gcc -O1 -fno-builtin -shared -fPIC tests/unit/heap/plugin/handlers.c -o "$tmp/libhandlers.so"
gcc -O1 -fno-builtin -Iinclude -Ilib tests/unit/heap/plugin/forks.c -o "$tmp/forks" "$tmp/libhandlers.so" -Wl,-rpath,"$tmp"
same "$(MTAG_HEAP_PERIOD=4096 LD_PRELOAD=$lib "$tmp/forks" 2>&1)" \
	'7, then 4 in the parent and 2 in its child; 1 lost; 0 took the same' \
	"what is freed and resized while a process forks, and its children"
same "$(LD_PRELOAD=$lib MTAG_HEAP=off $bin/operators 2>&1)" '' "operators leave dlerror(3) alone where nothing is counted"

gcc -O1 -fno-builtin -pthread -Iinclude -Ilib tests/unit/heap/plugin/vforks.c -o "$tmp/vforks" -Lbuild/lib -l:libmtag-heap.so
same "$(MTAG_HEAP=exact LD_PRELOAD=$lib "$tmp/vforks" 2>&1)" '0 objects more' "a thread that first allocates in a child of vfork(2)"

# ---- under stress ----
calm='broken 0, interrupted yes'
rounds=2000 limit=120
[ -z "${MTAG_LONG:-}" ] || rounds=220000 limit=900
# a_minute SINCE NAME: in the long form it has taken one at least.
a_minute() {
	[ -n "${MTAG_LONG:-}" ] || return
	[ $((SECONDS - $1)) -ge 60 ]
	result $? "$2: for a minute at least ($((SECONDS - $1)) s)"
}
for mode in sampled exact; do
	began=$SECONDS
	same "$(MTAG_HEAP=$mode MTAG_HEAP_PERIOD=4096 LD_PRELOAD=$lib timeout $limit $bin/stress $rounds 2>&1)" \
		"$calm$([ $mode = sampled ] || echo ', counted')" "threads, forks and signals: $mode"
	a_minute $began "threads, forks and signals: $mode"
done
for other in $(others); do
	began=$SECONDS
	same "$(MTAG_HEAP_PERIOD=4096 LD_PRELOAD="$lib $other" timeout $limit $bin/stress $rounds 2>&1)" "$calm" \
		"threads, forks and signals: $other"
	a_minute $began "threads, forks and signals: $other"
done

# ---- programs do the same with it ----
cat >"$tmp/program.py" <<'END'
import collections, hashlib, json, re, subprocess, sys, threading
words = re.findall(r"\w+", open(sys.argv[1]).read())
count = collections.Counter(words)
text = json.dumps(sorted(count.items())) * 20
done = []
def work(i): done.append(hashlib.sha256((text * i).encode()).hexdigest())
threads = [threading.Thread(target=work, args=(i,)) for i in range(5)]
for t in threads: t.start()
for t in threads: t.join()
print(sorted(done), len(json.loads(text[:len(text) // 20])))
print(subprocess.run(["sh", "-c", "echo child | tr a-z A-Z"], capture_output=True).stdout)
END
seq 1 200000 | awk '{ print $1 * 7919 % 200003 }' >"$tmp/numbers"
# programs: what they write, with what is preloaded in the environment.
programs() {
	python3 "$tmp/program.py" lib/thread.c
	sort --parallel=4 -S 2M -n "$tmp/numbers" | sha256sum
	gcc -O2 -w -Iinclude -D_GNU_SOURCE -frandom-seed=1 -c lib/thread.c -o "$tmp/o" && sha256sum <"$tmp/o"
	find include -type f | LC_ALL=C sort | xargs tar -c --mtime=@0 --owner=0 --group=0 | gzip -n | sha256sum
}
programs >"$tmp/bare" 2>&1
same "$(wc -l <"$tmp/bare")" 5 "python3, sort, gcc and tar do their work without it"
for mode in sampled exact; do
	same "$(MTAG_HEAP=$mode LD_PRELOAD=$lib programs 2>&1)" "$(<"$tmp/bare")" "python3, sort, gcc, tar: $mode"
done
for other in $(others); do
	LD_PRELOAD=$other programs >"$tmp/other" 2>&1
	same "$(LD_PRELOAD="$lib $other" programs 2>&1)" "$(<"$tmp/other")" "python3, sort, gcc, tar: $other"
done
# redis: what a server answers. Debian's uses jemalloc.
redis() {
	redis-server --port 0 --unixsocket "$tmp/redis" --save '' --enable-debug-command yes --daemonize no >/dev/null 2>&1 &
	local pid=$! i
	for ((i = 0; i < 100; i++)); do
		env -u LD_PRELOAD redis-cli -s "$tmp/redis" ping 2>/dev/null | grep -q PONG && break
		sleep 0.1
	done
	env -u LD_PRELOAD redis-cli -s "$tmp/redis" >"$tmp/said" <<'END'
DEBUG POPULATE 20000 key 100
SET a 1
INCR a
LPUSH list a b c d
LRANGE list 0 -1
EVAL "local t = {} for i = 1, 5000 do t[i] = 'x' .. i end return #table.concat(t)" 0
DBSIZE
END
	kill "$pid"
	wait "$pid"
	echo "status $?" >>"$tmp/said"
	cat "$tmp/said"
}
redis >"$tmp/bare" 2>&1
same "$(tail -n 2 "$tmp/bare" | xargs)" "20002 status 0" "a redis server works without it"
same "$(LD_PRELOAD=$lib redis)" "$(<"$tmp/bare")" "and with it"
# What is written where nobody asked for anything: nothing.
same "$(LD_PRELOAD=$lib MTAG_HEAP=nonsense MTAG_HEAP_PERIOD=none /bin/true 2>&1)" '' "it prints nothing, whatever it is told"
same "$(LD_PRELOAD=$lib MTAG_HEAP=off $bin/phases)" 'Bail out! no area is found' "it can be switched off"
same "$(ulimit -v 60000; LD_PRELOAD=$lib MTAG_HEAP=exact /bin/echo good 2>&1)" good "little address space is enough"
same "$(ulimit -v 1300000; LD_PRELOAD=$lib MTAG_HEAP=exact perl -e 'print length("x" x (400 << 20)) >> 20' 2>&1)" 400 \
	"a limited address space is the program's to use"
gcc -O1 -fno-builtin tests/unit/heap/plugin/most.c -o "$tmp/most"
# A sixteenth, and a MiB since whole ones are counted.
for limit in 8000 20000 100000 1000000; do
	bare=$(ulimit -d $limit; "$tmp/most")
	for preloaded in MTAG_HEAP=sampled MTAG_HEAP_PERIOD=65536 MTAG_HEAP=exact MTAG_HEAP=off; do
		left=$(ulimit -d $limit; env LD_PRELOAD="$lib" $preloaded "$tmp/most" 2>&1)
		[ "$bare" -gt 0 ] && [ "$left" -ge $((bare - limit / 16384 - 1)) ]
		result $? "limited data is the program's to use: $left MiB of $bare, $preloaded"
	done
done
same "$(ulimit -d 100000; LD_PRELOAD=$lib $bin/phases | head -n 1)" 1..10 "limited data leaves room to count"
same "$(readelf -n "$lib" | awk '/Provider: otel_memory/ { getline; print $2 }' | sort -u | xargs)" 'alloc free' \
	"samples have probes"
tap "$bin/probes $lib" probes

# ---- what it costs ----
bare=$($bin/pair 64)
# Of the way that nearly all calls go, as there is no sample: what samples cost beside, bench/run tells.
for budget in 'sampled 12' 'exact 68'; do
	read -r mode most <<<"$budget"
	cost=$($bin/pair 64 LD_PRELOAD="$lib" MTAG_HEAP="$mode" MTAG_HEAP_PERIOD=1073741824)
	awk -v a="$bare" -v b="$cost" -v most="$most" 'BEGIN { exit !(a > 0 && b > a && b - a <= most) }'
	result $? "malloc and free: $cost instructions for $bare, $mode; at most $most more"
done
echo "1..$n"
exit $failed
