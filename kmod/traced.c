// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the caller of a function whose end is traced. The tracer puts the address of its own code
 * in place of the return address, before a function that is called directly, or by a kprobe, sees
 * it.
 */
#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/rethook.h>
#include <linux/sched.h>
#include <linux/static_call.h>
#include "mtag.h"
#include "resolve.h"
#include "traced.h"

/* Code of function_graph, and of return probes; 0 if the kernel has none. */
static unsigned long graph_returns __ro_after_init, probe_returns __ro_after_init;

static struct ftrace_ret_stack *no_ret_stack(struct task_struct *task, int idx)
{
	return NULL;
}

/* ftrace_graph_get_ret_stack(), which is not exported. */
DEFINE_STATIC_CALL(mtag_ret_stack, no_ret_stack);

/**
 * mtag_traced_init() - look up what tracers put in place of a return address
 *
 * Context: module load, after mtag_resolve_init(). May sleep.
 */
void mtag_traced_init(void)
{
	unsigned long ret_stack = mtag_resolve("ftrace_graph_get_ret_stack");

	if (ret_stack)
		static_call_update(mtag_ret_stack, (void *)ret_stack);
	graph_returns = mtag_resolve("return_to_handler");
	probe_returns = mtag_resolve("arch_rethook_trampoline");
}

/* Is @ip a tracer's, not a caller's? Context: any. */
bool mtag_traced_is(unsigned long ip)
{
	return ip && (ip == graph_returns || ip == probe_returns);
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

	for (i = 0; i < 2 && mtag_traced_is(ip); i++)
		ip = ip == graph_returns ? graph_return() : probe_return();
	return ip;
}
