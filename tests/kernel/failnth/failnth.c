// SPDX-License-Identifier: GPL-2.0
/*
 * For tests only: fails the n-th allocation, as fault injection does in kernels that have it.
 *
 * The allocators are hooked at their entry, by ftrace, and made to return NULL at once. So nothing is said in
 * the kernel's log, and what a failure inside an allocator would do to it is not tried. ftrace_ops of our own
 * and no kprobes: those are missed in the handlers of other kprobes, which are where mtag allocates then.
 *
 * What counts is what a process and its children allocate while a function of a range of text runs: the
 * stack is unwound. What interrupts allocate never counts.
 */
#include <linux/atomic.h>
#include <linux/ftrace.h>
#include <linux/gfp.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <linux/stacktrace.h>
#include <linux/version.h>

static unsigned long begin, end;
module_param(begin, ulong, 0600);
module_param(end, ulong, 0600);
MODULE_PARM_DESC(end, "only while a function between begin and end runs; 0 and 0: always");

static int pid;
module_param(pid, int, 0600);
MODULE_PARM_DESC(pid, "process that is meant, with its children; -1: all, 0: none");

static unsigned int every;
module_param(every, uint, 0600);
MODULE_PARM_DESC(every, "after the n-th every so many-th; 0: no more");

static unsigned int stall;
module_param(stall, uint, 0600);
MODULE_PARM_DESC(stall, "milliseconds that a failure takes; less, written meanwhile, ends it");

static bool harmless;
module_param(harmless, bool, 0600);
MODULE_PARM_DESC(harmless, "a failure is only the time that it takes: the allocation goes on");

static bool deadly;
module_param(deadly, bool, 0600);
MODULE_PARM_DESC(deadly, "who asked is killed as well: some allocators fail for those alone");

static atomic_t left, failed, seen;
static unsigned long failed_ip, failed_for, failed_by;

static int set_nth(const char *value, const struct kernel_param *kp)
{
	int n, ret = kstrtoint(value, 0, &n);

	if (ret)
		return ret;
	atomic_set(&left, 0);
	atomic_set(&failed, 0);
	atomic_set(&seen, 0);
	atomic_set(&left, n);
	return 0;
}

static int get_nth(char *buffer, const struct kernel_param *kp)
{
	return sprintf(buffer, "%d %d %ps for %pS\n", atomic_read(&failed), atomic_read(&seen),
		       (void *)READ_ONCE(failed_ip), (void *)READ_ONCE(failed_for));
}

static const struct kernel_param_ops nth_ops = {.set = set_nth, .get = get_nth};
module_param_cb(nth, &nth_ops, NULL, 0600);
MODULE_PARM_DESC(
	nth,
	"write: fail the n-th from now on, 0: none; read: how many failed and were asked for, and the last that failed");

static int get_by(char *buffer, const struct kernel_param *kp)
{
	return sprintf(buffer, "%ps\n", (void *)READ_ONCE(failed_by));
}

static const struct kernel_param_ops by_ops = {.get = get_by};
module_param_cb(by, &by_ops, NULL, 0400);
MODULE_PARM_DESC(by, "read: who called what the last that failed was for");

/* Where an allocator has its flags; NO_GFP: nowhere. */
enum { NO_GFP = -1, FIRST, SECOND, THIRD, FOURTH, FIFTH };

#ifdef CONFIG_SLAB_BUCKETS
#define BEHIND_BUCKET THIRD
#else
#define BEHIND_BUCKET SECOND
#endif
/* Since it takes an alignment. */
#ifdef kvmalloc_node_align
#define KVMALLOC (BEHIND_BUCKET + 1)
#else
#define KVMALLOC BEHIND_BUCKET
#endif

/* Of all kernels; each has some. */
static const struct {
	const char *name;
	int gfp;
} allocators[] = {
	{"kmem_cache_alloc", SECOND},
	{"kmem_cache_alloc_lru", THIRD},
	{"kmem_cache_alloc_node", SECOND},
	{"kmem_cache_alloc_bulk", SECOND},
	{"__kmalloc", SECOND},
	{"__kmalloc_node", SECOND},
	{"__kmalloc_node_track_caller", SECOND},
	{"kmalloc_trace", SECOND},
	{"kmalloc_node_trace", SECOND},
	{"kmalloc_large", SECOND},
	{"kmalloc_large_node", SECOND},
	{"kvmalloc_node", SECOND},
	{"__alloc_percpu", NO_GFP},
	{"__alloc_percpu_gfp", THIRD},
	{"__vmalloc_node_range", FIFTH},
	{"__alloc_pages", FIRST},
	{"__alloc_pages_bulk", FIRST},
	{"kmem_cache_alloc_noprof", SECOND},
	{"kmem_cache_alloc_lru_noprof", THIRD},
	{"kmem_cache_alloc_node_noprof", SECOND},
	{"kmem_cache_alloc_bulk_noprof", SECOND},
	{"kmem_cache_prefill_sheaf", SECOND},
	{"__kmalloc_noprof", SECOND},
	{"__kmalloc_node_noprof", BEHIND_BUCKET},
	{"__kmalloc_node_track_caller_noprof", BEHIND_BUCKET},
	{"__kmalloc_cache_noprof", SECOND},
	{"__kmalloc_cache_node_noprof", SECOND},
	{"__kmalloc_large_noprof", SECOND},
	{"__kmalloc_large_node_noprof", SECOND},
	{"__kvmalloc_node_noprof", KVMALLOC},
	{"pcpu_alloc_noprof", FOURTH},
	{"__vmalloc_node_range_noprof", FIFTH},
	{"__alloc_pages_noprof", FIRST},
	{"__alloc_frozen_pages_noprof", FIRST},
	{"alloc_pages_bulk_noprof", FIRST},
};

/**
 * struct group - allocators that have their flags in the same place
 * @ops:	of all of them
 * @gfp:	that place
 * @found:	how many this kernel has
 */
struct group {
	struct ftrace_ops ops;
	int gfp;
	int found;
};

static struct group groups[FIFTH + 2];

/* What a failed allocator does. */
static noinline notrace void *just_return(void)
{
	if (READ_ONCE(deadly))
		send_sig(SIGKILL, current, 1);
	return NULL;
}

static notrace unsigned long flags_of(const struct group *group, const struct pt_regs *regs)
{
	switch (group->gfp) {
	case FIRST:
		return regs->di;
	case SECOND:
		return regs->si;
	case THIRD:
		return regs->dx;
	case FOURTH:
		return regs->cx;
	case FIFTH:
		return regs->r8;
	}
	return 0;
}

static notrace bool concerns(struct task_struct *task)
{
	int wanted = READ_ONCE(pid);
	bool ret;

	if (wanted < 0)
		return true;
	/* The parent is freed after a grace period. */
	preempt_disable_notrace();
	ret = wanted && (task->tgid == wanted || READ_ONCE(task->real_parent)->tgid == wanted);
	preempt_enable_notrace();
	return ret;
}

static notrace bool is_of_range(unsigned long addr)
{
	return addr > begin && addr <= end;
}

/* May a function in the range run? Is there a return address that may also be an old one. */
static notrace bool may_be_beneath(const struct pt_regs *regs)
{
	unsigned long *sp = (unsigned long *)regs->sp, *top;

	top = task_stack_page(current) + THREAD_SIZE;
	if (sp < (unsigned long *)task_stack_page(current))
		return false;
	for (; sp < top; sp++)
		if (is_of_range(READ_ONCE_NOCHECK(*sp)))
			return true;
	return false;
}

/* Does one? */
static noinline notrace bool is_beneath(void)
{
	unsigned long callers[64];
	unsigned int i, nr = stack_trace_save(callers, ARRAY_SIZE(callers), 0);

	for (i = 0; i < nr; i++)
		if (is_of_range(callers[i]))
			return true;
	return false;
}

/*
 * Making a cache shows the stack in the log when it fails, and so does vmalloc when what it allocates itself
 * fails: that would be taken for an error. What looks for bugs switches itself off when its own allocation
 * fails: kmemleak, KASAN's stacks, objects' states. Some kernels warn of a kprobe that cannot be armed. @ip is the
 * allocator's, which itself is not spared.
 */
static noinline notrace bool is_spared(unsigned long ip, unsigned long parent_ip)
{
	static const char *const spared[] = {
		"kmem_cache_create",
		"__vmalloc_node_range",
		"create_object",
		"stack_depot",
		"fill_pool",
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0) && LINUX_VERSION_CODE < KERNEL_VERSION(6, 19, 0)
		"arm_kprobe",
#endif
	};
	unsigned long callers[32];
	unsigned int i, j, nr;
	char name[KSYM_SYMBOL_LEN];

	/* At the entry of a function who unwinds by frame pointers does not see its caller. */
	callers[0] = parent_ip;
	nr = 1 + stack_trace_save(callers + 1, ARRAY_SIZE(callers) - 1, 0);
	for (i = 0; i < nr; i++) {
		/* Where it calls ftrace. */
		if (callers[i] - ip <= MCOUNT_INSN_SIZE)
			continue;
		sprint_symbol(name, callers[i]);
		for (j = 0; j < ARRAY_SIZE(spared); j++)
			if (strstr(name, spared[j]))
				return true;
	}
	return false;
}

/* Who called the function that @ip is in. */
static noinline notrace unsigned long caller_of(unsigned long ip)
{
	unsigned long callers[32];
	unsigned int i, nr = stack_trace_save(callers, ARRAY_SIZE(callers), 0);

	for (i = 0; i + 1 < nr; i++)
		if (callers[i] == ip)
			return callers[i + 1];
	return 0;
}

/* By the clock: how fast a loop is has been found out at boot, when the host may have been busy. */
static noinline notrace void take_time(void)
{
	u64 start = ktime_get_ns();

	while (ktime_get_ns() - start < (u64)READ_ONCE(stall) * NSEC_PER_MSEC)
		cpu_relax();
}

static void notrace called(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			   struct ftrace_regs *fregs)
{
	struct pt_regs *regs = ftrace_get_regs(fregs);

	if (atomic_read(&left) <= 0 || !regs || !in_task() || !concerns(current))
		return;
	/* Such a caller cannot handle a failure. */
	if (flags_of(container_of(ops, struct group, ops), regs) & (__force int)__GFP_NOFAIL)
		return;
	if (end && !is_of_range(parent_ip) && !(may_be_beneath(regs) && is_beneath()))
		return;
	atomic_inc(&seen);
	if (atomic_dec_return(&left))
		return;
	if (is_spared(ip, parent_ip)) {
		atomic_set(&left, 1);
		return;
	}
	atomic_set(&left, READ_ONCE(every));
	WRITE_ONCE(failed_ip, ip);
	WRITE_ONCE(failed_for, parent_ip);
	WRITE_ONCE(failed_by, caller_of(parent_ip));
	atomic_inc(&failed);
	take_time();
	if (harmless)
		return;
	regs->ip = (unsigned long)just_return;
}

static void remove(int nr)
{
	while (nr-- > 0) {
		if (groups[nr].found)
			unregister_ftrace_function(&groups[nr].ops);
		ftrace_free_filter(&groups[nr].ops);
	}
}

/*
 * Where they are: ftrace itself would look at the names of all functions for each. As long as a probe is registered it has
 * the address, and it need not be enabled.
 */
static int find_all(void)
{
	static struct kprobe probes[ARRAY_SIZE(allocators)], *found[ARRAY_SIZE(allocators)];
	struct group *group;
	int i, nr = 0, ret = 0;

	for (i = 0; i < ARRAY_SIZE(allocators) && !ret; i++) {
		probes[i].symbol_name = allocators[i].name;
		probes[i].flags = KPROBE_FLAG_DISABLED;
		ret = register_kprobe(&probes[i]);
		if (ret == -ENOENT) {
			ret = 0;
			continue;
		}
		if (ret)
			break;
		found[nr++] = &probes[i];
		group = &groups[allocators[i].gfp + 1];
		ret = ftrace_set_filter_ip(&group->ops, (unsigned long)probes[i].addr, 0, 0);
		group->found += !ret;
	}
	unregister_kprobes(found, nr);
	return ret;
}

static int __init failnth_init(void)
{
	int i, found = 0, ret = find_all();

	for (i = 0; i < ARRAY_SIZE(groups); i++) {
		groups[i].gfp = i - 1;
		groups[i].ops.func = called;
		groups[i].ops.flags |= FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY;
		/* An empty filter is every function. */
		if (!ret && groups[i].found)
			ret = register_ftrace_function(&groups[i].ops);
		if (ret) {
			for (; i < ARRAY_SIZE(groups); i++)
				groups[i].found = 0;
			remove(ARRAY_SIZE(groups));
			return ret;
		}
		found += groups[i].found;
	}
	pr_info("failnth: %d allocators\n", found);
	return 0;
}

static void __exit failnth_exit(void)
{
	remove(ARRAY_SIZE(groups));
	/* Waits until every task has left just_return(). */
	synchronize_rcu_tasks();
}

module_init(failnth_init);
module_exit(failnth_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Fails the n-th allocation, for tests");
