// SPDX-License-Identifier: GPL-2.0
/*
 * Charges pages to the account of a tag, and releases them. While a walk or a fork goes through the
 * space, a charge also adjusts what the walk has counted.
 */
#include "account.h"
#include "charge.h"
#include "mtag.h"
#include "state.h"

/* Charges pages while a walk or a fork goes through the space. */
static void charge_walked(struct mtag_space *s, u32 tag, enum mtag_kind kind, int pages,
			  unsigned long addr, bool replaces)
{
	struct mtag_walk *w;
	bool charged;

	raw_spin_lock(&s->walk_lock);
	s->fork.events++;
	w = s->walk;
	charged = s->live || (w && tag < w->taken);
	if (charged && replaces)
		mtag_account_replace(s, tag);
	else if (charged)
		mtag_account_add(s, tag, kind, pages);
	/* Before a count has begun there is nothing that it could have missed, or counted. */
	if (w && addr == MTAG_CUT_OFF) {
		w->inexact |= w->retag || w->cursor;
	} else if (w && !w->retag) {
		if ((addr == MTAG_NO_ADDR && w->cursor) || tag >= w->nr_tags)
			w->inexact = true;
		else if (addr < w->cursor)
			w->shadow[tag][kind] += pages;
	}
	raw_spin_unlock(&s->walk_lock);
}

static bool is_walked(const struct mtag_space *s)
{
	return unlikely(s->slow & (MTAG_SLOW_WALK | MTAG_SLOW_FORK));
}

/**
 * mtag_charge() - charge pages to a tag, or release them
 * @s:		space
 * @tag:	id
 * @kind:	kind of the pages
 * @pages:	number of pages; negative to release
 * @addr:	where they are, MTAG_NO_ADDR or MTAG_CUT_OFF
 *
 * A walk under way itself counts the pages that it has not reached yet.
 * Context: page-table lock of the mapping.
 */
void __noendbr mtag_charge(struct mtag_space *s, u32 tag, enum mtag_kind kind, int pages,
			   unsigned long addr)
{
	if (is_walked(s))
		charge_walked(s, tag, kind, pages, addr, false);
	else
		mtag_account_add(s, tag, kind, pages);
}

/**
 * mtag_charge_replacing() - charge an anonymous page that replaces one to be released next
 * @s:		space
 * @tag:	id
 * @addr:	where it is, or MTAG_NO_ADDR
 *
 * As mtag_charge(), but does not raise the peak.
 * Context: page-table lock of the mapping.
 */
void __noendbr mtag_charge_replacing(struct mtag_space *s, u32 tag, unsigned long addr)
{
	if (is_walked(s))
		charge_walked(s, tag, MTAG_ANON, 1, addr, true);
	else
		mtag_account_replace(s, tag);
}

/**
 * mtag_charge_late() - release a page that was unmapped earlier
 * @s:		space
 * @tag:	tag that the page is charged to
 * @kind:	kind that it is charged as
 * @counted:	the walk under way, if any, has counted the page
 *
 * Context: walk_lock.
 */
void mtag_charge_late(struct mtag_space *s, u32 tag, enum mtag_kind kind, bool counted)
{
	struct mtag_walk *w = s->walk && !s->walk->retag ? s->walk : NULL;
	/* The account of @tag has already been taken from the walk. */
	bool taken = w && tag < w->taken;

	lockdep_assert_held(&s->walk_lock);
	if (taken ? counted : s->live)
		mtag_account_add(s, tag, kind, -1);
	if (w && counted && tag < w->nr_tags)
		w->shadow[tag][kind]--;
}

/**
 * mtag_charge_spoil() - mark a walk under way inexact: pages move without its notice
 * @s:		space
 *
 * Context: any but interrupts.
 */
void mtag_charge_spoil(struct mtag_space *s)
{
	raw_spin_lock(&s->walk_lock);
	if (s->walk && !s->walk->retag)
		s->walk->inexact = true;
	raw_spin_unlock(&s->walk_lock);
}
