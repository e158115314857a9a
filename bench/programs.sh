#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# bench/programs.sh ROUNDS: in the guest: what whole programs cost without the module, with it while only another
# process is tracked, and tracked; as rows of bench/run. They take turns in one boot. Of a server the requests are
# measured, its own work and its clients', not its start.
. tests/kernel/lib.sh
. bench/memory.sh
tmp=$(mktemp -d)
chmod 755 "$tmp"
states=(none untracked tracked)
names=('g++ -O1' 'python3, imports' sqlite3 redis-benchmark pgbench)
declare -A least most budget=([g++ -O1]=0.2 [python3, imports]=0.2 [sqlite3]=0.2)
export PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1 LC_ALL=C

cat >"$tmp/work.cpp" <<'END'
#include <algorithm>
#include <map>
#include <string>
#include <vector>
std::map<std::string, std::vector<int>> index_of(const std::vector<std::string> &words)
{
	std::map<std::string, std::vector<int>> index;
	for (size_t i = 0; i < words.size(); i++)
		index[words[i]].push_back(i);
	for (auto &entry : index)
		std::sort(entry.second.begin(), entry.second.end());
	return index;
}
END
cat >"$tmp/query.sql" <<'END'
SELECT relkind, count(*), max(relname) FROM pg_class GROUP BY relkind ORDER BY 2;
END
cat >"$tmp/work.sql" <<'END'
CREATE TABLE t (id INTEGER PRIMARY KEY, word TEXT, n INTEGER);
WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 60000)
INSERT INTO t SELECT i, hex(i * 7919), i * 31 % 1000 FROM r;
CREATE INDEX by_n ON t (n);
SELECT n % 7, count(*), max(word) FROM t GROUP BY n % 7 ORDER BY 2;
END

# as STATE COMMAND…
as() {
	if [ "$1" = tracked ]; then mtagctl run -- "${@:2}"; else "${@:2}"; fi
}

# count NAME STATE COMMAND…: keeps the least and the most of all runs.
count() {
	local key="$1 $2" low high
	read -r low high < <(as "$2" build/bench/busy 1 "${@:3}" 2>"$tmp/said")
	[ -n "$high" ] || { cat "$tmp/said" >&2; bail "$1 does not work"; }
	[ "${least[$key]:-$low}" -lt "$low" ] || least[$key]=$low
	[ "${most[$key]:-$high}" -gt "$high" ] || most[$key]=$high
}

# exact STATE: what was counted of the processes that are tracked is in their page tables.
exact() {
	[ "$1" != tracked ] || mtagctl audit >"$tmp/audit" || { cat "$tmp/audit" >&2; bail "what was counted has drifted"; }
}

redis() {
	as "$1" redis-server --port 6399 --save '' --dir "$tmp" >"$tmp/redis" 2>&1 &
	until_true 60 eval "redis-cli -p 6399 ping 2>/dev/null | grep -q PONG" || bail "redis-server does not answer"
	count redis-benchmark "$1" redis-benchmark -p 6399 -n 6000 -d 400 -c 20 -t lpush,get -q
	exact "$1"
	redis-cli -p 6399 shutdown nosave >/dev/null 2>&1
	wait $!
}

pg=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
postgres=(setpriv --reuid postgres --regid postgres --clear-groups env HOME="$tmp/pg")
make_database() {
	install -d -o postgres "$tmp/pg"
	"${postgres[@]}" "$pg/initdb" -D "$tmp/pg/db" -A trust --no-sync
	cat >>"$tmp/pg/db/postgresql.conf" <<-END
		listen_addresses = ''
		unix_socket_directories = '$tmp/pg'
		fsync = off
		autovacuum = off
		checkpoint_timeout = 1d
		max_connections = 10
	END
}
database() { # STATE start|stop
	as "$1" "${postgres[@]}" "$pg/pg_ctl" -D "$tmp/pg/db" -w -t 600 -m fast -l "$tmp/pg/log" "$2" >/dev/null
}
pgbench() {
	database "$1" start || bail "PostgreSQL does not start"
	# A new connection, and so a fork of the server, for each transaction.
	count pgbench "$1" "${postgres[@]}" "$pg/pgbench" -h "$tmp/pg" -n -c 1 -t 40 -C -f "$tmp/query.sql" postgres
	exact "$1"
	database "$1" stop
}

files_in_memory() {
	local programs=("$(command -v python3)" "$(command -v sqlite3)" "$(command -v redis-server)"
		"$(command -v redis-benchmark)" "$pg/postgres" "$pg/pgbench" /bin/sh /bin/true "$(type -P as)")
	local gcc
	gcc=$(dirname "$(g++ -print-file-name=cc1plus)")
	# shellcheck disable=SC2046
	in_memory "${programs[@]}" $(libraries_of "${programs[@]}" "$gcc/cc1plus" /usr/lib/python3*/lib-dynload/*.so) \
		/lib64/ld-linux-x86-64.so.2 /etc/ld.so.cache "$(command -v g++)" "$gcc"/cc1plus "$gcc"/include \
		/usr/include/c++ /usr/include/"$(gcc -print-multiarch)" /usr/include/*.h /usr/include/{linux,asm-generic} \
		/usr/lib/python3.*/ /usr/share/postgresql "${pg%/bin}/lib"
}

# Puts the hooks in, so that no program that is measured pays for that.
hooks_in() {
	mtagctl run -- sleep infinity &
	other=$!
	until_true 60 eval '[ "$(health tracked)" = 1 ] && [ "$(health installed)" -gt 0 ]' && sleep 1
}

# As bench/exact.sh does at the end: the numbers go with the module.
right_so_far() { [ "$(health drift) $(health lost)" = "0 0" ]; }

state_begin() {
	case $1 in
	none)
		[ ! -d /sys/module/mtag ] || {
			right_so_far || bail "drift is $(health drift), lost $(health lost), not 0"
			unload || bail "the module does not unload"
		}
		;;
	untracked) load linger_ms=0 && hooks_in || bail "the hooks do not go in" ;;
	esac
}

state_programs() {
	rm -f "$tmp/db"
	count 'g++ -O1' "$1" g++ -O1 -c -o "$tmp/work.o" "$tmp/work.cpp"
	count 'python3, imports' "$1" python3 -c 'import asyncio, argparse, http.client, json, sqlite3, unittest, xml.dom.minidom'
	count sqlite3 "$1" sqlite3 "$tmp/db" ".read $tmp/work.sql"
	redis "$1"
	pgbench "$1"
}

# Whether a huge page is free at the moment changes more than all that is measured here.
echo never >/sys/kernel/mm/transparent_hugepage/enabled
files_in_memory
make_database >"$tmp/made" 2>&1 || { cat "$tmp/made" >&2; bail "PostgreSQL has no database"; }
# Once before it counts, as files come into the page cache.
for ((round = 0; round <= $1; round++)); do
	[ $round != 1 ] || { least=() most=(); }
	for state in "${states[@]}"; do
		[ $round != 0 ] || [ "$state" = none ] || continue
		state_begin "$state"
		state_programs "$state"
	done
	[ -z "${other:-}" ] || kill "$other"
	other=''
done

for name in "${names[@]}"; do
	for state in "${states[@]}"; do
		awk -v OFS='\t' -v name="$name: $state" -v state="$state" -v budget="${budget[$name]:-}" \
			-v none="${least[$name none]}" -v low="${least[$name $state]}" -v high="${most[$name $state]}" 'BEGIN {
			note = sprintf("runs differ by %.2f %% of all", 100 * (high - low) / low)
			if (state == "none")
				print name, low, "", note
			else
				print name ", percent", sprintf("%+.2f", 100 * (low - none) / none), state == "tracked" ? budget : "", note
		}'
	done
done
