// SPDX-License-Identifier: GPL-2.0
/*
 * The table of the hooked functions of this kernel, and where they are.
 */
#include <linux/kallsyms.h>
#include "caller.h"
#include "inlined.h"
#include "mtag.h"
#include "resolve.h"
#include "table.h"

struct mtag_hook *mtag_hooks __ro_after_init;
int mtag_nr_hooks __ro_after_init;

/* A compiler may inline the beginning of a function and call its rest, which is not hooked. */
static int check_whole(const char *name)
{
	char symbol[KSYM_NAME_LEN];
	unsigned long addr;
	int ret;

	snprintf(symbol, sizeof(symbol), "%s.part.0", name);
	ret = mtag_resolve(symbol, &addr);
	if (ret)
		return ret == -ENOENT ? 0 : ret;
	pr_err("this kernel calls a part of the function %s, past what could be hooked\n", name);
	return -ENOENT;
}

/*
 * Fills in the addresses of the hooks. Return: how many there are; -ENOENT, said by name, where one
 * is missing; -ENOMEM.
 */
static int resolve_hooks(void)
{
	struct mtag_hook *hook;
	int ret;

	for (hook = mtag_hooks; hook->name; hook++) {
		ret = mtag_resolve(hook->name, &hook->addr);
		if (ret == -ENOENT)
			pr_err("this kernel has no function %s that could be hooked\n",
			       hook->name);
		if (!ret)
			ret = check_whole(hook->name);
		if (ret)
			return ret;
	}
	return hook - mtag_hooks;
}

/**
 * mtag_table_init() - find all that mtag must know of this kernel by name
 * @hooks:	the functions to be hooked, ended by an empty entry; kept
 * @called:	those of them that a compiler might inline, likewise
 * @callers:	the functions that call them, likewise
 *
 * Context: may sleep; while the module loads.
 * Return: 0; -ENOENT, said by name, where one is missing or inlined; -ENOMEM; -E2BIG.
 */
int mtag_table_init(struct mtag_hook *hooks, const struct mtag_called *called,
		    const struct mtag_caller_name *callers)
{
	int ret;

	mtag_hooks = hooks;
	ret = resolve_hooks();
	if (ret >= 0) {
		mtag_nr_hooks = ret;
		ret = mtag_caller_init(callers) ?: mtag_inlined_check(hooks, called);
	}
	mtag_resolve_end();
	return ret;
}
