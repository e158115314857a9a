#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Programs that know nothing of mtag, under mtagctl run: python3, gcc, redis, sqlite3, PostgreSQL; behind the word
# stacks with the stacks of their pages.
# vm: brief=1 timeout=600 args=gcc sqlite
# vm: group=parallel mem=1G timeout=600 args=python gcc sqlite
# vm: group=parallel mem=1G timeout=600 args=redis
# vm: group=parallel mem=1G timeout=600 short=6.1 because="stacks follow pages in the same code everywhere" args=stacks python gcc redis
# vm: group=foreign-long mem=900M timeout=3600 long=1 args=postgres
. tests/kernel/foreign.sh

# tracked_job NAME COMMAND…: runs it to its end, audited meanwhile.
tracked_job() {
	local name=$1 status
	tracked "$@" >"$tmp/$name.out" 2>&1 &
	watch_work $! "$name"
	status=$?
	is $status 0 "$name works" || tail -n 20 "$tmp/$name.out" | sed 's/^/# /'
}

python() {
	cat >"$tmp/work.py" <<-'END'
		import os, threading
		kept = []
		def work(n):
		    for i in range(18):
		        kept.append({str(j): [j] * 8 for j in range(n)})
		        if i % 3 == 0:
		            kept.pop(0)
		threads = [threading.Thread(target=work, args=(700,)) for _ in range(4)]
		for t in threads: t.start()
		for t in threads: t.join()
		for i in range(24):
		    pid = os.fork()
		    if pid == 0:
		        kept[:] = kept[: len(kept) // 2]
		        work(100)
		        os._exit(0)
		    if i % 3 == 2:
		        os.waitpid(pid, 0)
		while True:
		    try: os.wait()
		    except ChildProcessError: break
		for i in range(10):
		    os.system("true")
		print(len(kept))
	END
	tracked_job python /usr/bin/python3 "$tmp/work.py"
}

gcc_build() {
	mkdir -p "$tmp/build"
	# The project's own sources, which are always at hand.
	# shellcheck disable=SC2016
	tracked_job gcc sh -c 'for f in $0; do echo "$f"; done | xargs -P 3 -I {} sh -c "
		gcc -std=c11 -D_GNU_SOURCE -DMTAG_VERSION='\''\"0\"'\'' -DMTAG_KERNELS='\''\"0\"'\'' '"$(more -O0 -O2)"' -g -Iinclude -Ictl -I/usr/include/libnl3 -c {} \
			-o '"$tmp"'/build/\$(echo {} | tr / _).o"' "$(more 'lib/[a-d]*.c' 'lib/*.c ctl/*.c ctl/*/*.c')"
}

sqlite() {
	local rows
	rows=$(more 15000 120000)
	cat >"$tmp/work.sql" <<-END
		CREATE TABLE t (id INTEGER PRIMARY KEY, word TEXT, n INTEGER);
		WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < $rows)
		INSERT INTO t SELECT i, hex(randomblob(12)), abs(random()) % 1000 FROM r;
		CREATE INDEX by_word ON t (word);
		CREATE INDEX by_n ON t (n);
		SELECT n % 7, count(*), max(word) FROM t GROUP BY n % 7 ORDER BY 2;
		DELETE FROM t WHERE n % 3 = 0;
		VACUUM;
	END
	tracked_job sqlite sqlite3 -cmd 'PRAGMA mmap_size=67108864' "$tmp/work.db" ".read $tmp/work.sql"
}

redis() {
	local port=6399 server
	tracked redis-server redis-server --port $port --save '' --dir "$tmp" --io-threads 2 >"$tmp/redis.out" 2>&1 &
	server=$!
	until_true 60 eval "redis-cli -p $port ping 2>/dev/null | grep -q PONG"
	ok $? "redis-server answers" || { tail "$tmp/redis.out" | sed 's/^/# /'; return; }
	tracked_job redis-benchmark redis-benchmark -p $port -n "$(more 1200 6000)" -r 20000 -d 400 -c 20 -t set,get,lpush,hset,zadd -q
	# A snapshot is a fork, with copy on write while the load goes on.
	redis-cli -p $port bgsave >/dev/null
	tracked_job redis-snapshot redis-benchmark -p $port -n "$(more 800 4000)" -r 20000 -d 400 -c 20 -t set,get -q
	until_true 60 eval "redis-cli -p $port info persistence | grep -q 'rdb_bgsave_in_progress:0'"
	ok $? "redis-server's snapshot ends"
	redis-cli -p $port flushall >/dev/null
	audit_work
	ok $? "redis-server, emptied: drift 0, lost 0"
	redis-cli -p $port shutdown nosave >/dev/null 2>&1
	wait $server
	is $? 0 "redis-server ends well"
}

postgres() {
	local pg data=$tmp/pg
	pg=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
	[ -x "$pg/postgres" ] || { skip "PostgreSQL is exact (not installed)"; return; }
	install -d -o postgres "$data" "$tmp/pgsocket"
	chown postgres "$tmp/pgsocket"
	as=(setpriv --reuid postgres --regid postgres --clear-groups env LC_ALL=C HOME="$data")
	tracked_job initdb "${as[@]}" "$pg/initdb" -D "$data/db" -A trust --no-sync
	tracked_job pg_ctl-start "${as[@]}" "$pg/pg_ctl" -D "$data/db" -w -t 120 -l "$data/log" \
		-o "-c listen_addresses= -c unix_socket_directories=$tmp/pgsocket -c shared_buffers=48MB -c fsync=off" start
	tracked_job pgbench-init "${as[@]}" "$pg/pgbench" -h "$tmp/pgsocket" -i -s 1 -q postgres
	tracked_job pgbench "${as[@]}" "$pg/pgbench" -h "$tmp/pgsocket" -c 4 -j 2 -T "$(more 2 12)" -C postgres
	tracked_job pgbench-select "${as[@]}" "$pg/pgbench" -h "$tmp/pgsocket" -c 4 -T "$(more 2 6)" -S postgres
	audit_work
	ok $? "PostgreSQL at rest: drift 0, lost 0"
	tracked_job pg_ctl-stop "${as[@]}" "$pg/pg_ctl" -D "$data/db" -w -t 120 -m fast stop
}

pressure 512M
least=0
for program; do
	case $program in
	stacks) stacks=yes ;;
	python) python; least=$((least + 25)) ;;
	gcc) gcc_build; least=$((least + 15)) ;;
	sqlite) sqlite; least=$((least + 1)) ;;
	redis) redis; least=$((least + 3)) ;;
	postgres) postgres; least=$((least + 10)) ;;
	esac
done
verdict $least
