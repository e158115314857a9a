// SPDX-License-Identifier: GPL-2.0
/*
 * Installs and removes the hooks, by ftrace or kprobes, and proves that they are
 * in.
 *
 * The two hottest functions have an ftrace_ops each, so that nothing needs to
 * be looked up there; the others share one and are told apart by address.
 */
#include <linux/hash.h>
#include <linux/kprobes.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "compat/compat.h"
#include "hook.h"
#include "mtag.h"

#define HOOKS_MAX	48
#define OWN_MAX		4

unsigned long mtag_fault_ip __read_mostly;
unsigned long mtag_zap_ip __read_mostly;

static int nr_hooks;
static bool use_kprobes, installed;

static struct ftrace_ops own_ops[OWN_MAX];
static struct ftrace_ops shared_ops;
static int nr_own;
static struct kprobe probes[HOOKS_MAX];
static struct kprobe *probe_list[HOOKS_MAX];

static DEFINE_PER_CPU(u64[HOOKS_MAX], mtag_hits);

/* Hooks that may sleep: see mtag_hook_sleep_begin(). */
static atomic_t sleepers;
static bool no_sleep;

/* Function addresses → hooks; filled once, before anything is hooked. */
#define BY_IP_BITS 7
static struct mtag_hook *by_ip[1 << BY_IP_BITS];

static unsigned int ip_slot(unsigned long ip)
{
	return hash_long(ip >> 4, BY_IP_BITS);
}

static void by_ip_fill(void)
{
	struct mtag_hook *hook;

	for (hook = mtag_hooks; hook->name; hook++) {
		unsigned int slot = ip_slot(hook->addr);

		while (by_ip[slot])
			slot = (slot + 1) % ARRAY_SIZE(by_ip);
		by_ip[slot] = hook;
	}
}

static void shared_func(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			struct ftrace_regs *fregs)
{
	unsigned int slot = ip_slot(ip);
	struct mtag_hook *hook;

	for (; (hook = by_ip[slot]); slot = (slot + 1) % ARRAY_SIZE(by_ip)) {
		if (ip == hook->addr) {
			raw_cpu_add(mtag_hits[hook - mtag_hooks], 1);
			hook->func(ip, parent_ip, op, fregs);
			return;
		}
	}
}

static int probe_func(struct kprobe *kp, struct pt_regs *regs)
{
	struct mtag_hook *hook = &mtag_hooks[kp - probes];

	raw_cpu_add(mtag_hits[kp - probes], 1);
	hook->func(hook->addr, mtag_kprobe_parent(regs), NULL, mtag_fregs(regs));
	return 0;
}

NOKPROBE_SYMBOL(probe_func);

static int ops_add(struct ftrace_ops *ops, struct mtag_hook *hook)
{
	/* PERMANENT: kernel.ftrace_enabled=0 is refused while mtag counts. */
	ops->flags = FTRACE_OPS_FL_PERMANENT;
	return ftrace_set_filter_ip(ops, hook->addr, 0, 0);
}

static void ftrace_free(void)
{
	int i;

	for (i = 0; i < OWN_MAX; i++)
		ftrace_free_filter(&own_ops[i]);
	ftrace_free_filter(&shared_ops);
}

static int ftrace_prepare(void)
{
	struct mtag_hook *hook;
	int ret = 0;

	shared_ops.func = shared_func;
	for (hook = mtag_hooks; hook->name && !ret; hook++) {
		if (hook->own && nr_own < OWN_MAX) {
			own_ops[nr_own].func = hook->func;
			ret = ops_add(&own_ops[nr_own++], hook);
		} else {
			ret = ops_add(&shared_ops, hook);
		}
		if (ret)
			pr_err("%s cannot be traced (%d)\n", hook->name, ret);
	}
	if (ret)
		ftrace_free();
	return ret;
}

/*
 * ftrace takes a task that sleeps for one that has left the trampoline: nobody
 * may sleep there when it is taken away.
 */
static void forbid_sleep(void)
{
	WRITE_ONCE(no_sleep, true);
	/* Pairs with mtag_hook_sleep_begin(): who missed no_sleep is counted. */
	smp_mb();
	while (atomic_read(&sleepers))
		schedule_timeout_uninterruptible(1);
}

static void ftrace_remove(int nr)
{
	while (nr-- > 0)
		unregister_ftrace_function(nr ? &own_ops[nr - 1] : &shared_ops);
	synchronize_rcu_tasks();
}

static int ftrace_install(void)
{
	int i, ret;

	for (i = 0; i <= nr_own; i++) {
		ret = register_ftrace_function(i ? &own_ops[i - 1] : &shared_ops);
		if (ret) {
			pr_err_ratelimited("ftrace refused the hooks (%d)%s\n", ret,
					   ret == -EBUSY ? "; is kernel.ftrace_enabled 0?" : "");
			/* Some may be running already. */
			forbid_sleep();
			ftrace_remove(i);
			return ret;
		}
	}
	return 0;
}

static void kprobes_prepare(void)
{
	int i;

	for (i = 0; i < nr_hooks; i++) {
		memset(&probes[i], 0, sizeof(probes[i]));
		probes[i].addr = (kprobe_opcode_t *)mtag_hooks[i].addr;
		probes[i].pre_handler = probe_func;
		probe_list[i] = &probes[i];
	}
}

static int kprobes_install(void)
{
	int ret;

	kprobes_prepare();
	ret = register_kprobes(probe_list, nr_hooks);
	if (ret)
		pr_err_ratelimited("kprobes refused the hooks (%d)\n", ret);
	return ret;
}

/* True if the entry of @hook no longer holds what the compiler put there. */
static bool patched(const struct mtag_hook *hook)
{
	u8 text[8];

	if (copy_from_kernel_nofault(text, (void *)hook->addr, sizeof(text)))
		return false;
	/* call, jmp or int3, perhaps behind an ENDBR */
	if (text[0] == 0xf3)
		return text[4] == 0xe8 || text[4] == 0xcc;
	return text[0] == 0xe8 || text[0] == 0xe9 || text[0] == 0xcc;
}

static int check_patched(void)
{
	struct mtag_hook *hook;

	for (hook = mtag_hooks; hook->name; hook++) {
		if (!patched(hook)) {
			pr_err_ratelimited("the hook on %s did not go in\n", hook->name);
			return -ENXIO;
		}
	}
	return 0;
}

/**
 * mtag_hook_install() - have all hooks in
 *
 * Context: may sleep; the caller serializes it with mtag_hook_remove().
 * Return: 0, or an error after which no hook is in.
 */
int mtag_hook_install(void)
{
	int ret;

	if (installed)
		return 0;
	WRITE_ONCE(no_sleep, false);
	ret = use_kprobes ? kprobes_install() : ftrace_install();
	if (ret)
		return ret;
	WRITE_ONCE(installed, true);
	ret = check_patched();
	if (ret)
		mtag_hook_remove();
	return ret;
}

/**
 * mtag_hook_remove() - have no hook in, and none still running
 */
void mtag_hook_remove(void)
{
	if (!installed)
		return;
	forbid_sleep();
	if (use_kprobes)
		unregister_kprobes(probe_list, nr_hooks);
	else
		ftrace_remove(nr_own + 1);
	WRITE_ONCE(installed, false);
}

/**
 * mtag_hook_verify() - have what kprobes missed found out
 *
 * Unlike ftrace's hooks these can be switched off beneath us, and a probe hit
 * inside another is missed: then every space is counted anew.
 * Context: may sleep.
 */
void mtag_hook_verify(void)
{
	static atomic_long_t seen;
	struct mtag_hook *hook;
	long missed = 0;
	bool gone = false;

	if (!use_kprobes || !READ_ONCE(installed))
		return;
	for (hook = mtag_hooks; hook->name; hook++) {
		missed += probes[hook - mtag_hooks].nmissed;
		gone |= !patched(hook);
	}
	if (atomic_long_xchg(&seen, missed) == missed && !gone)
		return;
	atomic64_inc(&mtag_stat.lost);
	mtag_space_dirty_all();
}

/**
 * mtag_hook_sleep_begin() - may this hook sleep?
 *
 * Not when preemption is disabled, as by kprobes or when another tracer shares
 * the function, nor while the hooks are being removed.
 * Return: true, and then mtag_hook_sleep_end() is owed; or false.
 */
bool mtag_hook_sleep_begin(void)
{
	if (!preemptible())
		return false;
	atomic_inc(&sleepers);
	/* Pairs with mtag_hook_remove(): it sees the count or this sees no_sleep. */
	smp_mb__after_atomic();
	if (likely(!READ_ONCE(no_sleep)))
		return true;
	atomic_dec(&sleepers);
	return false;
}

void mtag_hook_sleep_end(void)
{
	atomic_dec(&sleepers);
}

/**
 * mtag_hook_gfp() - how may this hook allocate, and take spinlocks?
 * @sleeps:	filled: mtag_hook_sleep_end() is owed
 *
 * Return: flags, or 0: not at all (see mtag_hook_may_lock()), and the event is lost.
 */
gfp_t mtag_hook_gfp(bool *sleeps)
{
	*sleeps = mtag_hook_sleep_begin();
	if (*sleeps)
		return MTAG_GFP;
	if (!mtag_hook_may_lock())
		return 0;
	return MTAG_GFP_NOWAIT;
}

bool mtag_hook_installed(void)
{
	return READ_ONCE(installed);
}

const char *mtag_hook_mode(void)
{
	return use_kprobes ? "kprobes" : "ftrace";
}

static u64 hits_of(int i)
{
	u64 hits = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		hits += per_cpu(mtag_hits, cpu)[i];
	return hits;
}

/* The lines of debugfs hooks: function, how and whether it is in, hits, misses. */
int mtag_hook_show(struct seq_file *m)
{
	int i;

	seq_printf(m, "%-26s %-8s %-9s %12s %8s\n", "function", "mode", "state", "hits", "missed");
	for (i = 0; i < nr_hooks; i++) {
		struct mtag_hook *hook = &mtag_hooks[i];

		seq_printf(m, "%-26s %-8s %-9s ", hook->name, mtag_hook_mode(),
			   READ_ONCE(installed) ? "installed" : "idle");
		/* Counting costs: the hottest are counted by their effect only. */
		if (hook->own && !use_kprobes)
			seq_printf(m, "%12s", "-");
		else
			seq_printf(m, "%12llu", hits_of(i));
		seq_printf(m, " %8lu\n", use_kprobes ? probes[i].nmissed : 0);
	}
	return 0;
}

/**
 * mtag_hook_init() - find the functions and decide how they are hooked
 *
 * Nothing is hooked yet.
 * Return: 0, or an error where a function is missing or mtag_force_ftrace is not to be had.
 */
int mtag_hook_init(void)
{
	int ret;

	nr_hooks = mtag_resolve_hooks();
	ret = nr_hooks < 0 ? nr_hooks : mtag_resolve_callers();
	mtag_resolve_end();
	if (ret)
		return ret;
	if (nr_hooks > HOOKS_MAX)
		return -E2BIG;
	by_ip_fill();
	if (mtag_force_kprobes && IS_ENABLED(CONFIG_PREEMPT_RT)) {
		pr_err("no kprobes on PREEMPT_RT: they disable preemption, and then nothing may be allocated\n");
		return -EOPNOTSUPP;
	}
	if (mtag_force_kprobes) {
		use_kprobes = true;
		return 0;
	}
	ret = ftrace_prepare();
	/* That says nothing of this kernel. */
	if (ret == -ENOMEM)
		return ret;
	if (ret && !mtag_force_ftrace && !IS_ENABLED(CONFIG_PREEMPT_RT)) {
		pr_notice("no function tracing here: using kprobes, which cost more\n");
		use_kprobes = true;
		ret = 0;
	}
	return ret;
}

void mtag_hook_exit(void)
{
	mtag_hook_remove();
	ftrace_free();
}
