// SPDX-License-Identifier: GPL-2.0
/*
 * Walks the page tables of a process for the unique and the proportional size of each tag, as
 * /proc/PID/smaps does for each mapping. Only done when somebody asks; nothing is kept.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/sched/mm.h>
#include "compat/compat.h"
#include "memory.h"
#include "mtag.h"
#include "pss.h"
#include "space.h"
#include "state.h"
#include "visit.h"
#include "whose.h"

/* Fractions of a byte that smaps keeps while it adds up, in bits. */
#define FRACTION	12
/* How far a walk goes before it lets others have mmap_lock. */
#define STRIDE		PUD_SIZE

struct pss_walker {
	struct mtag_visitor v;
	struct mtag_pss *pss;
};

/* The tag of page @i, which may be charged to one that is newer than the sums. */
static struct mtag_share *share_of(struct pss_walker *w, const struct mtag_pte *e, int i)
{
	u32 tag = mtag_whose_now(w->v.s, e, i);

	return &w->pss->shares[tag < w->pss->nr_tags ? tag : MTAG_ID_UNTAGGED];
}

static void pss_visit(struct mtag_visitor *v, const struct mtag_pte *e)
{
	struct pss_walker *w = container_of(v, struct pss_walker, v);
	struct mtag_share *share;
	unsigned int mappings;
	bool alone;
	int i;

	if (!e->page)
		return;
	for (i = 0; i < e->nr; i++) {
		share = share_of(w, e, i);
		if (e->moving) {
			/* Its mappings cannot be counted while it has none. */
			alone = MTAG_SMAPS_MOVING_ALONE;
			mappings = 1;
		} else {
			mappings = mtag_smaps_mappings(e->page + i, &alone);
		}
		/* In this order, as smaps rounds down each page's part. */
		share->pss += (PAGE_SIZE << FRACTION) / max(mappings, 1U);
		if (alone)
			share->uss += PAGE_SIZE;
	}
}

static struct mtag_pss *pss_alloc(unsigned int nr_tags)
{
	struct mtag_pss *p;
	size_t bytes = struct_size(p, shares, nr_tags);

	/* A reader may hold many dumps, and for long. */
	p = mtag_memory_alloc(bytes, MTAG_GFP | __GFP_ZERO);
	if (!p)
		return NULL;
	p->bytes = bytes;
	p->nr_tags = nr_tags;
	return p;
}

/* Frees @p, which may be NULL. Context: may sleep. */
void mtag_pss_put(struct mtag_pss *p)
{
	if (p)
		mtag_memory_free(p, p->bytes);
}

/* Ranges and owners stay while build_lock is held, except of pages that come and go. */
static int pss_read(struct mtag_space *s, struct mm_struct *mm, struct mtag_pss *p)
{
	struct pss_walker w = {
		.v = { .visit = pss_visit, .s = s },
		.pss = p,
	};
	unsigned int tag;
	int err;

	if (mutex_lock_killable(&s->tree->build_lock))
		return -EINTR;
	err = s->live ? mtag_visit_mm(&w.v, mm, STRIDE, NULL) : -ESRCH;
	mutex_unlock(&s->tree->build_lock);
	for (tag = 0; tag < p->nr_tags; tag++)
		p->shares[tag].pss >>= FRACTION;
	return err;
}

/**
 * mtag_pss_get() - walk the page tables of a space: O(RSS)
 * @s:		space
 * @nr_tags:	how many tags are wanted, at least 1; pages of others count as untagged
 *
 * Context: may sleep; no lock of the space or its mm held. The caller must mtag_pss_put() it.
 * Return: -ENOMEM; -EINTR if killed; -ESRCH if the process has ended or is no longer tracked.
 */
struct mtag_pss *mtag_pss_get(struct mtag_space *s, unsigned int nr_tags)
{
	struct mm_struct *mm = mtag_space_mmget(s);
	struct mtag_pss *p;
	int err = -ENOMEM;

	if (!mm)
		return ERR_PTR(-ESRCH);
	p = pss_alloc(nr_tags);
	if (p)
		err = pss_read(s, mm, p);
	/* This may be the last reference: exit_mmap() must not run under build_lock. */
	mmput(mm);
	if (!err)
		return p;
	mtag_pss_put(p);
	return ERR_PTR(err);
}
