// SPDX-License-Identifier: GPL-2.0
/*
 * mtag: which part of which program owns each resident page.
 *
 * The parameter that tracks all processes, and the order of init and exit.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pid_namespace.h>
#include <linux/sched/mm.h>
#include <linux/rwsem.h>
#include <linux/sched/signal.h>
#include "access.h"
#include "chardev.h"
#include "compat/adapt.h"
#include "debugfs.h"
#include "history.h"
#include "hook.h"
#include "later.h"
#include "mtag.h"
#include "netlink.h"
#include "owner.h"
#include "resolve.h"
#include "selftest.h"
#include "space.h"
#include "stat.h"
#include "state.h"
#include "track.h"
#include "tree.h"

static char *track = "";
module_param(track, charp, 0444);
MODULE_PARM_DESC(track, "\"all\": track every process");

/*
 * Finds the next thread by pid, from @nr on, that is not a kernel thread and has an mm, and takes
 * a reference on the mm. Goes by threads: the first one of a process may end before the others.
 */
static struct mm_struct *next_mm(int *nr)
{
	struct mm_struct *mm = NULL;
	struct task_struct *task;
	struct pid *pid;

	do {
		rcu_read_lock();
		pid = idr_get_next(&init_pid_ns.idr, nr);
		task = pid ? get_pid_task(pid, PIDTYPE_PID) : NULL;
		rcu_read_unlock();
		if (task) {
			mm = get_task_mm(task);
			put_task_struct(task);
		}
		(*nr)++;
	} while (pid && !mm);
	return mm;
}

/*
 * Is the lock that a first count of @mm needs held for long? Any user can arrange that, and it must
 * not keep the module from loading.
 */
static bool is_held(struct mm_struct *mm)
{
	struct mtag_space *s = mtag_space_lookup(mm);

	if (s) {
		mtag_space_put(s);
		return false;
	}
	return rwsem_is_locked(&mm->mmap_lock);
}

/* Tracks every running process; its forks and execs follow by themselves. */
static int track_everything(void)
{
	struct mm_struct *mm;
	unsigned int before, held = 0;
	int ret, round, nr;

	if (!mtag_track_all)
		return 0;
	/* An untracked process may fork meanwhile: repeat until nothing is new. */
	for (round = 0; round < 10; round++) {
		/* Most that hold it do so for a moment. */
		if (held)
			schedule_timeout_uninterruptible(HZ / 10);
		before = atomic_read(&mtag_space_generation);
		for (held = 0, nr = 1; (mm = next_mm(&nr));) {
			if (is_held(mm)) {
				mmput(mm);
				held++;
				continue;
			}
			ret = mtag_track_start(mm);
			mmput(mm);
			/* At a limit, go on with the others: the limit is counted. */
			if (ret && ret != -ENOSPC && ret != -EAGAIN)
				return ret;
			cond_resched();
		}
		if (before == atomic_read(&mtag_space_generation) && !held)
			break;
	}
	if (held) {
		mtag_space_add_lost(NULL, held);
		pr_warn("%u threads are not tracked: their mmap_lock stayed held; `mtagctl track PID` tries again\n",
			held);
	}
	return 0;
}

static const struct {
	int (*init)(void);
	void (*exit)(void);	/* or NULL */
} parts[] = {
	{ mtag_owner_init, mtag_owner_exit },
	{ mtag_tree_init, mtag_tree_exit },
	{ mtag_resolve_init, NULL },
	{ mtag_symbols_init, mtag_symbols_exit },
	{ mtag_hook_init, mtag_hook_exit },
	{ mtag_access_init, NULL },
	{ mtag_space_init, mtag_space_exit },
	{ mtag_track_init, mtag_track_exit },
	{ mtag_later_init, mtag_later_exit },
	{ mtag_selftest, NULL },
	{ mtag_history_open, mtag_history_close },
	{ track_everything, NULL },
	{ mtag_debugfs_init, mtag_debugfs_exit },
	{ mtag_netlink_init, mtag_netlink_exit },
	/* The last one: a load that fails later would free the text under open files. */
	{ mtag_chardev_init, mtag_chardev_exit },
};

/* Is the part that begins with @init among the first @nr? */
static bool has_begun(int nr, int (*init)(void))
{
	while (nr-- > 0)
		if (parts[nr].init == init)
			return true;
	return false;
}

static void parts_exit(int nr)
{
	/* After this no hook queues any work, and no space is left to show. */
	mtag_track_all = false;
	if (has_begun(nr, mtag_space_init))
		mtag_track_close();
	while (nr-- > 0)
		if (parts[nr].exit)
			parts[nr].exit();
}

static int __init mtag_init(void)
{
	int i, ret;

	mtag_track_all = !strcmp(track, "all");
	if (*track && !mtag_track_all) {
		pr_err("invalid track=%s: must be \"all\" or empty\n", track);
		return -EINVAL;
	}
	mtag_wq = alloc_workqueue("mtag", WQ_UNBOUND, 0);
	if (!mtag_wq)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		ret = parts[i].init();
		if (ret)
			goto exit_parts;
	}
	pr_info("counting by %s\n", mtag_hook_mode());
	return 0;
exit_parts:
	parts_exit(i);
	destroy_workqueue(mtag_wq);
	return ret;
}

static void __exit mtag_exit(void)
{
	parts_exit(ARRAY_SIZE(parts));
	destroy_workqueue(mtag_wq);
}

module_init(mtag_init);
module_exit(mtag_exit);

MODULE_LICENSE("GPL");
MODULE_AUTHOR("The mtag developers");
MODULE_DESCRIPTION("Page-exact resident memory per process and tag");
MODULE_VERSION("0.1.0");
