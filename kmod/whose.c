// SPDX-License-Identifier: GPL-2.0
/*
 * Tells which tag a page or swap slot is charged to that a walk finds in the page tables.
 */
#include <linux/mm.h>
#include "file.h"
#include "ksm.h"
#include "migrate.h"
#include "mtag.h"
#include "range.h"
#include "swap.h"
#include "whose.h"

/**
 * mtag_whose() - the tag of a page that is mapped, or under migration without a note
 * @s:		space
 * @e:		entry that a walk visits, not of swap
 * @i:		which of its pages
 *
 * Context: page-table lock and walk_lock.
 */
u32 mtag_whose(struct mtag_space *s, const struct mtag_pte *e, int i)
{
	unsigned long addr = e->addr + i * PAGE_SIZE, ignored;

	lockdep_assert_held(&s->walk_lock);
	if (PageAnon(e->page))
		return mtag_ksm_owner_valid(s, e->page + i);
	/* Events know the page only, so a driver's has no address of its own: charge as they do. */
	if (!e->moving)
		addr = mtag_file_addr(e->vma, e->page + i);
	return mtag_range_tag(s, addr, &ignored);
}

/**
 * mtag_whose_now() - the tag of a page that is mapped or under migration
 * @s:		space
 * @e:		entry that a walk visits, not of swap
 * @i:		which of its pages
 *
 * Context: page-table lock and walk_lock.
 */
u32 mtag_whose_now(struct mtag_space *s, const struct mtag_pte *e, int i)
{
	u32 tag;

	lockdep_assert_held(&s->walk_lock);
	if (e->moving && mtag_migrate_seen(s, e->addr + i * PAGE_SIZE, &tag))
		return tag;
	return mtag_whose(s, e, i);
}

/**
 * mtag_whose_slot() - the tag of a swap slot
 * @s:		space
 * @entry:	swap entry that a walk visits
 * @tag:	filled; an owner that the tree does not have counts as untagged
 *
 * Context: page-table lock.
 * Return: false if the slot still has such an owner, from an earlier use: the next walk that counts
 * drops it.
 */
bool mtag_whose_slot(struct mtag_space *s, unsigned long entry, u32 *tag)
{
	*tag = mtag_swap_tag(entry);
	if (*tag < READ_ONCE(s->tree->nr_tags))
		return true;
	*tag = MTAG_ID_UNTAGGED;
	return false;
}
