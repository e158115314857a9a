// SPDX-License-Identifier: GPL-2.0
/*
 * Classifies page events by the function that called the hooked one.
 */
#include <linux/bsearch.h>
#include <linux/hash.h>
#include <linux/kallsyms.h>
#include <linux/sort.h>
#include "caller.h"
#include "mtag.h"
#include "resolve.h"
#include "traced.h"

#define RANGES_MAX	128

unsigned long mtag_fault_ip __read_mostly, mtag_zap_ip __read_mostly;
unsigned long mtag_huge_fault_ip __read_mostly, mtag_huge_zap_ip __read_mostly;
unsigned long mtag_map_ip __read_mostly, mtag_unmap_ip __read_mostly;
unsigned long mtag_copy_ip __read_mostly, mtag_copied_ip __read_mostly;

/* Code of the callers, by address. Compilers move unlikely parts of a function elsewhere. */
static struct caller_range {
	unsigned long start, end;
	enum mtag_caller caller;
} ranges[RANGES_MAX];
static int nr_ranges;

/* Return: is there such a function? */
static bool range_add(const char *name, const char *suffix, enum mtag_caller caller)
{
	unsigned long start, end;

	if (!mtag_resolve_range(name, suffix, &start, &end))
		return false;
	/* A range too many is counted but not stored: mtag_caller_init() fails. */
	if (nr_ranges < RANGES_MAX)
		ranges[nr_ranges] = (struct caller_range){ start, end, caller };
	nr_ranges++;
	return true;
}

/*
 * Adds a function and the cold part that the compiler may have split off. Return: is there such a
 * function?
 */
static bool function_add(const char *name, const char *suffix, enum mtag_caller caller)
{
	char cold[32];

	if (!range_add(name, suffix, caller))
		return false;
	snprintf(cold, sizeof(cold), "%s.cold", suffix);
	range_add(name, cold, caller);
	return true;
}

static int caller_add(const struct mtag_caller_name *c)
{
	static const char *const suffixes[] = { MTAG_SUFFIXES };
	bool found = false;
	int i;

	for (i = 0; i < ARRAY_SIZE(suffixes); i++)
		found |= function_add(c->name, suffixes[i], c->caller);
	if (found || c->part)
		return 0;
	pr_err("this kernel has no function %s, which mtag needs to classify events\n", c->name);
	return -ENOENT;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct caller_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/**
 * mtag_caller_init() - look up the functions that call hooked ones
 * @c:		their names, ended by an empty entry
 *
 * Context: module load, after mtag_resolve_init(). May sleep.
 * Return: 0; -ENOENT if one is missing, which is logged by name; -E2BIG.
 */
int mtag_caller_init(const struct mtag_caller_name *c)
{
	int ret;

	for (; c->name; c++) {
		ret = caller_add(c);
		if (ret)
			return ret;
	}
	if (nr_ranges > RANGES_MAX) {
		pr_err("%d functions call hooked ones, and there is room for %d\n", nr_ranges,
		       RANGES_MAX);
		return -E2BIG;
	}
	sort(ranges, nr_ranges, sizeof(*ranges), compare_ranges, NULL);
	mtag_traced_init();
	return 0;
}

static int compare_ip(const void *key, const void *elt)
{
	unsigned long ip = *(const unsigned long *)key;
	const struct caller_range *r = elt;

	/* A return address points past the call, so it may equal the end. */
	return ip <= r->start ? -1 : ip > r->end;
}

static enum mtag_caller caller_find(unsigned long parent_ip)
{
	const struct caller_range *r;

	r = bsearch(&parent_ip, ranges, nr_ranges, sizeof(*ranges), compare_ip);
	return r ? r->caller : MTAG_BY_OTHER;
}

/*
 * Cache of return addresses, each with its class in the same word, so no lock is needed. There
 * are only a few dozen call sites: each finds a slot within a few places of its hash.
 */
#define SEEN_BITS	9
#define SEEN_PROBES	8
static unsigned long seen[1 << SEEN_BITS] __read_mostly;

/* The part of mtag_caller_learn() for a caller that is not known yet. */
void mtag_caller_learn_first(unsigned long *common, unsigned long ip)
{
	if (!mtag_traced_is(ip))
		WRITE_ONCE(*common, ip);
}

/* Classifies an address that is not in the cache, and puts it into *@slot, which may be NULL. */
static noinline enum mtag_caller caller_unseen(unsigned long parent_ip, unsigned long *slot)
{
	enum mtag_caller caller = caller_find(parent_ip);
	unsigned long real = caller == MTAG_BY_OTHER ? mtag_traced_undo(parent_ip) : parent_ip;

	/* What stands for a tracer's address is different each time. */
	if (real != parent_ip)
		return caller_find(real);
	/* A slot is written once and never changes, so CPUs share its cache line. */
	if (slot)
		cmpxchg(slot, 0, parent_ip << 8 | caller);
	return caller;
}

/**
 * mtag_caller_of() - classify a page event by its caller
 * @parent_ip:	return address into the caller, as the hook gets it
 *
 * Context: any, in the hooked function's task.
 * Return: the class; MTAG_BY_OTHER for an unknown caller.
 */
enum mtag_caller __noendbr mtag_caller_of(unsigned long parent_ip)
{
	unsigned int i, slot = hash_long(parent_ip, SEEN_BITS);
	unsigned long known;

	for (i = 0; i < SEEN_PROBES; i++, slot = (slot + 1) % ARRAY_SIZE(seen)) {
		known = READ_ONCE(seen[slot]);
		if (likely(known >> 8 == parent_ip << 8 >> 8))
			return known & 0xff;
		if (!known)
			return caller_unseen(parent_ip, &seen[slot]);
	}
	/* Without a free slot each event searches the ranges. */
	return caller_unseen(parent_ip, NULL);
}
