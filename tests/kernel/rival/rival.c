// SPDX-License-Identifier: GPL-2.0
/*
 * For tests only: another one who hooks a kernel function, as BPF's fentry programs do (by a direct call) or as a
 * live patch does (by changing where the function goes on; this one changes nothing). Parameter hits counts calls.
 */
#include <linux/ftrace.h>
#include <linux/linkage.h>
#include <linux/module.h>
#include <linux/version.h>

static char *function = "";
module_param(function, charp, 0400);
MODULE_PARM_DESC(function, "to hook");

static bool patch;
module_param(patch, bool, 0400);
MODULE_PARM_DESC(patch, "as a live patch does, instead of by a direct call");

unsigned long rival_hits;
module_param_named(hits, rival_hits, ulong, 0400);

void rival_entry(void);
asm("	.text\n"
    "rival_entry:\n"
    "	lock incq rival_hits(%rip)\n" ASM_RET "	.type rival_entry, @function\n"
    "	.size rival_entry, .-rival_entry\n");

/* Named as if the compiler had split it off a function of the kernel that mtag hooks. */
static noinline __used void rival_part(void) asm("exit_mmap.part.0");
static void rival_part(void)
{
	asm volatile("");
}

static void patch_func(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
		       struct ftrace_regs *fregs)
{
	rival_hits++;
}

static struct ftrace_ops ops;

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
#define direct_register(ops, addr)   register_ftrace_direct(ops, addr)
#define direct_unregister(ops, addr) unregister_ftrace_direct(ops, addr, false)
#else
#define direct_register(ops, addr)   register_ftrace_direct_multi(ops, addr)
#define direct_unregister(ops, addr) unregister_ftrace_direct_multi(ops, addr)
#endif

static int __init rival_init(void)
{
	int ret;

	if (patch) {
		ops.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY;
		ops.func = patch_func;
	}
	ret = ftrace_set_filter(&ops, function, strlen(function), 0);
	if (!ret)
		ret = patch ? register_ftrace_function(&ops)
			    : direct_register(&ops, (unsigned long)rival_entry);
	if (ret)
		ftrace_free_filter(&ops);
	return ret;
}

static void __exit rival_exit(void)
{
	if (patch)
		unregister_ftrace_function(&ops);
	else
		direct_unregister(&ops, (unsigned long)rival_entry);
	ftrace_free_filter(&ops);
	synchronize_rcu_tasks();
}

module_init(rival_init);
module_exit(rival_exit);
MODULE_DESCRIPTION("another one who hooks a function, for mtag's tests");
MODULE_LICENSE("GPL");
