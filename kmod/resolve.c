// SPDX-License-Identifier: GPL-2.0
/*
 * Finds functions of the kernel by name.
 */
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/slab.h>
#include "mtag.h"
#include "resolve.h"

/*
 * Probes by which symbols were found. They are given back many at a time: each
 * time waits until nobody can be in a probe any more.
 */
static struct kprobe *lookups[64];
static int nr_lookups;

/**
 * mtag_resolve() - the address of a kernel function, exported or not
 * @name:	symbol
 * @addr:	filled
 *
 * Context: may sleep; while the module loads. mtag_resolve_end() is owed.
 * Return: 0; -ENOENT if there is none, or none that may be probed; -ENOMEM.
 */
int mtag_resolve(const char *name, unsigned long *addr)
{
	struct kprobe *kp = kzalloc(sizeof(*kp), GFP_KERNEL);
	int ret;

	if (!kp)
		return -ENOMEM;
	kp->symbol_name = name;
	/* A disabled probe changes no text. */
	kp->flags = KPROBE_FLAG_DISABLED;
	ret = register_kprobe(kp);
	if (ret) {
		kfree(kp);
		return ret == -ENOMEM ? ret : -ENOENT;
	}
	/* Of the caller, who may be gone then. */
	kp->symbol_name = NULL;
	*addr = (unsigned long)kp->addr;
	if (nr_lookups == ARRAY_SIZE(lookups))
		mtag_resolve_end();
	lookups[nr_lookups++] = kp;
	return 0;
}

/**
 * mtag_resolve_end() - give back what mtag_resolve() took
 *
 * Context: may sleep; while the module loads.
 */
void mtag_resolve_end(void)
{
	if (!nr_lookups)
		return;
	unregister_kprobes(lookups, nr_lookups);
	while (nr_lookups)
		kfree(lookups[--nr_lookups]);
}

/*
 * The end of the function that @addr lies in, which kallsyms tells only in
 * print: name+offset/size. The offset is that of the place behind an ENDBR.
 */
static unsigned long function_end(unsigned long addr)
{
	char buf[KSYM_SYMBOL_LEN], *plus;
	unsigned long offset, bytes;

	sprint_symbol(buf, addr);
	plus = strrchr(buf, '+');
	if (!plus || sscanf(plus, "+0x%lx/0x%lx", &offset, &bytes) != 2)
		return 0;
	return addr - offset + bytes;
}

/**
 * mtag_resolve_range() - where the code of a function is
 * @name:	of the function
 * @suffix:	that the compiler gave to this part of it, or ""
 * @start:	filled: behind an ENDBR
 * @end:	filled
 *
 * Context, return: as mtag_resolve().
 */
int mtag_resolve_range(const char *name, const char *suffix, unsigned long *start,
		       unsigned long *end)
{
	char symbol[KSYM_NAME_LEN];
	int ret;

	snprintf(symbol, sizeof(symbol), "%s%s", name, suffix);
	ret = mtag_resolve(symbol, start);
	if (ret)
		return ret;
	*end = function_end(*start);
	return *end ? 0 : -ENOENT;
}

/**
 * mtag_resolve_all() - find functions of the kernel
 * @names:	theirs
 * @at:		filled with their addresses
 * @nr:		how many
 *
 * Context, return: as mtag_resolve(); what is missing is said by name.
 */
int mtag_resolve_all(const char *const names[], unsigned long at[], int nr)
{
	int i, ret;

	for (i = 0; i < nr; i++) {
		ret = mtag_resolve(names[i], &at[i]);
		if (ret == -ENOENT)
			pr_err("this kernel has no function %s\n", names[i]);
		if (ret)
			return ret;
	}
	return 0;
}
