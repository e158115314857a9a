// SPDX-License-Identifier: GPL-2.0
/*
 * Carries owners over when small pages are collapsed into a huge one: each frame
 * gets the owner of the page copied into it, and empty places go to the owner
 * of most pages.
 *
 * The kernel removes the small pages and adds the huge one under mmap_lock
 * held for writing, so one buffer per space is enough.
 */
#include <linux/slab.h>
#include "account.h"
#include "charge.h"
#include "collapse.h"
#include "compat/compat.h"
#include "hooked.h"
#include "mtag.h"
#include "owner.h"
#include "sleep.h"
#include "space.h"
#include "state.h"

/**
 * struct mtag_collapse_owners - owners noted between removal and addition
 * @tag:	owner by place in the huge page; MTAG_MIXED: empty
 */
struct mtag_collapse_owners {
	u16 tag[HPAGE_PMD_NR];
};

static void forget_owners(struct mtag_collapse_owners *c)
{
	memset16(c->tag, MTAG_MIXED, HPAGE_PMD_NR);
}

/* Without leaves the pages of a space with stacks have none after the collapse. */
static bool lacks_leaves(struct mtag_space *s)
{
	return mtag_space_stacks(s) && !READ_ONCE(s->collapse.leaves);
}

/* Two tasks may collapse pages of one mm; they take turns at the buffers. */
static void prepare_buffers(struct mtag_space *s, gfp_t gfp)
{
	struct mtag_collapse_owners *c;
	struct mtag_leaf *leaves;

	c = READ_ONCE(s->collapse.owners) ? NULL : kmalloc(sizeof(*c), gfp);
	if (c) {
		forget_owners(c);
		if (cmpxchg(&s->collapse.owners, NULL, c))
			kfree(c);
	}
	leaves = lacks_leaves(s) ? kcalloc(HPAGE_PMD_NR, sizeof(*leaves), gfp) : NULL;
	if (leaves && cmpxchg(&s->collapse.leaves, NULL, leaves))
		kfree(leaves);
}

/* collapse_huge_page(mm, address, …); may sleep */
MTAG_HOOK_FUNC(mtag_collapse_begin)
{
	struct mtag_space *s = mtag_space_lookup((struct mm_struct *)mtag_arg0(fregs));
	bool sleeps;
	gfp_t gfp;

	if (!s)
		return;
	if (!READ_ONCE(s->collapse.owners) || lacks_leaves(s)) {
		gfp = mtag_sleep_gfp(&sleeps);
		if (gfp)
			prepare_buffers(s, gfp);
		if (sleeps)
			mtag_sleep_end();
	}
	mtag_space_put(s);
}

/* Context: page-table lock; mmap_lock held for writing. */
void mtag_collapse_removed(struct mtag_space *s, unsigned long addr, u32 tag,
			   struct mtag_leaf leaf)
{
	struct mtag_collapse_owners *c = READ_ONCE(s->collapse.owners);
	struct mtag_leaf *leaves = READ_ONCE(s->collapse.leaves);

	if (leaves && addr != MTAG_NO_ADDR)
		leaves[(addr / PAGE_SIZE) % HPAGE_PMD_NR] = leaf;

	/* Another collapse may allocate the buffer before these pages are added. */
	if (!c)
		s->collapse.missed = true;
	else if (addr != MTAG_NO_ADDR)
		c->tag[(addr / PAGE_SIZE) % HPAGE_PMD_NR] = tag;
}

/* The owner of most of @nr places: on a tie the first, untagged if all are empty. */
static u16 most_frequent(const u16 *tags, int nr)
{
	int i, j, n, best = 0;
	u16 tag = MTAG_ID_UNTAGGED;

	for (i = 0; i < nr && best <= nr - i; i++) {
		if (tags[i] == MTAG_MIXED || (i && tags[i] == tags[i - 1]))
			continue;
		for (n = 0, j = i; j < nr; j++)
			n += tags[i] == tags[j];
		if (n > best) {
			best = n;
			tag = tags[i];
		}
	}
	return tag;
}

/*
 * Gives the frames from @head on the leaves of their pages. Places that were empty in @tags are
 * khugepaged's.
 */
static void leaves_added(struct mtag_space *s, const struct page *head, int nr,
			 unsigned long addr, const u16 *tags)
{
	struct mtag_leaf empty = { .stack = MTAG_LEAF_KERNEL, .born = mtag_leaf_now() };
	struct mtag_leaf none = { .stack = MTAG_LEAF_NONE, .born = empty.born };
	const struct mtag_leaf *leaves = READ_ONCE(s->collapse.leaves);
	int i;

	if (!mtag_space_stacks(s))
		return;
	if (!tags || !leaves) {
		mtag_leaf_set(head, nr, none);
		return;
	}
	leaves += (addr / PAGE_SIZE) % HPAGE_PMD_NR;
	for (i = 0; i < nr; i++)
		mtag_leaf_set(head + i, 1, tags[i] == MTAG_MIXED ? empty : leaves[i]);
}

/* @nr small pages became the folio at @head. Context: as mtag_collapse_removed(). */
void mtag_collapse_added(struct mtag_space *s, struct page *head, int nr, unsigned long addr)
{
	struct mtag_collapse_owners *c = READ_ONCE(s->collapse.owners);
	bool mixed = false;
	const u16 *tags;
	u16 fill;
	int i;

	if (!c || s->collapse.missed) {
		/* Out of memory: not all owners were noted. */
		s->collapse.missed = false;
		if (c)
			forget_owners(c);
		mtag_space_add_lost(s, nr);
		/* Read once: the program may change it at any time. */
		fill = READ_ONCE(s->default_tag);
		mtag_owner_set_run(head, nr, fill);
		mtag_charge(s, fill, MTAG_ANON, nr, addr);
		leaves_added(s, head, nr, addr, NULL);
		return;
	}
	tags = c->tag + (addr / PAGE_SIZE) % HPAGE_PMD_NR;
	fill = most_frequent(tags, nr);
	leaves_added(s, head, nr, addr, tags);
	mtag_owner_set_run(head, nr, fill);
	for (i = 0; i < nr; i++) {
		u16 tag = tags[i] == MTAG_MIXED ? fill : tags[i];

		mixed |= tag != fill;
		mtag_owner_set(head + i, tag);
		mtag_charge(s, tag, MTAG_ANON, 1, addr + i * PAGE_SIZE);
	}
	if (mixed)
		mtag_owner_mark_mixed(head);
	forget_owners(c);
}
