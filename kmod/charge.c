// SPDX-License-Identifier: GPL-2.0
/*
 * Charges: pages come to the account of a tag and leave it. While a walk or a fork goes through the
 * space they also change what the walk has counted.
 */
#include "account.h"
#include "charge.h"
#include "mtag.h"
#include "state.h"

/* The page event of a space that a walk or a fork goes through. */
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
	if (w && !w->retag) {
		if (addr == MTAG_NO_ADDR || tag >= w->nr_tags)
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
 * mtag_charge() - @pages more (or fewer) of @kind for @tag in @s
 * @s:		space
 * @tag:	id
 * @kind:	what they are
 * @pages:	may be negative
 * @addr:	where, or MTAG_NO_ADDR: a walk counts what it has not come to yet itself
 *
 * Context: page-table lock of the mapping.
 */
void mtag_charge(struct mtag_space *s, u32 tag, enum mtag_kind kind, int pages,
		 unsigned long addr)
{
	if (is_walked(s))
		charge_walked(s, tag, kind, pages, addr, false);
	else
		mtag_account_add(s, tag, kind, pages);
}

/**
 * mtag_charge_replacing() - one anonymous page more for @tag, in place of one that goes next
 * @s:		space
 * @tag:	id
 * @addr:	where, or MTAG_NO_ADDR
 *
 * As mtag_charge(), but no peak.
 * Context: page-table lock of the mapping.
 */
void mtag_charge_replacing(struct mtag_space *s, u32 tag, unsigned long addr)
{
	if (is_walked(s))
		charge_walked(s, tag, MTAG_ANON, 1, addr, true);
	else
		mtag_account_replace(s, tag);
}

/**
 * mtag_charge_late() - release a page that was unmapped earlier
 * @s:		space
 * @tag:	that it is charged to
 * @kind:	what it is charged as
 * @counted:	a walk that is under way has counted it
 *
 * Context: walk_lock.
 */
void mtag_charge_late(struct mtag_space *s, u32 tag, enum mtag_kind kind, bool counted)
{
	struct mtag_walk *w = s->walk && !s->walk->retag ? s->walk : NULL;
	/* What the walk has counted has become the account already. */
	bool taken = w && tag < w->taken;

	if (taken ? counted : s->live)
		mtag_account_add(s, tag, kind, -1);
	if (w && counted && tag < w->nr_tags)
		w->shadow[tag][kind]--;
}

/**
 * mtag_charge_spoil() - pages move behind the back of a walk, if there is one
 * @s:		space
 *
 * Context: any but NMI.
 */
void mtag_charge_spoil(struct mtag_space *s)
{
	raw_spin_lock(&s->walk_lock);
	if (s->walk && !s->walk->retag)
		s->walk->inexact = true;
	raw_spin_unlock(&s->walk_lock);
}
