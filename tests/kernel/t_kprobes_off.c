// SPDX-License-Identifier: GPL-2.0
/*
 * An administrator switches all kprobes off and on again while mtag counts by them. It finds what it missed, reports
 * the loss, and keeps nothing of processes that ended meanwhile. A reading looks for itself: it does not rely on
 * mtag's own look each second.
 */
/* vm: group=plain mem=2G timeout=300 not=rt because="no kprobes on PREEMPT_RT" repairs=any */
#include "lib/fail.h"
#include "lib/test.h"

#define N	 64
#define CHILDREN 20
#define READINGS 4

static void kprobes(const char *on)
{
	must0(spew("/sys/kernel/debug/kprobes/enabled", "%s", on));
}

static void load(const char *how)
{
	char parameters[256];

	snprintf(parameters, sizeof(parameters), "%s %s", getenv("MTAG_MODULE_ARGS") ?: "", how);
	must0(module_unload_soon("mtag"));
	must0(module_load(module_path(), parameters));
	ok(until(!access(MTAG_DEVICE, F_OK), 30), "the module is loaded");
}

/* A tracked child that touches something and waits. */
static pid_t waiter(struct gate *g, mtag_t t)
{
	pid_t pid = child();

	if (pid)
		return pid;
	touch(t, area(N * PG), N * PG);
	atomic_fetch_add(&g[1].step, 1);
	pass_gate(g, 1);
	_exit(0);
}

static void switched_off(void)
{
	struct gate *g;
	pid_t pids[CHILDREN];
	uint64_t lost;
	char *p;
	mtag_t t;

	begin();
	g = gate();
	t = tag("t");
	p = area(N * PG);
	for (int i = 0; i < CHILDREN; i++)
		pids[i] = waiter(g, t);
	until(atomic_load(&g[1].step) == CHILDREN, 60);
	is(health("tracked"), CHILDREN + 1, "a process and its children are tracked");
	lost = health("lost");
	kprobes("0");
	for (int i = 0; i < READINGS; i++) {
		exact("without hooks: a reading");
		touch(t, p + i * N / READINGS * PG, N / READINGS * PG);
		exact("and one right after touching more");
	}
	open_gate(g, 1);
	for (int i = 0; i < CHILDREN; i++)
		reap(pids[i]);
	kprobes("1");
	ok(until(health("tracked") == 1, 30), "processes that ended unseen are no longer tracked");
	ok(until(health("lost") > lost, 30), "the loss is reported");
	exact("what was touched meanwhile is counted at the next reading");
	in_child
		exact("a child forked afterwards is exact");
	ok(until(health("tracked") == 1, 30), "its end is seen as well");
}

int main(void)
{
	need_root();
	load("force_kprobes=1");
	in_child
		switched_off();
	load("");
	return done();
}
