// SPDX-License-Identifier: GPL-2.0
/*
 * For tests only: has one call of a function of mtag return at once, so that what it would have counted is
 * missed. That a miscount is found can only be shown by one.
 */
#include <linux/atomic.h>
#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/sched.h>

static char *function = "";
module_param(function, charp, 0400);
MODULE_PARM_DESC(function, "of mtag, which is loaded: returns nothing");

static int pid;
module_param(pid, int, 0600);
MODULE_PARM_DESC(pid, "process whose call that is");

static int nth;
module_param(nth, int, 0600);
MODULE_PARM_DESC(nth, "write: miss the n-th call from now on; read: 0 once that has been");

static noinline notrace void just_return(void)
{
}

static void notrace called(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			   struct ftrace_regs *fregs)
{
	struct pt_regs *regs = ftrace_get_regs(fregs);

	/* Only one process of one thread calls it, so this needs no lock. */
	if (!regs || READ_ONCE(nth) <= 0 || current->tgid != READ_ONCE(pid))
		return;
	WRITE_ONCE(nth, nth - 1);
	if (!nth)
		regs->ip = (unsigned long)just_return;
}

static struct ftrace_ops ops = {
	.func = called,
	.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY,
};

static int __init missnth_init(void)
{
	int ret;

	if (!*function)
		return -EINVAL;
	ret = ftrace_set_filter(&ops, function, strlen(function), 1);
	return ret ?: register_ftrace_function(&ops);
}

static void __exit missnth_exit(void)
{
	unregister_ftrace_function(&ops);
	ftrace_free_filter(&ops);
	/* Waits until every task has left just_return(). */
	synchronize_rcu_tasks();
}

module_init(missnth_init);
module_exit(missnth_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Misses the n-th call of a function, for tests");
