// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/offline/source.c ctl/model.c ctl/parse.c ctl/utf8.c ctl/stacks/stack.c ctl/stacks/trace.c */
/* sources: ctl/cgroup.c ctl/probe.c */
/*
 * mtagctl: what is read of a process beside its tags is that process's, though it may end, and its
 * id be another one's, while others are read.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/sched.h>

#include "cgroup.h"
#include "ctl.h"
#include "ctl_tap.h"
#include "fail.h"
#include "heaps/load.h"
#include "heaps/sites.h"
#include "kern.h"
#include "offline/source.h"
#include "stacks/resolve.h"

static pid_t process;
static bool resolved;
static void (*on_heaps)(void), (*on_stacks)(void);

/* ---- processes ---- */

/* Begins one that waits for its end, with the id @pid unless that is 0. Returns its id, or -1. */
static pid_t begin(pid_t pid)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = pid ? (uintptr_t)&pid : 0,
		.set_tid_size = pid ? 1 : 0,
	};
	pid_t child = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	if (!child) {
		pause();
		_exit(0);
	}
	return child;
}

static void end(void)
{
	if (process <= 0)
		return;
	kill(process, SIGKILL);
	waitpid(process, NULL, 0);
}

/* A clock tick later, so that it can be told, another one has its id. */
static void replace(void)
{
	pid_t before = process;

	end();
	usleep(2 * 1000000 / (useconds_t)sysconf(_SC_CLK_TCK));
	process = begin(before);
}

static void nothing(void)
{
}

/* ---- what the kernel says: one process, with a heap and a stack ---- */

int kern_open(struct kern **kern)
{
	*kern = NULL;
	return 0;
}

void kern_close(struct kern *kern)
{
	(void)kern;
}

int kern_tags(struct kern *kern, pid_t pid, struct snap *snap)
{
	(void)kern;
	(void)pid;
	return snap_add_proc(snap, process, "c") ? 0 : -ENOMEM;
}

int kern_shares(struct kern *kern, pid_t pid, struct snap *snap)
{
	return kern_tags(kern, pid, snap);
}

int kern_stacks(struct kern *kern, pid_t pid, uint32_t older, struct traces *traces)
{
	(void)kern;
	(void)pid;
	(void)older;
	(void)traces;
	on_stacks();
	return 0;
}

int heap_load_all(struct snap *snap, enum heap_depth depth)
{
	(void)depth;
	on_heaps();
	return proc_heap(&snap->procs[0]) ? 0 : -ENOMEM;
}

int heap_open(void)
{
	return -1;
}

int heap_load(int device, const struct proc *proc, struct heap_loaded *loaded)
{
	(void)device;
	(void)proc;
	(void)loaded;
	return -ENODATA;
}

int heap_load_objects(int device, const struct proc *proc, struct heap_objects *objects)
{
	(void)device;
	(void)proc;
	(void)objects;
	return -ENODATA;
}

void heap_unload(struct heap_loaded *loaded)
{
	(void)loaded;
}

int heap_sites_add(const struct heap_objects *objects, uint32_t older, struct traces *traces)
{
	(void)objects;
	(void)older;
	(void)traces;
	return 0;
}

int stacks_resolve(struct stacks *stacks, const struct traces *traces, bool symbols)
{
	(void)stacks;
	(void)traces;
	(void)symbols;
	resolved = true;
	return 0;
}

/* ---- what nobody asks here ---- */

void fail_print(const char *format, ...)
{
	(void)format;
}

int fail_open(int err)
{
	return err;
}

int fail_pid(const struct kern *kern, const char *verb, pid_t pid, int err)
{
	(void)kern;
	(void)verb;
	(void)pid;
	return err;
}

int fail_all(const struct kern *kern, const char *what, int err)
{
	(void)kern;
	(void)what;
	return err;
}

int fail_memory(void)
{
	return CTL_REFUSED;
}

void fail_incomplete(void)
{
}

int read_samples(const char *path, unsigned long number, const struct taker *taker,
		 struct origin *origin, struct snap *snap)
{
	(void)path;
	(void)number;
	(void)taker;
	(void)origin;
	(void)snap;
	return CTL_REFUSED;
}

/* ---- the tests ---- */

/* Reads it all; meanwhile this happens. */
static bool read_it(struct snap *snap, void (*heaps)(void), void (*stacks)(void))
{
	struct source source = {.stacks = true, .heaps = true};

	process = begin(0);
	on_heaps = heaps;
	on_stacks = stacks;
	resolved = false;
	return process > 0 && !source_read(&source, NULL, 0, snap) && snap->n_procs == 1;
}

static void test_read(void)
{
	struct snap snap = {0}, own = {0};
	bool good = read_it(&snap, nothing, nothing) && snap_add_proc(&own, getpid(), "c") &&
		    !cgroup_read(&own);
	const char *cgroup = good ? own.procs[0].cgroup : NULL;

	/* It is a child of ours. */
	ok(good && snap.procs[0].heap && resolved &&
		   (cgroup ? snap.procs[0].cgroup && !strcmp(snap.procs[0].cgroup, cgroup)
			   : !snap.procs[0].cgroup),
	   "a process has its cgroup, heap and stacks");
	end();
	snap_clear(&snap);
	good = read_it(&snap, nothing, end);
	ok(good && !snap.procs[0].cgroup == !cgroup && snap.procs[0].heap,
	   "it keeps them if it ends while stacks are read, which may take minutes");
	snap_clear(&snap);
	snap_clear(&own);
}

static void test_replaced(void)
{
	struct snap snap = {0};
	bool good = read_it(&snap, replace, nothing);

	if (good && process < 0) {
		printf("ok %d # SKIP no right to choose the id of a process\n", ++tap_run);
		snap_clear(&snap);
		return;
	}
	ok(good && !snap.procs[0].cgroup && !snap.procs[0].heap && !resolved,
	   "the next process with its id is not taken for it");
	end();
	snap_clear(&snap);
	good = read_it(&snap, nothing, replace);
	ok(good && snap.procs[0].heap && !resolved, "nor are its stacks");
	end();
	snap_clear(&snap);
}

int main(void)
{
	test_read();
	test_replaced();
	return tap_end();
}
