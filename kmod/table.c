// SPDX-License-Identifier: GPL-2.0
/*
 * Resolves the table of hooked functions against the running kernel.
 */
#include "caller.h"
#include "inlined.h"
#include "mtag.h"
#include "resolve.h"
#include "table.h"

struct mtag_hook *mtag_hooks __ro_after_init;
int mtag_nr_hooks __ro_after_init;

/* The compiler may inline the beginning of a function and call the rest, past the hook. */
static int check_whole(const char *name)
{
	unsigned long start, end;

	if (!mtag_resolve_range(name, ".part.0", &start, &end))
		return 0;
	pr_err("this kernel calls a part of the function %s that lies past the hook\n", name);
	return -ENOENT;
}

/*
 * Fills in where the hooked functions begin. Return: their number; -ENOENT if one is missing, which
 * is logged by name.
 */
static int resolve_hooks(void)
{
	struct mtag_hook *hook;
	int ret;

	for (hook = mtag_hooks; hook->name; hook++) {
		ret = mtag_resolve_needed(hook->name, &hook->addr) ?: check_whole(hook->name);
		if (ret)
			return ret;
	}
	return hook - mtag_hooks;
}

/**
 * mtag_table_init() - resolve the hooked functions and their callers
 * @hooks:	functions to hook, ended by an empty entry; kept
 * @called:	those that a compiler might inline, ended by an empty entry
 * @callers:	functions that call the hooked ones, ended by an empty entry
 *
 * Context: module load, after mtag_resolve_init(). May sleep.
 * Return: 0; -ENOENT if one is missing or inlined, which is logged by name; -ENOMEM; -E2BIG.
 */
int mtag_table_init(struct mtag_hook *hooks, const struct mtag_called *called,
		    const struct mtag_caller_name *callers)
{
	int ret;

	mtag_hooks = hooks;
	ret = resolve_hooks();
	if (ret < 0)
		return ret;
	mtag_nr_hooks = ret;
	return mtag_caller_init(callers) ?: mtag_inlined_check(hooks, called);
}

static unsigned long no_location(unsigned long ip)
{
	return 0;
}

/* ftrace_location(), which is not exported, and missing in a kernel that traces no functions. */
DEFINE_STATIC_CALL(mtag_location, no_location);

/**
 * mtag_table_trace() - have the table tell where ftrace patches each function
 *
 * That is behind an ENDBR, if the function begins with one.
 *
 * Context: module load, after mtag_table_init(). May sleep.
 * Return: 0; -EINVAL if one cannot be traced, which is logged by name.
 */
int mtag_table_trace(void)
{
	unsigned long location = mtag_resolve("ftrace_location");
	struct mtag_hook *hook;

	if (location)
		static_call_update(mtag_location, (void *)location);
	for (hook = mtag_hooks; hook->name; hook++) {
		unsigned long addr = static_call(mtag_location)(hook->addr);

		if (!addr) {
			pr_err("%s cannot be traced\n", hook->name);
			return -EINVAL;
		}
		hook->addr = addr;
	}
	return 0;
}

/**
 * mtag_table_probe() - have the table tell where a kprobe on each function goes
 *
 * Context: module load, after mtag_table_init(). May sleep.
 * Return: 0; -ENOENT if the kernel allows no probe on one, which is logged by name; -ENOMEM.
 */
int mtag_table_probe(void)
{
	struct mtag_hook *hook;
	int ret = 0;

	for (hook = mtag_hooks; hook->name && !ret; hook++) {
		ret = mtag_resolve_probe(hook->name, &hook->addr);
		if (ret == -ENOENT)
			pr_err("%s cannot be probed\n", hook->name);
	}
	mtag_resolve_end();
	return ret;
}
