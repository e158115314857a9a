// SPDX-License-Identifier: GPL-2.0
/*
 * Installs and removes the hooks, by ftrace or kprobes, and verifies that they
 * are in place.
 *
 * The hottest functions have an ftrace_ops each, and call mtag directly where they can. The others
 * share one and are told apart by address.
 */
#include <linux/hash.h>
#include <linux/kprobes.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <asm/text-patching.h>
#include "compat/compat.h"
#include "hook.h"
#include "mtag.h"
#include "sleep.h"
#include "stat.h"
#include "table.h"

#define HOOKS_MAX	48
#define OWN_MAX		5

static bool use_kprobes, installed;
static unsigned int epoch;

/**
 * struct own_hook - a hook that shares no ftrace_ops with others
 * @hook:	in mtag_hooks[]
 * @ops:	calls @hook->func by a trampoline of ftrace's
 * @direct_ops:	has the function call @hook->direct instead
 * @direct:	@direct_ops is registered rather than @ops
 */
struct own_hook {
	struct mtag_hook *hook;
	struct ftrace_ops ops;
	struct ftrace_ops direct_ops;
	bool direct;
};

static struct own_hook own[OWN_MAX];
static struct ftrace_ops shared_ops;
static int nr_own;
static struct kprobe probes[HOOKS_MAX];
static struct kprobe *probe_list[HOOKS_MAX];

static DEFINE_PER_CPU(u64[HOOKS_MAX], mtag_hits);

/* Hash of the hooks by function address; filled once, before any hook is installed. */
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
	/* PERMANENT: the kernel refuses kernel.ftrace_enabled=0 while mtag counts. */
	ops->flags = FTRACE_OPS_FL_PERMANENT;
	return ftrace_set_filter_ip(ops, hook->addr, 0, 0);
}

static void ftrace_free(void)
{
	int i;

	for (i = 0; i < OWN_MAX; i++) {
		ftrace_free_filter(&own[i].ops);
		ftrace_free_filter(&own[i].direct_ops);
	}
	ftrace_free_filter(&shared_ops);
}

static int own_prepare(struct mtag_hook *hook)
{
	struct own_hook *o = &own[nr_own++];
	int ret;

	o->hook = hook;
	o->ops.func = hook->func;
	ret = ops_add(&o->ops, hook);
	if (!ret)
		ret = ops_add(&o->direct_ops, hook);
	return ret;
}

static int ftrace_prepare(void)
{
	struct mtag_hook *hook;
	int ret = mtag_table_trace();

	shared_ops.func = shared_func;
	for (hook = mtag_hooks; hook->name && !ret; hook++) {
		if (hook->direct && nr_own < OWN_MAX)
			ret = own_prepare(hook);
		else
			ret = ops_add(&shared_ops, hook);
		if (ret)
			pr_err("%s cannot be traced (%d)\n", hook->name, ret);
	}
	if (ret)
		ftrace_free();
	else
		by_ip_fill();
	return ret;
}

/* Prefers a direct call. It fails if another user has one on the function. */
static int own_install(struct own_hook *o)
{
	o->direct = mtag_direct && !mtag_direct_register(&o->direct_ops, o->hook->direct);
	return o->direct ? 0 : register_ftrace_function(&o->ops);
}

static void own_remove(struct own_hook *o)
{
	if (o->direct)
		mtag_direct_unregister(&o->direct_ops, o->hook->direct);
	else
		unregister_ftrace_function(&o->ops);
}

/* Unregisters the first @nr - 1 hooks of own[], last to first, and then the shared ops. */
static void ftrace_remove(int nr)
{
	while (nr-- > 1)
		own_remove(&own[nr - 1]);
	if (!nr)
		unregister_ftrace_function(&shared_ops);
	synchronize_rcu_tasks();
}

static int ftrace_install(void)
{
	int i, ret;

	for (i = 0; i <= nr_own; i++) {
		ret = i ? own_install(&own[i - 1]) : register_ftrace_function(&shared_ops);
		if (ret) {
			pr_err_ratelimited("ftrace refused the hooks (%d)%s\n", ret,
					   ret == -EBUSY ? "; is kernel.ftrace_enabled 0?" : "");
			/* Hooks that are in already may be running. */
			mtag_sleep_forbid();
			ftrace_remove(i);
			return ret;
		}
	}
	return 0;
}

/*
 * A write to debugfs kprobes/enabled switches all kprobes off or on. Events missed in between are
 * not counted anywhere and leave no trace afterwards, so a probe catches the write itself.
 */
static struct kprobe switch_probe;
static atomic_t switched, was_gone;
static atomic_long_t misses_seen;
static bool watches;

static int switch_func(struct kprobe *kp, struct pt_regs *regs)
{
	atomic_set(&switched, 1);
	return 0;
}

NOKPROBE_SYMBOL(switch_func);

/* A kernel without debugfs has neither this function nor the switch. */
static void switch_watch(void)
{
	memset(&switch_probe, 0, sizeof(switch_probe));
	switch_probe.symbol_name = "write_enabled_file_bool";
	switch_probe.pre_handler = switch_func;
	watches = !register_kprobe(&switch_probe);
}

static void kprobes_prepare(void)
{
	int i;

	for (i = 0; i < mtag_nr_hooks; i++) {
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
	/* Forget what the probes missed while they were last installed. */
	atomic_set(&switched, 0);
	atomic_set(&was_gone, 0);
	atomic_long_set(&misses_seen, 0);
	ret = register_kprobes(probe_list, mtag_nr_hooks);
	if (ret)
		pr_err_ratelimited("kprobes refused the hooks (%d)\n", ret);
	else
		switch_watch();
	return ret;
}

/* Is the entry of the function patched, so that it calls the hook? */
static bool entry_patched(const struct mtag_hook *hook)
{
	u8 text[8], opcode;

	if (copy_from_kernel_nofault(text, (void *)hook->addr, sizeof(text)))
		return false;
	/* An ENDBR may be in front. */
	opcode = text[0] == 0xf3 ? text[4] : text[0];
	return opcode == CALL_INSN_OPCODE || opcode == JMP32_INSN_OPCODE ||
	       opcode == INT3_INSN_OPCODE;
}

static int check_patched(void)
{
	struct mtag_hook *hook;

	for (hook = mtag_hooks; hook->name; hook++) {
		if (!entry_patched(hook)) {
			pr_err_ratelimited("the hook on %s was not installed\n", hook->name);
			return -ENXIO;
		}
	}
	return 0;
}

/**
 * mtag_hook_install() - install all hooks, unless they are in place
 *
 * Context: may sleep. The caller serializes it with mtag_hook_remove().
 * Return: 0; or an error, and no hook is installed.
 */
int mtag_hook_install(void)
{
	int ret;

	if (installed)
		return 0;
	mtag_sleep_allow();
	WRITE_ONCE(epoch, epoch + 1);
	ret = use_kprobes ? kprobes_install() : ftrace_install();
	if (ret) {
		WRITE_ONCE(epoch, epoch + 1);
		return ret;
	}
	WRITE_ONCE(installed, true);
	ret = check_patched();
	if (ret)
		mtag_hook_remove();
	return ret;
}

/**
 * mtag_hook_remove() - remove all hooks and wait until none is running
 *
 * Context: may sleep. The caller serializes it with mtag_hook_install().
 */
void mtag_hook_remove(void)
{
	if (!installed)
		return;
	mtag_sleep_forbid();
	WRITE_ONCE(epoch, epoch + 1);
	if (use_kprobes) {
		unregister_kprobes(probe_list, mtag_nr_hooks);
		if (watches)
			unregister_kprobe(&switch_probe);
	} else {
		ftrace_remove(nr_own + 1);
	}
	WRITE_ONCE(installed, false);
}

/*
 * Unlike ftrace hooks, kprobes can be switched off behind our back, and a probe hit inside
 * another is missed.
 */
bool mtag_hook_may_miss(void)
{
	return use_kprobes;
}

/**
 * mtag_hook_missed() - may a hook have missed an event since the last call?
 *
 * Context: may sleep.
 */
bool mtag_hook_missed(void)
{
	struct mtag_hook *hook;
	long missed = 0;
	bool gone;

	if (!use_kprobes || !READ_ONCE(installed))
		return false;
	gone = atomic_xchg(&switched, 0);
	for (hook = mtag_hooks; hook->name; hook++) {
		missed += probes[hook - mtag_hooks].nmissed;
		gone |= !entry_patched(hook);
	}
	missed -= atomic_long_xchg(&misses_seen, missed);
	/* The hooks may be back since the check: report the gap once more when it is over. */
	return atomic_xchg(&was_gone, gone) || gone || missed;
}

/* Are the hooks in? The answer may be old at once. Context: any. */
bool mtag_hook_installed(void)
{
	return READ_ONCE(installed);
}

/*
 * Odd from before the first hook goes in until before one goes out, and another number each time:
 * what a hook has left for later is good for as long as this stays.
 */
unsigned int mtag_hook_epoch(void)
{
	return READ_ONCE(epoch);
}

/* By what functions are hooked, in a word. Constant after mtag_hook_init(). */
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

/* The name of the function that @func is hooked on, or the first if there are several. */
const char *mtag_hook_name(ftrace_func_t func)
{
	const struct mtag_hook *hook;

	for (hook = mtag_hooks; hook->name; hook++)
		if (hook->func == func)
			return hook->name;
	return "";
}

/**
 * mtag_hook_hits() - how often has a hook been hit?
 * @func:	of the hook, on one or several functions; not one with an ftrace_ops of its own
 *
 * Context: any.
 */
u64 mtag_hook_hits(ftrace_func_t func)
{
	u64 hits = 0;
	int i;

	for (i = 0; i < mtag_nr_hooks; i++)
		if (mtag_hooks[i].func == func)
			hits += hits_of(i);
	return hits;
}

/* The mechanism that calls @hook. */
static const char *mode_of(const struct mtag_hook *hook)
{
	int i;

	for (i = 0; i < nr_own; i++)
		if (own[i].hook == hook && own[i].direct)
			return "direct";
	return mtag_hook_mode();
}

/* Counting has a cost, so the hits of the hottest hooks are not counted. */
static bool is_counted(const struct mtag_hook *hook)
{
	return use_kprobes || !hook->direct;
}

/* Shows debugfs hooks: function, mechanism, state, hits and misses, a line each. */
int mtag_hook_show(struct seq_file *m)
{
	int i;

	seq_printf(m, "%-26s %-8s %-9s %12s %8s\n", "function", "mode", "state", "hits", "missed");
	for (i = 0; i < mtag_nr_hooks; i++) {
		struct mtag_hook *hook = &mtag_hooks[i];

		seq_printf(m, "%-26s %-8s %-9s ", hook->name, mode_of(hook),
			   READ_ONCE(installed) ? "installed" : "idle");
		if (is_counted(hook))
			seq_printf(m, "%12llu", hits_of(i));
		else
			seq_printf(m, "%12s", "-");
		seq_printf(m, " %8lu\n", use_kprobes ? probes[i].nmissed : 0);
	}
	return 0;
}

/**
 * mtag_hook_init() - choose between ftrace and kprobes for the functions of the table
 *
 * Installs no hook yet.
 * Return: 0; or an error if there are too many functions, memory is exhausted, the mechanism that
 * is forced, or that PREEMPT_RT requires, does not work, or neither does.
 */
int mtag_hook_init(void)
{
	int ret;

	if (mtag_nr_hooks > HOOKS_MAX) {
		pr_err("%d functions are to be hooked, and there is room for %d\n", mtag_nr_hooks,
		       HOOKS_MAX);
		return -E2BIG;
	}
	if (mtag_force_kprobes && IS_ENABLED(CONFIG_PREEMPT_RT)) {
		pr_err("no kprobes on PREEMPT_RT: they disable preemption, so hooks could not allocate\n");
		return -EOPNOTSUPP;
	}
	if (mtag_force_kprobes) {
		use_kprobes = true;
		return mtag_table_probe();
	}
	ret = ftrace_prepare();
	/* Out of memory: this says nothing about the kernel. */
	if (ret == -ENOMEM)
		return ret;
	if (ret && !mtag_force_ftrace && !IS_ENABLED(CONFIG_PREEMPT_RT)) {
		pr_notice("no function tracing here: using kprobes, which cost more\n");
		use_kprobes = true;
		return mtag_table_probe();
	}
	return ret;
}

/* Undoes mtag_hook_init(), and removes hooks that are in. Context: may sleep. */
void mtag_hook_exit(void)
{
	mtag_hook_remove();
	ftrace_free();
}
