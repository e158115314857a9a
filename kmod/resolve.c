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
 * Probes that looked up symbols. They are unregistered in batches, as each
 * unregistration waits until no CPU can still be in a probe.
 */
static struct kprobe *lookups[64];
static int nr_lookups;

/**
 * mtag_resolve() - look up the address of a kernel function, exported or not
 * @name:	symbol
 * @addr:	filled
 *
 * Context: module load. May sleep. The caller must mtag_resolve_end() afterwards.
 * Return: 0; -ENOENT if no such function exists or it may not be probed; -ENOMEM.
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
	/* The name belongs to the caller and may not outlive it. */
	kp->symbol_name = NULL;
	*addr = (unsigned long)kp->addr;
	if (nr_lookups == ARRAY_SIZE(lookups))
		mtag_resolve_end();
	lookups[nr_lookups++] = kp;
	return 0;
}

/**
 * mtag_resolve_end() - release the probes that mtag_resolve() took
 *
 * Context: module load. May sleep.
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
 * Returns the end of the function that contains @addr, or 0. kallsyms offers the
 * size only in print: name+offset/size. @addr lies after an ENDBR, so the offset
 * need not be 0.
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
 * mtag_resolve_range() - look up the start and end of a function's code
 * @name:	name of the function
 * @suffix:	suffix the compiler gave to this part of the function, or ""
 * @start:	filled: after an ENDBR
 * @end:	filled
 *
 * Context: as mtag_resolve().
 * Return: as mtag_resolve().
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
 * mtag_resolve_all() - look up several kernel functions
 * @names:	names of the functions
 * @at:		filled with their addresses
 * @nr:		number of functions
 *
 * Context: as mtag_resolve().
 * Return: as mtag_resolve(); a missing function is logged by name.
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
