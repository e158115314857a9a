// SPDX-License-Identifier: GPL-2.0
/*
 * Tells by address which pages of a process are there, and which tag each is charged to.
 */
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "mtag.h"
#include "owners.h"
#include "state.h"
#include "visit.h"
#include "whose.h"

/* What is done at once with the locks held. */
#define BATCH_PAGES	1024U
#define BATCH_SPANS	64U

/**
 * struct owners_batch - pages that are looked at with the locks held once
 * @v:		visitor of the page tables
 * @first:	first page of the span that is being visited
 * @row:	where in @pages that one is
 * @nr:		pages in use
 * @nr_spans:	spans in use; the last one may be cut
 * @spans:	from the user
 * @pages:	for the user
 */
struct owners_batch {
	struct mtag_visitor v;
	unsigned long first;
	u32 *row;
	unsigned int nr;
	unsigned int nr_spans;
	struct mtag_ioc_span spans[BATCH_SPANS];
	u32 pages[BATCH_PAGES];
};

static u32 *row_of(struct mtag_visitor *v, unsigned long addr)
{
	struct owners_batch *b = container_of(v, struct owners_batch, v);

	return b->row + ((addr - b->first) >> PAGE_SHIFT);
}

static void owners_visit(struct mtag_visitor *v, const struct mtag_pte *e)
{
	u32 *row = row_of(v, e->addr), flags = MTAG_OWNER_PRESENT, tag;
	int i;

	if (!e->page) {
		mtag_whose_slot(v->s, e->swap, &tag);
		*row = tag | MTAG_OWNER_SWAP;
		return;
	}
	if (!PageAnon(e->page))
		flags |= MTAG_OWNER_FILE;
	for (i = 0; i < e->nr; i++)
		row[i] = mtag_whose_now(v->s, e, i) | flags;
}

static void owners_zero(struct mtag_visitor *v, unsigned long addr, int nr)
{
	u32 *row = row_of(v, addr);

	while (nr--)
		*row++ = MTAG_OWNER_ZERO;
}

/* Caller holds mmap_lock. */
static void visit_span(struct owners_batch *b, struct mm_struct *mm,
		       const struct mtag_ioc_span *span)
{
	unsigned long addr = span->start, end;
	struct vm_area_struct *vma;

	lockdep_assert_held(&mm->mmap_lock);
	b->first = addr;
	for (; addr < span->end; addr = end) {
		vma = find_vma(mm, addr);
		if (!vma || vma->vm_start >= span->end)
			break;
		end = min_t(u64, vma->vm_end, span->end);
		mtag_visit_vma(&b->v, vma, max(addr, READ_ONCE(vma->vm_start)), end);
	}
	b->row += (span->end - span->start) >> PAGE_SHIFT;
}

/* Looks up what batch_take() has taken. Ranges and owners stay while build_lock is held. */
static int batch_look(struct owners_batch *b, struct mm_struct *mm)
{
	struct mtag_space *s = b->v.s;
	unsigned int i;
	int err = 0;

	memset(b->pages, 0, sizeof(b->pages));
	b->row = b->pages;
	if (mutex_lock_killable(&s->tree->build_lock))
		return -EINTR;
	if (!s->live || READ_ONCE(s->mm) != mm)
		err = -ESRCH;
	else if (mmap_read_lock_killable(mm))
		err = -EINTR;
	if (!err) {
		for (i = 0; i < b->nr_spans; i++)
			visit_span(b, mm, &b->spans[i]);
		mmap_read_unlock(mm);
	}
	mutex_unlock(&s->tree->build_lock);
	return err;
}

/* Takes from the current span as many pages as there is room for, up to @room. */
static int span_take(struct owners_batch *b, struct mtag_ioc_owners *o, struct mtag_ioc_span *span,
		     unsigned int room)
{
	u64 end = span->end, pages;

	if (!PAGE_ALIGNED(span->start) || !PAGE_ALIGNED(end) || span->start >= end ||
	    end > TASK_SIZE_MAX)
		return -EINVAL;
	if (o->next && (o->next < span->start || o->next >= end || !PAGE_ALIGNED(o->next)))
		return -EINVAL;
	if (o->next)
		span->start = o->next;
	pages = min_t(u64, (end - span->start) >> PAGE_SHIFT, room - b->nr);
	span->end = span->start + (pages << PAGE_SHIFT);
	o->next = span->end;
	if (span->end == end) {
		o->next = 0;
		o->span++;
	}
	b->nr += pages;
	b->nr_spans++;
	return 0;
}

/* Takes the next spans, and moves the cursor past them. */
static int batch_take(struct owners_batch *b, struct mtag_ioc_owners *o)
{
	const struct mtag_ioc_span __user *spans = u64_to_user_ptr(o->spans);
	unsigned int n = min(o->nr_spans - o->span, BATCH_SPANS);
	unsigned int room = min(min(o->room, MTAG_OWNERS_MAX) - o->filled, BATCH_PAGES);
	int err = 0;

	if (copy_from_user(b->spans, spans + o->span, n * sizeof(*spans)))
		return -EFAULT;
	b->nr = 0;
	b->nr_spans = 0;
	while (!err && b->nr_spans < n && b->nr < room)
		err = span_take(b, o, &b->spans[b->nr_spans], room);
	return err;
}

static int batch_give(const struct owners_batch *b, struct mtag_ioc_owners *o)
{
	u32 __user *pages = u64_to_user_ptr(o->pages);

	if (copy_to_user(pages + o->filled, b->pages, b->nr * sizeof(*pages)))
		return -EFAULT;
	o->filled += b->nr;
	return 0;
}

/**
 * mtag_owners_read() - tell the current process which pages are there and whose they are
 * @s:		space
 * @mm:		its mm, which the caller may read
 * @o:		which pages, and where to
 *
 * Context: may sleep; no lock of the space or its mm held.
 * Return: as struct mtag_ioc_owners says.
 */
int mtag_owners_read(struct mtag_space *s, struct mm_struct *mm, struct mtag_ioc_owners *o)
{
	struct owners_batch *b = kzalloc(sizeof(*b), MTAG_GFP);
	int err = 0;

	if (!b)
		return -ENOMEM;
	b->v.visit = owners_visit;
	b->v.zero = owners_zero;
	b->v.s = s;
	o->filled = 0;
	while (!err && o->span < o->nr_spans && o->filled < min(o->room, MTAG_OWNERS_MAX)) {
		err = batch_take(b, o);
		if (!err)
			err = batch_look(b, mm);
		/* No lock is held: the reader may delay this for as long as it likes. */
		if (!err)
			err = batch_give(b, o);
		if (!err && fatal_signal_pending(current))
			err = -EINTR;
		cond_resched();
	}
	kfree(b);
	return err;
}
