// SPDX-License-Identifier: GPL-2.0
/*
 * At load, drives a process through the ways by which pages and spaces come and go (ways.c), and
 * checks that the hooks see it. A hook that is patched in does not prove that the kernel's code
 * passes through it.
 *
 * The process is a fork of the loader, which the module tracks; it never runs user code. It makes
 * system calls as a program would, by the functions that the kernel calls for them, executes the
 * loader's program again, and kills itself before that program's first instruction. Ways that the
 * machine does not have, such as swap, are not driven; a message says so.
 */
#include <linux/cpumask.h>
#include <linux/file.h>
#include <linux/freezer.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/static_call.h>
#include <uapi/linux/wait.h>
#include "compat/compat.h"
#include "drive.h"
#include "end.h"
#include "fork.h"
#include "hook.h"
#include "life.h"
#include "mtag.h"
#include "resolve.h"
#include "space.h"
#include "stat.h"
#include "ways.h"

#define ATTEMPTS	5

static pid_t no_clone(struct kernel_clone_args *args)
{
	return -EOPNOTSUPP;
}

static long no_wait4(pid_t pid, int __user *status, int options, struct rusage *usage)
{
	return -EOPNOTSUPP;
}

DEFINE_STATIC_CALL(mtag_kernel_clone, no_clone);
DEFINE_STATIC_CALL(mtag_kernel_wait4, no_wait4);

static int resolve_calls(void)
{
	return mtag_resolve_call(mtag_kernel_clone, "kernel_clone") ?:
	       mtag_resolve_call(mtag_kernel_wait4, "kernel_wait4") ?: mtag_ways_resolve();
}

static const struct mtag_way fork_way = { "fork", NULL,
	{ mtag_fork_begin, mtag_fork_copied, mtag_fork_end, mtag_life_thread_begin }
};

static const struct mtag_way exit_way = { "exit", NULL,
	{ mtag_life_mm_leave, mtag_life_mm_going, mtag_life_mm_gone, mtag_life_thread_end }
};

static void way_hits(const struct mtag_way *way, u64 hits[MTAG_WAY_HOOKS])
{
	int i;

	for (i = 0; i < MTAG_WAY_HOOKS; i++)
		hits[i] = way->hooks[i] ? mtag_hook_hits(way->hooks[i]) : 0;
}

/* Have all hooks been hit since @before? */
static int expect_hits(const struct mtag_way *way, const u64 before[MTAG_WAY_HOOKS])
{
	u64 now[MTAG_WAY_HOOKS];
	int i;

	way_hits(way, now);
	for (i = 0; i < MTAG_WAY_HOOKS && way->hooks[i]; i++) {
		if (now[i] != before[i])
			continue;
		pr_err("self-test: %s does not come through the hook on %s\n", way->name,
		       mtag_hook_name(way->hooks[i]));
		return -ENXIO;
	}
	return 0;
}

/* Retries: reclaim and others may interfere, but not every time. */
static int run_way(struct mtag_drive *d, int i)
{
	const struct mtag_way *way = &mtag_ways[i];
	u64 before[MTAG_WAY_HOOKS];
	int attempt, ret;

	way_hits(way, before);
	for (attempt = 0; attempt < ATTEMPTS; attempt++) {
		ret = way->run(d);
		if (ret != -EAGAIN)
			break;
	}
	if (ret == MTAG_WAY_MISSING) {
		d->missing |= BIT(i);
		return 0;
	}
	if (ret == -EAGAIN) {
		pr_err("self-test: %s: %lld %s pages are counted, and there are %lld\n", way->name,
		       d->got, d->kind, d->want);
		ret = -ENXIO;
	}
	return ret ?: expect_hits(way, before);
}

/* The driven process. It never returns to its program: the signal ends that first. */
static int driven_process(void *data)
{
	struct mtag_drive *d = data;
	int i;

	d->task = get_task_struct(current);
	complete(&d->began);
	/* Stays on one CPU: pages that wait in the LRU batch of another are not paged out. */
	set_cpus_allowed_ptr(current, cpumask_of(raw_smp_processor_id()));
	d->ret = expect_hits(&fork_way, d->before_fork);
	d->s = mtag_space_mine();
	if (d->s) {
		for (i = 0; mtag_ways[i].name && !d->ret; i++)
			d->ret = run_way(d, i);
		mtag_space_put(d->s);
	} else if (!d->ret && !mtag_ways_limited(d)) {
		pr_err("self-test: fork: the child is not tracked\n");
		d->ret = -ENXIO;
	}
	send_sig(SIGKILL, current, 1);
	return 0;
}

/* Waits until the process has exited: from then on it runs no code of the module. */
static void wait_for(struct mtag_drive *d, pid_t nr)
{
	/* The process begins even if it is killed. */
	wait_for_completion(&d->began);
	while (!READ_ONCE(d->task->exit_state)) {
		schedule_timeout_uninterruptible(1);
		try_to_freeze();
	}
	put_task_struct(d->task);
	static_call(mtag_kernel_wait4)(nr, NULL, WNOHANG | __WALL, NULL);
}

/* Context: the loader is tracked. Return: false if no process can be forked. */
static bool fork_driven(struct mtag_drive *d)
{
	/* It sends no signal at exit, and is not followed by a tracer of the loader. */
	struct kernel_clone_args args = { .flags = CLONE_UNTRACED, .fn = driven_process,
					  .fn_arg = d };
	pid_t nr = static_call(mtag_kernel_clone)(&args);

	if (nr < 0)
		return false;
	wait_for(d, nr);
	return true;
}

/* Checks that the module has seen all pages of the process go. */
static int expect_none_left(void)
{
	mtag_end_flush();
	if (!atomic64_read(&mtag_stat.drift))
		return 0;
	pr_err("self-test: exit: %lld pages are left\n", atomic64_read(&mtag_stat.drift));
	return -ENXIO;
}

static void say_missing(const struct mtag_drive *d)
{
	int i;

	for (i = 0; mtag_ways[i].name; i++)
		if (d->missing & BIT(i))
			pr_info("self-test: no %s here: its hooks are not tried\n",
				mtag_ways[i].name);
}

static int drive_process(struct mtag_drive *d)
{
	u64 before_exit[MTAG_WAY_HOOKS];
	bool forked;

	init_completion(&d->began);
	d->losses = mtag_ways_losses();
	way_hits(&fork_way, d->before_fork);
	way_hits(&exit_way, before_exit);
	mtag_end_prove(true);
	forked = fork_driven(d);
	mtag_end_prove(false);
	if (!forked || (!d->ret && mtag_ways_limited(d))) {
		pr_notice("self-test: out of memory or at a limit: not all hooks are tried\n");
		return 0;
	}
	say_missing(d);
	return d->ret ?: expect_hits(&exit_way, before_exit) ?: expect_none_left();
}

/**
 * mtag_drive_run() - drive a process every way and check that the hooks see it
 *
 * Context: an init function of the module; its loader is tracked.
 * Return: 0; -ENXIO, after a message, if a hook misses something; -ENOENT, -ENOMEM.
 */
int mtag_drive_run(void)
{
	struct file *exe = mtag_exe_file(current->mm);
	char *buf = kmalloc(PATH_MAX, GFP_KERNEL);
	struct mtag_drive d = { };
	int ret = resolve_calls();

	if (exe && buf)
		d.exe = d_path(&exe->f_path, buf, PATH_MAX);
	if (IS_ERR(d.exe))
		d.exe = NULL;
	if (!ret)
		ret = drive_process(&d);
	kfree(buf);
	if (exe)
		fput(exe);
	return ret;
}
