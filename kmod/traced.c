// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the caller of a function whose end is traced. The tracer puts the address of its own code
 * in place of the return address, before a function that is called directly, or by a kprobe, sees
 * it.
 */
#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/rethook.h>
#include <linux/sched.h>
#include <linux/static_call.h>
#include "mtag.h"
#include "resolve.h"
#include "traced.h"

/* Code of function_graph, and of return probes. */
static unsigned long graph_returns, probe_returns;

static struct ftrace_ret_stack *no_ret_stack(struct task_struct *task, int idx)
{
	return NULL;
}

/* ftrace_graph_get_ret_stack(), which is not exported. */
DEFINE_STATIC_CALL(mtag_ret_stack, no_ret_stack);

/**
 * mtag_traced_init() - look up where function_graph keeps return addresses
 *
 * Context: module load. May sleep. The caller must mtag_resolve_end() afterwards.
 * Return: 0, also without function_graph; -ENOMEM.
 */
int mtag_traced_init(void)
{
	unsigned long addr;
	int ret = mtag_resolve("ftrace_graph_get_ret_stack", &addr);

	if (!ret)
		static_call_update(mtag_ret_stack, (void *)addr);
	/* Such a kernel has no function_graph. */
	return ret == -ENOENT ? 0 : ret;
}

/* Is @ip known to be a tracer's, not a caller's? Context: any. */
bool mtag_traced_is(unsigned long ip)
{
	return ip && (ip == READ_ONCE(graph_returns) || ip == READ_ONCE(probe_returns));
}

/* As mtag_traced_is(), of an unknown address. That code may not be probed, so not resolved. */
static bool is_tracers(unsigned long ip)
{
	char name[KSYM_SYMBOL_LEN];

	sprint_symbol_no_offset(name, ip);
	if (!strcmp(name, "return_to_handler"))
		WRITE_ONCE(graph_returns, ip);
	if (!strcmp(name, "arch_rethook_trampoline"))
		WRITE_ONCE(probe_returns, ip);
	return mtag_traced_is(ip);
}

/* Where the hooked function returns to according to function_graph, which may trace us as well. */
static unsigned long graph_return(void)
{
	const struct ftrace_ret_stack *top;
	int i = 0;

	do
		top = static_call(mtag_ret_stack)(current, i++);
	while (top && within_module(top->func, THIS_MODULE));
	return top ? top->ret : 0;
}

/* Likewise according to return probes; there may be several. */
static unsigned long probe_return(void)
{
#ifdef CONFIG_RETHOOK
	struct rethook_node *node;

	llist_for_each_entry(node, current->rethooks.first, llist)
		if (node->ret_addr != probe_returns)
			return node->ret_addr;
#endif
	return 0;
}

/**
 * mtag_traced_undo() - the return address that a tracer has replaced
 * @ip:		return address of the hooked function, as it is on the stack
 *
 * Each kind of tracer may have replaced the other's.
 * Context: any, in the hooked function's task.
 * Return: the address; @ip if it is not a tracer's; 0 if it is, and nobody tells which it replaced.
 */
unsigned long mtag_traced_undo(unsigned long ip)
{
	int i;

	for (i = 0; i < 2 && (mtag_traced_is(ip) || is_tracers(ip)); i++)
		ip = ip == READ_ONCE(graph_returns) ? graph_return() : probe_return();
	return ip;
}
