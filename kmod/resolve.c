// SPDX-License-Identifier: GPL-2.0
/*
 * Finds functions of the kernel by name.
 *
 * It asks the kernel's table of symbols, for a thousand names at each load. The function that tells
 * them is not exported, and is found by a probe; so is what is to be hooked by one. A probe takes
 * as long as 150 names: for it the kernel goes through all jump labels, and decodes them.
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
 * mtag_resolve_probe() - look up where a kprobe on a function of the kernel goes
 * @name:	symbol
 * @addr:	filled
 *
 * Context: module load. May sleep. The caller must mtag_resolve_end() afterwards.
 * Return: 0; -ENOENT if no such function exists or it may not be probed; -ENOMEM.
 */
int mtag_resolve_probe(const char *name, unsigned long *addr)
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
 * mtag_resolve_end() - release the probes that mtag_resolve_probe() took
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
typedef int each_match_t(int (*fn)(void *data, unsigned long addr), const char *name, void *data);

static unsigned long no_lookup_name(const char *name)
{
	return 0;
}

DEFINE_STATIC_CALL(mtag_lookup_name, no_lookup_name);

/*
 * Stands in for kallsyms_on_each_match_symbol(), which early builds of 6.1 lack: as that does, it
 * leaves out the symbols of modules.
 */
static int first_match(int (*fn)(void *data, unsigned long addr), const char *name, void *data)
{
	unsigned long addr = static_call(mtag_lookup_name)(name);

	return addr && addr < MODULES_VADDR ? fn(data, addr) : 0;
}

/*
 * It knows the kernel's own functions alone. kallsyms_lookup_name() would compare a name that the
 * kernel does not have with each symbol of each module, and take a module's.
 */
DEFINE_STATIC_CALL(mtag_each_match, first_match);

static int take_first(void *data, unsigned long addr)
{
	*(unsigned long *)data = addr;
	return 1;
}

/**
 * mtag_resolve_init() - find the kernel's own lookups, which are not exported
 *
 * Context: module load. May sleep.
 * Return: 0; -ENOENT, after a message that names the function; -ENOMEM.
 */
int mtag_resolve_init(void)
{
	unsigned long addr;
	int ret = mtag_resolve_probe("kallsyms_on_each_match_symbol", &addr);

	if (!ret) {
		static_call_update(mtag_each_match, (each_match_t *)addr);
	} else if (ret == -ENOENT) {
		ret = mtag_resolve_probe("kallsyms_lookup_name", &addr);
		if (!ret)
			static_call_update(mtag_lookup_name, (lookup_name_t *)addr);
		if (ret == -ENOENT)
			pr_err("this kernel has no function kallsyms_lookup_name\n");
	}
	mtag_resolve_end();
	return ret;
}

/**
 * mtag_resolve() - look up the address of a function of the kernel's own, exported or not
 * @name:	symbol
 *
 * Context: module load, after mtag_resolve_init().
 * Return: the address; 0 if no such function exists.
 */
unsigned long mtag_resolve(const char *name)
{
	unsigned long addr = 0;

	static_call(mtag_each_match)(take_first, name, &addr);
	return addr;
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
	*start = mtag_resolve(symbol);
	*end = *start ? function_end(*start) : 0;
	return *end;
}

/**
 * mtag_resolve_needed() - look up a function of the kernel's own without which mtag does not load
 * @name:	symbol
 * @addr:	filled
 *
 * Context: module load, after mtag_resolve_init().
 * Return: 0; -ENOENT if no such function exists, after a message that names it.
 */
int mtag_resolve_needed(const char *name, unsigned long *addr)
{
	*addr = mtag_resolve(name);
	if (*addr)
		return 0;
	pr_err("this kernel has no function %s\n", name);
	return -ENOENT;
}
