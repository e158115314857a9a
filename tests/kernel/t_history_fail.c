// SPDX-License-Identifier: GPL-2.0
/* The end of a process whose allocations fail, and the end of the module, with processes in its history. */
/* vm: group=parallel mem=1G timeout=300 repairs=any because="allocations that fail may cost one each" */
#include "lib/fail.h"
#include "lib/past.h"

static const size_t pages[PAST_TAGS] = {20, 70, 2000};
static struct last *l;

/* A process ends by exit(6) while no allocation of it succeeds in mtag. */
static void no_memory(void)
{
	uint64_t lost = health("history_lost");
	struct gate *g = gate();
	int status, failed;
	pid_t pid = child();

	if (!pid) {
		last_begin(l, pages);
		open_gate(g, 1);
		pass_gate(g, 2);
		_exit(6);
	}
	pass_gate(g, 1);
	fail_set("every", 1);
	fail_arm(pid, 1);
	open_gate(g, 2);
	must(waitpid(pid, &status, 0));
	failed = fail_disarm(NULL);
	fail_set("every", 0);
	ok(failed > 0, "allocations fail at the end of a process (%d)", failed);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 6, "it ends as it would have");
	is(past_of(pid, NULL).entries, 0, "it is not in the history");
	is(health("history_lost"), lost + 1, "which is counted");
	ok(strstr(ctl(NULL, "history -n 1"), "not recorded"), "and mtagctl says so");
}

static void unload(void)
{
	pid_t pid = child();

	if (!pid) {
		last_begin(l, pages);
		_exit(0);
	}
	reap(pid);
	ok(health("history"), "there is a history");
	is(module_unload_soon("mtag"), 0, "the module goes");
	is(module_load(module_path(), ""), 0, "and comes again");
	is(health("history"), 0, "without one: those of its self-test are not in it");
}

int main(void)
{
	begin_test();
	ctl(NULL, "history --clear");
	l = must(mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	fail_begin();
	fail_beneath_mtag();
	no_memory();
	fail_end();
	unload();
	return end_test();
}
