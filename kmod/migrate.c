// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps pages under migration charged. The kernel's RSS includes them all the
 * time: taking a page away notes its address, and bringing it back finds the
 * note and charges nothing.
 *
 * No event tells that a page is zapped under migration: its note and its charge
 * stay behind until they are checked. Readers check the page tables, walks check
 * in passing, and a work item checks once a second without readers: a page that
 * is no longer locked is no longer under migration.
 *
 * A note covers up to 512 consecutive pages, small ones or a huge one, that
 * have one owner. Notes are found by address. All notes of a space are under
 * its walk_lock; none is allocated or freed under it.
 */
#include <linux/bitmap.h>
#include <linux/memory_hotplug.h>
#include <linux/page-flags.h>
#include <linux/rbtree.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "account.h"
#include "charge.h"
#include "compat/compat.h"
#include "migrate.h"
#include "mtag.h"
#include "note.h"
#include "sleep.h"
#include "space.h"
#include "state.h"
#include "visit.h"

/* ---- a work item, for spaces without readers ---- */

static void expire_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(expirer, expire_work);
static bool armed;

static void arm_timer(void)
{
	if (READ_ONCE(armed) || !mtag_lock_begin())
		return;
	WRITE_ONCE(armed, true);
	queue_delayed_work(mtag_system_wq, &expirer, HZ);
	mtag_lock_end();
}

/**
 * mtag_migrate_ready() - prepare for a page that may be taken away for migration
 *
 * For where a tracepoint tells that it was: before 7.0 those run without preemption, and with
 * PREEMPT_RT nothing can be allocated or woken then. If the page is taken away only after the
 * timer has run, and is zapped meanwhile, it is released at the next read or migration.
 *
 * Context: a hook. RCU.
 */
void mtag_migrate_ready(void)
{
	if (!mtag_lock_begin())
		return;
	mtag_note_prepare(0, GFP_NOWAIT | __GFP_NOMEMALLOC);
	mtag_lock_end();
	arm_timer();
}

/* A frame stays locked while its page is under migration. */
static bool is_over(unsigned long pfn)
{
	struct page *page = pfn_to_online_page(pfn);

	return !page || !PageLocked(compound_head(page));
}

/* Release pages that are no longer under migration. Context: walk_lock. */
static void expire_notes(struct mtag_space *s, struct mtag_note **freed)
{
	struct rb_node *node, *next;
	unsigned long place;
	struct mtag_note *e;

	lockdep_assert_held(&s->walk_lock);
	for (node = rb_first(&s->migration.notes); node; node = next) {
		next = rb_next(node);
		e = mtag_note_of(node);
		for_each_set_bit(place, e->pages, MTAG_NOTE_PAGES)
			if (is_over(e->pfn + place))
				mtag_note_release(s, e, place, freed);
	}
}

/**
 * mtag_migrate_expire() - release zapped pages whose migration is over
 * @s:		space
 *
 * Context: any but interrupts.
 */
void mtag_migrate_expire(struct mtag_space *s)
{
	struct mtag_note *freed = NULL;

	if (!atomic_read(&s->migration.charged))
		return;
	raw_spin_lock(&s->walk_lock);
	expire_notes(s, &freed);
	raw_spin_unlock(&s->walk_lock);
	mtag_note_push(freed);
}

static void expire_work(struct work_struct *work)
{
	struct mtag_space *s = NULL;
	unsigned int bucket = 0;
	bool more = false;

	/* Notes taken from here on arm the work again. */
	WRITE_ONCE(armed, false);
	while ((s = mtag_space_next(s, &bucket))) {
		mtag_migrate_expire(s);
		more |= atomic_read(&s->migration.charged);
		cond_resched();
	}
	mtag_note_trim();
	if (more)
		arm_timer();
}

/* ---- events ---- */

/*
 * The address that a page at @addr is noted at: while page tables move, the one that they move it
 * to. They do as long as the task that moves them has the lock. It may report the end of the move
 * much later: a tracer may stop it before that. Context: walk_lock.
 */
static unsigned long noted_at(const struct mtag_space *s, unsigned long addr)
{
	const struct mtag_migration *m = &s->migration;
	const struct mm_struct *mm = READ_ONCE(s->mm);

	lockdep_assert_held(&s->walk_lock);
	if (addr - m->shift_from >= m->shift_len || !mm || !mtag_is_writer(mm, m->shifter))
		return addr;
	return addr - m->shift_from + m->shift_to;
}

/**
 * mtag_migrate_take() - migration takes pages away; they stay charged
 * @s:		space
 * @page:	first page, of one huge page at most
 * @nr:		number of pages
 * @addr:	their old address, or MTAG_NO_ADDR if nobody knows it
 * @tag:	tag that all of them are charged to
 * @kind:	kind that they are charged as
 *
 * Context: page-table lock; the pages are locked.
 * Return: false if they cannot be noted: the caller releases them, and they are charged when they
 * come back.
 */
bool mtag_migrate_take(struct mtag_space *s, const struct page *page, int nr, unsigned long addr,
		       u32 tag, enum mtag_kind kind)
{
	struct mtag_note *e = NULL, *spare, *freed = NULL;

	if (addr == MTAG_NO_ADDR)
		return false;
	spare = mtag_note_get();
	raw_spin_lock(&s->walk_lock);
	s->fork.events++;
	addr = noted_at(s, addr);
	mtag_note_release_old(s, addr, nr, &freed);
	e = mtag_note_add(s, &spare, page_to_pfn(page), nr, addr, tag, kind);
	raw_spin_unlock(&s->walk_lock);
	mtag_note_push(freed);
	mtag_note_push(spare);
	if (e)
		arm_timer();
	return e;
}

/**
 * mtag_migrate_restore() - migration brings a page back
 * @s:		space
 * @addr:	address that it is mapped at
 * @tag:	filled with the tag that it is charged to
 *
 * Context: page-table lock.
 * Return: false if the page is not charged.
 */
bool mtag_migrate_restore(struct mtag_space *s, unsigned long addr, u32 *tag)
{
	struct mtag_note *e, *freed = NULL;

	if (!atomic_read(&s->migration.charged))
		return false;
	raw_spin_lock(&s->walk_lock);
	s->fork.events++;
	addr = noted_at(s, addr);
	e = mtag_note_find(s, addr);
	if (e) {
		*tag = e->tag;
		mtag_note_clear(s, e, mtag_note_place(e, addr), &freed);
	}
	raw_spin_unlock(&s->walk_lock);
	mtag_note_push(freed);
	return e;
}

/*
 * Move notes along with the page tables that move. Older notes at the destination are stale:
 * release them, after the moving notes are cut out: exec moves its stack by less
 * than its length. Context: walk_lock.
 */
static void shift_notes(struct mtag_space *s, struct mtag_note **freed)
{
	unsigned long from = s->migration.shift_from, end = from + s->migration.shift_len;
	struct mtag_note *e, *moved = NULL, *next;
	struct rb_node *node, *after;

	lockdep_assert_held(&s->walk_lock);
	for (node = rb_first(&s->migration.notes); node; node = after) {
		after = rb_next(node);
		e = mtag_note_cut(s, mtag_note_of(node), from, end);
		if (!e)
			continue;
		e->addr += s->migration.shift_to - from;
		e->next = moved;
		moved = e;
	}
	mtag_note_release_range(s, s->migration.shift_to, s->migration.shift_len, freed);
	for (e = moved; e; e = next) {
		next = e->next;
		rb_add(&e->node, &s->migration.notes, mtag_note_less);
	}
}

/**
 * mtag_migrate_shift() - page tables, with pages under migration, are about to be moved
 * @s:		space
 * @from:	address, page-aligned
 * @to:		address, page-aligned; nothing else is mapped there
 * @len:	bytes
 *
 * Until mtag_migrate_shifted(), pages that come and go at @from are noted at their new address.
 * Context: mmap_lock held for writing.
 */
void mtag_migrate_shift(struct mtag_space *s, unsigned long from, unsigned long to,
			unsigned long len)
{
	struct mtag_note *freed = NULL;
	bool any = atomic_read(&s->migration.charged);

	if (any && mtag_lock_begin()) {
		mtag_note_prepare(0, GFP_NOWAIT);
		mtag_lock_end();
	}
	raw_spin_lock(&s->walk_lock);
	s->migration.shift_from = from;
	s->migration.shift_to = to;
	s->migration.shifter = current;
	WRITE_ONCE(s->migration.shift_len, len);
	if (any)
		shift_notes(s, &freed);
	raw_spin_unlock(&s->walk_lock);
	mtag_note_push(freed);
}

/**
 * mtag_migrate_shifted() - the move that mtag_migrate_shift() announced is over
 * @s:		space
 * @shifter:	the task whose move has ended, perhaps while another's began; NULL: no mremap() is
 *		under way, as the caller holds mmap_lock
 *
 * Context: any but interrupts.
 */
void mtag_migrate_shifted(struct mtag_space *s, const struct task_struct *shifter)
{
	if (!READ_ONCE(s->migration.shift_len))
		return;
	raw_spin_lock(&s->walk_lock);
	if (!shifter || s->migration.shifter == shifter)
		WRITE_ONCE(s->migration.shift_len, 0);
	raw_spin_unlock(&s->walk_lock);
}

/* ---- walks ---- */

/**
 * mtag_migrate_seen() - a walk finds a page under migration
 * @s:		space
 * @addr:	address that it will be mapped at
 * @tag:	filled with the tag that it is charged to
 *
 * Context: page-table lock and walk_lock.
 * Return: false if the page is not charged.
 */
bool mtag_migrate_seen(struct mtag_space *s, unsigned long addr, u32 *tag)
{
	struct mtag_note *e = mtag_note_find(s, addr);

	lockdep_assert_held(&s->walk_lock);
	if (!e)
		return false;
	__clear_bit(mtag_note_place(e, addr), e->check);
	*tag = e->tag;
	return true;
}

/**
 * mtag_migrate_found() - a counting walk finds an uncharged page under migration
 * @s:		space
 * @page:	page that was taken away
 * @addr:	address that it will be mapped at
 * @tag:	tag that the walk counts it for
 * @kind:	kind that the walk counts it as
 *
 * Context: page-table lock and walk_lock.
 * Return: false if it cannot be noted, and must not be counted.
 */
bool mtag_migrate_found(struct mtag_space *s, const struct page *page, unsigned long addr, u32 tag,
			enum mtag_kind kind)
{
	struct mtag_note *spare = mtag_note_pop(), *e;

	lockdep_assert_held(&s->walk_lock);
	e = mtag_note_add(s, &spare, page_to_pfn(page), 1, addr, tag, kind);
	if (e)
		__clear_bit(mtag_note_place(e, addr), e->check);
	mtag_note_push(spare);
	return e;
}

/**
 * mtag_migrate_prepare() - allocate notes for a walk
 * @s:		space that is walked, or whose pages a forked child has that is walked
 * @gfp:	allocation flags
 *
 * The pages of a batch may lie anywhere and belong to anybody in turn: then each needs a note.
 * While a walk is under way, another batch may follow that one.
 * Context: no lock of the module except build_lock. May sleep if @gfp allows it.
 */
void mtag_migrate_prepare(const struct mtag_space *s, gfp_t gfp)
{
	unsigned int pages = atomic_read(&s->migration.charged);

	pages = pages ? pages + MTAG_NOTE_PAGES : 0;
	mtag_note_prepare(min(pages, MTAG_NOTES_MAX), gfp);
}

/* ---- readers ---- */

static void settle_visit(struct mtag_visitor *v, const struct mtag_pte *e)
{
	u32 ignored;
	int i;

	if (!e->moving)
		return;
	for (i = 0; i < e->nr; i++)
		mtag_migrate_seen(v->s, e->addr + i * PAGE_SIZE, &ignored);
}

/* Visit the range of a note, which may span several mappings. */
static void settle_note(struct mtag_space *s, struct mm_struct *mm, unsigned long addr,
			unsigned long end)
{
	VMA_ITERATOR(vmi, mm, addr);
	struct mtag_visitor v = { .visit = settle_visit, .s = s };
	struct vm_area_struct *vma;

	for_each_vma_range(vmi, vma, end)
		mtag_visit_vma(&v, vma, max(addr, vma->vm_start), min(end, vma->vm_end));
}

static unsigned long note_end(const struct mtag_note *e)
{
	return e->addr + (find_last_bit(e->pages, MTAG_NOTE_PAGES) + 1) * PAGE_SIZE;
}

/*
 * Advance @addr to the next note, if there is one, and @end to the end of its last page. Several
 * notes that begin at one address count as one.
 */
static bool next_note(struct mtag_space *s, unsigned long *addr, unsigned long *end)
{
	struct mtag_note *e;
	struct rb_node *node;
	bool found;

	raw_spin_lock(&s->walk_lock);
	e = mtag_note_behind(s, *addr);
	found = e;
	if (found) {
		*addr = e->addr;
		*end = e->addr;
	}
	while (e && e->addr == *addr) {
		*end = max(*end, note_end(e));
		node = rb_next(&e->node);
		e = node ? mtag_note_of(node) : NULL;
	}
	raw_spin_unlock(&s->walk_lock);
	return found;
}

/**
 * mtag_migrate_settle() - release pages that were zapped under migration
 * @s:		space
 * @mm:		its mm
 *
 * Context: build_lock and mmap_lock for reading. May sleep.
 */
void mtag_migrate_settle(struct mtag_space *s, struct mm_struct *mm)
{
	unsigned long addr = 0, end;

	lockdep_assert_held(&s->tree->build_lock);
	lockdep_assert_held(&mm->mmap_lock);
	mtag_migrate_shifted(s, NULL);
	mtag_migrate_expire(s);
	if (!atomic_read(&s->migration.charged))
		return;
	raw_spin_lock(&s->walk_lock);
	mtag_note_check_begin(s);
	raw_spin_unlock(&s->walk_lock);
	while (next_note(s, &addr, &end)) {
		settle_note(s, mm, addr, end);
		cond_resched();
	}
	raw_spin_lock(&s->walk_lock);
	mtag_note_check_end(s, true);
	raw_spin_unlock(&s->walk_lock);
}

/* ---- exit ---- */

/* Context: no hook is installed, and no space is left. */
void mtag_migrate_exit(void)
{
	cancel_delayed_work_sync(&expirer);
	armed = false;
	mtag_note_exit();
}
