# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # its variables are those of tests
# PostgreSQL at work, for tests of programs of others: sourced after lib.sh.

# has_slept: whether one of PostgreSQL's processes has done its work, which is $backend then.
has_slept() {
	backend=$("${as[@]}" "$pg/psql" -h "$data" -Atc \
		"select pid from pg_stat_activity where query like 'select pg_sleep%'" postgres)
	[ -n "$backend" ]
} 2>/dev/null

# postgres_works OUT COMMAND…: has COMMAND start the server, whose output goes to OUT, and that do some work that needs
# memory. Then $backend, which has done it, sleeps. Its user's command prefix is $as.
postgres_works() {
	local out=$1 pg data=$tmp/pg
	shift
	pg=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
	[ -x "$pg/postgres" ] || { skip "PostgreSQL works (not installed)"; return 1; }
	chmod 755 "$tmp"
	install -d -o postgres "$data"
	as=(setpriv --reuid postgres --regid postgres --clear-groups env LC_ALL=C HOME="$data")
	"${as[@]}" "$pg/initdb" -D "$data/db" -A trust --no-sync >"$tmp/initdb" 2>&1
	is $? 0 "initdb works" || { tail "$tmp/initdb" | sed 's/^/# /'; return 1; }
	"$@" "$pg/postgres" -D "$data/db" -c listen_addresses= -c unix_socket_directories="$data" -c shared_buffers=16MB \
		-c fsync=off
	until_true 60 eval '"${as[@]}" "$pg/psql" -h "$data" -c "select 1" postgres >/dev/null 2>&1'
	ok $? "PostgreSQL answers" || { sed 's/^/# /' "$out"; return 1; }
	"${as[@]}" "$pg/psql" -h "$data" postgres -c "set work_mem='64MB'" -c "create temp table t as select i, md5(i::text) m
		from generate_series(1, 60000) i" -c "select count(*) from (select m from t order by m) x" \
		-c "select pg_sleep(3600)" >"$tmp/psql" 2>&1 &
	until_true 60 has_slept
	ok $? "PostgreSQL works"
}
