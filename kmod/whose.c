// SPDX-License-Identifier: GPL-2.0
/*
 * Tells which tag a page is charged to that a walk finds in the page tables.
 */
#include <linux/mm.h>
#include "file.h"
#include "ksm.h"
#include "migrate.h"
#include "mtag.h"
#include "range.h"
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
