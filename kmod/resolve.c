// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the functions to be hooked, and those that call them: by its caller a
 * hook tells what a page event is about.
 */
#include <linux/bsearch.h>
#include <linux/hash.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include "hook.h"
#include "mtag.h"

#define RANGES_MAX	128

/*
 * Probes by which symbols were found. They are given back many at a time: each
 * time waits until nobody can be in a probe any more.
 */
static struct kprobe *lookups[64];
static int nr_lookups;

/**
 * mtag_hook_resolve() - the address of a kernel function, exported or not
 * @name:	symbol
 * @addr:	filled
 *
 * Context: may sleep; while the module loads. mtag_resolve_end() is owed.
 * Return: 0; -ENOENT if there is none, or none that may be probed; -ENOMEM.
 */
int mtag_hook_resolve(const char *name, unsigned long *addr)
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
 * mtag_resolve_end() - give back what mtag_hook_resolve() took
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

/* A compiler may inline the beginning of a function and call its rest, which is not hooked. */
static int check_whole(const char *name)
{
	char symbol[KSYM_NAME_LEN];
	unsigned long addr;
	int ret;

	snprintf(symbol, sizeof(symbol), "%s.part.0", name);
	ret = mtag_hook_resolve(symbol, &addr);
	if (ret)
		return ret == -ENOENT ? 0 : ret;
	pr_err("this kernel calls a part of the function %s, past what could be hooked\n", name);
	return -ENOENT;
}

/**
 * mtag_resolve_hooks() - fill in the addresses of mtag_hooks[]
 *
 * Return: how many there are; -ENOENT, said by name, where one is missing; -ENOMEM.
 */
int mtag_resolve_hooks(void)
{
	struct mtag_hook *hook;
	int ret;

	for (hook = mtag_hooks; hook->name; hook++) {
		ret = mtag_hook_resolve(hook->name, &hook->addr);
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

/* Where callers are, in order. Compilers move the unlikely parts of a function elsewhere. */
static struct caller_range {
	unsigned long start, end;
	enum mtag_caller caller;
} ranges[RANGES_MAX];
static int nr_ranges;

/**
 * mtag_resolve_range() - where the code of a function is
 * @name:	of the function
 * @suffix:	that the compiler gave to this part of it, or ""
 * @start:	filled: behind an ENDBR
 * @end:	filled
 *
 * Context, return: as mtag_hook_resolve().
 */
int mtag_resolve_range(const char *name, const char *suffix, unsigned long *start,
		       unsigned long *end)
{
	char symbol[KSYM_NAME_LEN];
	int ret;

	snprintf(symbol, sizeof(symbol), "%s%s", name, suffix);
	ret = mtag_hook_resolve(symbol, start);
	if (ret)
		return ret;
	*end = function_end(*start);
	return *end ? 0 : -ENOENT;
}

static int range_add(const char *name, const char *suffix, enum mtag_caller caller)
{
	unsigned long start, end;
	int ret = mtag_resolve_range(name, suffix, &start, &end);

	if (ret)
		return ret;
	/* One too many is counted and not written: mtag_resolve_callers() refuses. */
	if (nr_ranges < RANGES_MAX)
		ranges[nr_ranges] = (struct caller_range){ start, end, caller };
	nr_ranges++;
	return 0;
}

/*
 * The function and what a compiler has put elsewhere of it; -ENOENT if there is no such
 * function.
 */
static int function_add(const char *name, const char *suffix, enum mtag_caller caller)
{
	char cold[32];
	int ret = range_add(name, suffix, caller);

	if (ret)
		return ret;
	snprintf(cold, sizeof(cold), "%s.cold", suffix);
	ret = range_add(name, cold, caller);
	return ret == -ENOENT ? 0 : ret;
}

static int caller_add(const struct mtag_caller_name *c)
{
	static const char *const suffixes[] = { MTAG_SUFFIXES };
	bool found = false;
	int i, ret;

	for (i = 0; i < ARRAY_SIZE(suffixes); i++) {
		ret = function_add(c->name, suffixes[i], c->caller);
		if (ret && ret != -ENOENT)
			return ret;
		found |= !ret;
	}
	if (found || c->part)
		return 0;
	pr_err("this kernel has no function %s, by which mtag tells page events apart\n", c->name);
	return -ENOENT;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct caller_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/**
 * mtag_resolve_callers() - find where the functions of mtag_callers[] are
 *
 * Return: 0; -ENOENT, said by name, where one is missing; -ENOMEM; -E2BIG.
 */
int mtag_resolve_callers(void)
{
	const struct mtag_caller_name *c;
	int ret;

	for (c = mtag_callers; c->name; c++) {
		ret = caller_add(c);
		if (ret)
			return ret;
	}
	if (nr_ranges > RANGES_MAX)
		return -E2BIG;
	sort(ranges, nr_ranges, sizeof(*ranges), compare_ranges, NULL);
	return 0;
}

static int compare_ip(const void *key, const void *elt)
{
	unsigned long ip = *(const unsigned long *)key;
	const struct caller_range *r = elt;

	/* A return address: behind the call, so it may equal the end. */
	return ip <= r->start ? -1 : ip > r->end;
}

static enum mtag_caller caller_find(unsigned long parent_ip)
{
	const struct caller_range *r;

	r = bsearch(&parent_ip, ranges, nr_ranges, sizeof(*ranges), compare_ip);
	return r ? r->caller : MTAG_BY_OTHER;
}

/*
 * Return addresses that were seen and what they are about, in one word: no lock. A few dozen calls
 * come, so that there is room for all within a few places from their own.
 */
#define SEEN_BITS	9
#define SEEN_PROBES	8
static unsigned long seen[1 << SEEN_BITS] __read_mostly;

/**
 * mtag_hook_caller() - what the caller that @parent_ip returns to is about
 * @parent_ip:	return address, as the hook gets it
 *
 * Context: any.
 */
enum mtag_caller mtag_hook_caller(unsigned long parent_ip)
{
	unsigned int i, slot = hash_long(parent_ip, SEEN_BITS);
	unsigned long known;

	for (i = 0; i < SEEN_PROBES; i++, slot = (slot + 1) % ARRAY_SIZE(seen)) {
		known = READ_ONCE(seen[slot]);
		if (likely(known >> 8 == parent_ip << 8 >> 8))
			return known & 0xff;
		if (!known)
			break;
	}
	known = parent_ip << 8 | caller_find(parent_ip);
	/*
	 * What is written once stays: CPUs share it. If there is no place, each looks for
	 * itself.
	 */
	if (i < SEEN_PROBES)
		cmpxchg(&seen[slot], 0, known);
	return known & 0xff;
}
