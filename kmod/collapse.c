// SPDX-License-Identifier: GPL-2.0
/*
 * Small pages collapsed into a huge one: each frame keeps the owner of what
 * was copied there; what was empty goes to the owner of most.
 *
 * The kernel removes the small pages and adds the huge one under mmap_lock
 * held for writing, so one buffer a space is enough.
 */
#include <linux/slab.h>
#include "compat/compat.h"
#include "owner.h"
#include "rmap.h"

/**
 * struct mtag_collapse - owners noted between removal and addition
 * @tag:	by place in the huge page; MTAG_MIXED: empty
 */
struct mtag_collapse {
	u16 tag[HPAGE_PMD_NR];
};

/* collapse_huge_page(mm, address, …), which may sleep */
MTAG_HOOK_FUNC(mtag_collapse_begin)
{
	struct mtag_space *s = mtag_space_get_mm((struct mm_struct *)mtag_arg0(fregs));
	struct mtag_collapse *c;
	bool may_sleep;

	if (!s)
		return;
	if (!READ_ONCE(s->collapse)) {
		may_sleep = mtag_hook_sleep_begin();
		c = kmalloc(sizeof(*c), may_sleep ? GFP_KERNEL : GFP_NOWAIT);
		if (c)
			memset16(c->tag, MTAG_MIXED, HPAGE_PMD_NR);
		/* Two may collapse in one mm, taking turns at the buffer. */
		if (c && cmpxchg(&s->collapse, NULL, c))
			kfree(c);
		if (may_sleep)
			mtag_hook_sleep_end();
	}
	mtag_space_put(s);
}

/* Context: page-table lock; mmap_lock held for writing. */
void mtag_collapse_removed(struct mtag_space *s, unsigned long addr, u32 tag)
{
	if (s->collapse && addr != MTAG_NO_ADDR)
		s->collapse->tag[(addr / PAGE_SIZE) % HPAGE_PMD_NR] = tag;
}

/* The owner of most places; the first of several, untagged if all are empty. */
static u16 most(const u16 *tags)
{
	unsigned int i, j, n, best = 0;
	u16 tag = MTAG_ID_UNTAGGED;

	for (i = 0; i < HPAGE_PMD_NR && best <= HPAGE_PMD_NR - i; i++) {
		if (tags[i] == MTAG_MIXED || (i && tags[i] == tags[i - 1]))
			continue;
		for (n = 0, j = i; j < HPAGE_PMD_NR; j++)
			n += tags[i] == tags[j];
		if (n > best) {
			best = n;
			tag = tags[i];
		}
	}
	return tag;
}

/* Context: page-table lock; mmap_lock held for writing. */
void mtag_collapse_added(struct mtag_space *s, struct page *head, unsigned long addr)
{
	struct mtag_collapse *c = s->collapse;
	bool mixed = false;
	u16 fill;
	int i;

	if (!c) {
		/* There was no memory to note the owners in. */
		atomic64_add(HPAGE_PMD_NR, &s->lost);
		atomic64_add(HPAGE_PMD_NR, &mtag_stat.lost);
		mtag_owner_set_huge(head, s->default_tag);
		mtag_charge(s, s->default_tag, MTAG_ANON, HPAGE_PMD_NR, addr);
		return;
	}
	fill = most(c->tag);
	mtag_owner_set_huge(head, fill);
	for (i = 0; i < HPAGE_PMD_NR; i++) {
		u16 tag = c->tag[i] == MTAG_MIXED ? fill : c->tag[i];

		mixed |= tag != fill;
		mtag_owner_set(head + i, tag);
		mtag_charge(s, tag, MTAG_ANON, 1, addr + i * PAGE_SIZE);
	}
	if (mixed)
		mtag_owner_mixed(head);
	memset16(c->tag, MTAG_MIXED, HPAGE_PMD_NR);
}
