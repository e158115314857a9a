// SPDX-License-Identifier: GPL-2.0
/*
 * Finds functions of the kernel by name.
 *
 * What is to be hooked or called is looked up by a probe, which the kernel refuses where none may
 * be. Whether there is a function of some other name is asked a thousand times at each load, by the
 * kernel's own lookup: for each probe the kernel goes through all jump labels, and decodes them.
 */
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/slab.h>
#include <linux/static_call.h>
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
 * Returns the end of the function that begins at @addr, or 0. kallsyms offers the
 * size only in print: name+offset/size.
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

typedef unsigned long lookup_name_t(const char *name);

static unsigned long no_lookup_name(const char *name)
{
	return 0;
}

DEFINE_STATIC_CALL(mtag_lookup_name, no_lookup_name);

/**
 * mtag_resolve_init() - find the kernel's own lookup, which is not exported
 *
 * Context: module load. May sleep.
 * Return: 0; -ENOENT, after a message that names the function; -ENOMEM.
 */
int mtag_resolve_init(void)
{
	unsigned long addr;
	int ret = mtag_resolve("kallsyms_lookup_name", &addr);

	if (ret == -ENOENT)
		pr_err("this kernel has no function kallsyms_lookup_name\n");
	if (ret)
		return ret;
	mtag_resolve_end();
	static_call_update(mtag_lookup_name, (lookup_name_t *)addr);
	return 0;
}

/**
 * mtag_resolve_range() - look up the start and end of a function's code
 * @name:	name of the function
 * @suffix:	suffix the compiler gave to this part of the function, or ""
 * @start:	filled
 * @end:	filled
 *
 * Context: module load, after mtag_resolve_init().
 * Return: is there such a function?
 */
bool mtag_resolve_range(const char *name, const char *suffix, unsigned long *start,
			unsigned long *end)
{
	char symbol[KSYM_NAME_LEN];

	snprintf(symbol, sizeof(symbol), "%s%s", name, suffix);
	*start = static_call(mtag_lookup_name)(symbol);
	*end = *start ? function_end(*start) : 0;
	return *end;
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
