// SPDX-License-Identifier: GPL-2.0
/*
 * Notes of pages under migration: their memory, and the notes of each space, by address.
 */
#include <linux/bitmap.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include "account.h"
#include "charge.h"
#include "memory.h"
#include "mtag.h"
#include "note.h"
#include "sleep.h"
#include "state.h"

#define AT_HAND	32

/* ---- memory: notes are kept for reuse until the hooks are out ---- */

static struct mtag_note *unused;
static unsigned int nr_unused;
static DEFINE_RAW_SPINLOCK(unused_lock);	/* protects both; nr_unused is read without it */

/* Takes an unused note; NULL if there is none. Context: any. */
__noendbr struct mtag_note *mtag_note_pop(void)
{
	struct mtag_note *e;
	unsigned long flags;

	raw_spin_lock_irqsave(&unused_lock, flags);
	e = unused;
	if (e) {
		unused = e->next;
		e->next = NULL;
		nr_unused--;
	}
	raw_spin_unlock_irqrestore(&unused_lock, flags);
	return e;
}

/* Returns a list of notes, which may be empty, for reuse. Context: any. */
void __noendbr mtag_note_push(struct mtag_note *e)
{
	struct mtag_note *next;
	unsigned long flags;

	for (; e; e = next) {
		next = e->next;
		raw_spin_lock_irqsave(&unused_lock, flags);
		e->next = unused;
		unused = e;
		nr_unused++;
		raw_spin_unlock_irqrestore(&unused_lock, flags);
	}
}

static struct mtag_note *note_alloc(gfp_t gfp)
{
	struct mtag_note *e = kmalloc(sizeof(*e), gfp | __GFP_NOWARN);

	if (e) {
		mtag_memory_charge_unlimited(sizeof(*e));
		e->next = NULL;
	}
	return e;
}

/*
 * Does not use the memory reserves: the caller may be in reclaim, and can do without a note.
 * Context: any but interrupts.
 */
__noendbr struct mtag_note *mtag_note_get(void)
{
	struct mtag_note *e = mtag_note_pop();

	if (!e && mtag_lock_begin()) {
		e = note_alloc(GFP_NOWAIT | __GFP_NOMEMALLOC);
		mtag_lock_end();
	}
	return e;
}

/*
 * Keeps notes at hand for a walk, which needs a few and one for each of @pages at most. Context:
 * may sleep if @gfp may.
 */
void mtag_note_prepare(unsigned int pages, gfp_t gfp)
{
	struct mtag_note *e;

	while (READ_ONCE(nr_unused) < AT_HAND + pages) {
		e = note_alloc(gfp & ~__GFP_ACCOUNT);
		if (!e)
			return;
		mtag_note_push(e);
	}
}

/* Frees unused notes that exceed what is kept at hand. Context: may sleep. */
void mtag_note_trim(void)
{
	struct mtag_note *e;

	while (READ_ONCE(nr_unused) > 4 * AT_HAND && (e = mtag_note_pop())) {
		kfree(e);
		mtag_memory_uncharge(sizeof(*e));
	}
}

/* Context: no note is in use. */
void mtag_note_exit(void)
{
	struct mtag_note *e;

	while ((e = mtag_note_pop())) {
		kfree(e);
		mtag_memory_uncharge(sizeof(*e));
	}
}

/* ---- the notes of a space; context of all: walk_lock ---- */

/* The order of a space's notes, for rb_add(): by address. */
bool mtag_note_less(struct rb_node *a, const struct rb_node *b)
{
	return mtag_note_of(a)->addr < rb_entry(b, struct mtag_note, node)->addr;
}

/* The last note that begins at or before @addr, or NULL. */
static struct mtag_note *note_before(struct mtag_space *s, unsigned long addr)
{
	struct rb_node *node = s->migration.notes.rb_node;
	struct mtag_note *found = NULL;

	lockdep_assert_held(&s->walk_lock);
	while (node) {
		struct mtag_note *e = mtag_note_of(node);

		if (e->addr <= addr) {
			found = e;
			node = node->rb_right;
		} else {
			node = node->rb_left;
		}
	}
	return found;
}

/* The first note that begins after @addr, or NULL. */
struct mtag_note *mtag_note_behind(struct mtag_space *s, unsigned long addr)
{
	struct mtag_note *e = note_before(s, addr);
	struct rb_node *node = e ? rb_next(&e->node) : rb_first(&s->migration.notes);

	return node ? mtag_note_of(node) : NULL;
}

static struct mtag_note *note_prev(struct mtag_note *e)
{
	struct rb_node *node = rb_prev(&e->node);

	return node ? mtag_note_of(node) : NULL;
}

/* The note that holds the page under migration at @addr, or NULL. */
__noendbr struct mtag_note *mtag_note_find(struct mtag_space *s, unsigned long addr)
{
	struct mtag_note *e;

	if (addr == MTAG_NO_ADDR)
		return NULL;
	for (e = note_before(s, addr); e; e = note_prev(e)) {
		if (mtag_note_place(e, addr) >= MTAG_NOTE_PAGES)
			return NULL;
		if (test_bit(mtag_note_place(e, addr), e->pages))
			return e;
	}
	return NULL;
}

/* Drops one page from @e. A note left without pages is added to @freed. */
void mtag_note_clear(struct mtag_space *s, struct mtag_note *e, unsigned long place,
		     struct mtag_note **freed)
{
	lockdep_assert_held(&s->walk_lock);
	__clear_bit(place, e->pages);
	__clear_bit(place, e->check);
	atomic_dec(&s->migration.charged);
	if (--e->left)
		return;
	rb_erase(&e->node, &s->migration.notes);
	s->migration.nr_notes--;
	e->next = *freed;
	*freed = e;
}

/* Releases a page that went away while it was under migration. */
void mtag_note_release(struct mtag_space *s, struct mtag_note *e, unsigned long place,
		       struct mtag_note **freed)
{
	lockdep_assert_held(&s->walk_lock);
	mtag_charge_late(s, e->tag, e->kind, !test_bit(place, e->check));
	mtag_note_clear(s, e, place, freed);
}

/* True if a walk under way has yet to reach @addr. */
static bool walk_comes(struct mtag_space *s, unsigned long addr)
{
	return s->walk && !s->walk->retag && addr >= s->walk->cursor;
}

/* A note that can take @nr more pages at @addr, with consecutive frames; or NULL. */
static struct mtag_note *note_to_extend(struct mtag_space *s, unsigned long pfn, int nr,
					unsigned long addr, u32 tag, enum mtag_kind kind)
{
	struct mtag_note *e = note_before(s, addr);
	unsigned long place;

	if (!e || e->tag != tag || e->kind != kind)
		return NULL;
	place = mtag_note_place(e, addr);
	return place + nr <= MTAG_NOTE_PAGES && e->pfn + place == pfn ? e : NULL;
}

/* Adds @nr pages to an existing note, or uses up *@spare. */
__noendbr struct mtag_note *mtag_note_add(struct mtag_space *s, struct mtag_note **spare,
					  unsigned long pfn, int nr, unsigned long addr, u32 tag,
					  enum mtag_kind kind)
{
	struct mtag_note *e = note_to_extend(s, pfn, nr, addr, tag, kind);
	unsigned long place;

	lockdep_assert_held(&s->walk_lock);
	if (!e) {
		e = *spare;
		if (!e || s->migration.nr_notes >= MTAG_NOTES_MAX)
			return NULL;
		*spare = NULL;
		s->migration.nr_notes++;
		memset(e, 0, sizeof(*e));
		e->addr = addr;
		e->pfn = pfn;
		e->tag = tag;
		e->kind = kind;
		rb_add(&e->node, &s->migration.notes, mtag_note_less);
	}
	place = mtag_note_place(e, addr);
	bitmap_set(e->pages, place, nr);
	if (walk_comes(s, addr))
		bitmap_set(e->check, place, nr);
	e->left += nr;
	atomic_add(nr, &s->migration.charged);
	return e;
}

/* Releases the pages noted there before: other pages have been mapped since. */
void mtag_note_release_old(struct mtag_space *s, unsigned long addr, int nr,
			   struct mtag_note **freed)
{
	struct mtag_note *e;
	int i;

	for (i = 0; i < nr && !RB_EMPTY_ROOT(&s->migration.notes); i++, addr += PAGE_SIZE) {
		e = mtag_note_find(s, addr);
		if (e)
			mtag_note_release(s, e, mtag_note_place(e, addr), freed);
	}
}

/* Releases the pages noted in [@addr, @addr + @len): they are gone. */
void mtag_note_release_range(struct mtag_space *s, unsigned long addr, unsigned long len,
			     struct mtag_note **freed)
{
	struct rb_node *node, *next;
	unsigned long place;
	struct mtag_note *e;

	lockdep_assert_held(&s->walk_lock);
	for (node = rb_first(&s->migration.notes); node; node = next) {
		next = rb_next(node);
		e = mtag_note_of(node);
		for_each_set_bit(place, e->pages, MTAG_NOTE_PAGES)
			if (e->addr + place * PAGE_SIZE - addr < len)
				mtag_note_release(s, e, place, freed);
	}
}

/* Finds the places of @e with addresses in [@from, @end). */
static void places_between(const struct mtag_note *e, unsigned long from, unsigned long end,
			   unsigned long *first, unsigned long *behind)
{
	*first = from > e->addr ? min(mtag_note_place(e, from), MTAG_NOTE_PAGES) : 0;
	*behind = end > e->addr ? min(mtag_note_place(e, end), MTAG_NOTE_PAGES) : 0;
}

/**
 * mtag_note_cut() - take the part of a note in [@from, @end) out of the space
 * @s:		space
 * @e:		note of @s
 * @from:	address
 * @end:	exclusive
 *
 * Return: a note with that part, in no tree, often @e itself. NULL if there is no such part, or
 * no memory for it: then the pages are charged anew when they come back.
 */
struct mtag_note *mtag_note_cut(struct mtag_space *s, struct mtag_note *e, unsigned long from,
				unsigned long end)
{
	unsigned long first, behind, place;
	struct mtag_note *part;

	lockdep_assert_held(&s->walk_lock);
	places_between(e, from, end, &first, &behind);
	place = find_next_bit(e->pages, MTAG_NOTE_PAGES, first);
	if (place >= behind)
		return NULL;
	if (find_first_bit(e->pages, MTAG_NOTE_PAGES) >= first &&
	    find_next_bit(e->pages, MTAG_NOTE_PAGES, behind) >= MTAG_NOTE_PAGES) {
		rb_erase(&e->node, &s->migration.notes);
		return e;
	}
	part = mtag_note_pop();
	if (!part)
		return NULL;
	s->migration.nr_notes++;
	memset(part, 0, sizeof(*part));
	part->addr = e->addr + first * PAGE_SIZE;
	part->pfn = e->pfn + first;
	part->tag = e->tag;
	part->kind = e->kind;
	for (; place < behind; place = find_next_bit(e->pages, MTAG_NOTE_PAGES, place + 1)) {
		__clear_bit(place, e->pages);
		__set_bit(place - first, part->pages);
		if (__test_and_clear_bit(place, e->check))
			__set_bit(place - first, part->check);
		e->left--;
		part->left++;
	}
	return part;
}

/* ---- walks ---- */

/**
 * mtag_note_check_begin() - a walk begins: mark all noted pages as not found yet
 * @s:		space
 *
 * Context: walk_lock.
 */
void mtag_note_check_begin(struct mtag_space *s)
{
	struct rb_node *node;

	lockdep_assert_held(&s->walk_lock);
	for (node = rb_first(&s->migration.notes); node; node = rb_next(node))
		bitmap_copy(mtag_note_of(node)->check, mtag_note_of(node)->pages, MTAG_NOTE_PAGES);
}

/* Forgets the pages not found, and releases them if @release. Context: walk_lock. */
static struct mtag_note *drop_unchecked(struct mtag_space *s, bool release)
{
	struct mtag_note *e, *freed = NULL;
	struct rb_node *node, *next;
	unsigned long place;

	lockdep_assert_held(&s->walk_lock);
	for (node = rb_first(&s->migration.notes); node; node = next) {
		next = rb_next(node);
		e = mtag_note_of(node);
		for_each_set_bit(place, e->check, MTAG_NOTE_PAGES) {
			if (release)
				mtag_note_release(s, e, place, &freed);
			else
				mtag_note_clear(s, e, place, &freed);
		}
	}
	return freed;
}

/**
 * mtag_note_check_end() - a walk ends: forget the pages that it has not found
 * @s:		space
 * @release:	release these pages now; otherwise the accounts no longer contain them
 *
 * A page that the walk has not found is no longer under migration.
 *
 * Context: walk_lock.
 */
void mtag_note_check_end(struct mtag_space *s, bool release)
{
	mtag_note_push(drop_unchecked(s, release));
}

/**
 * mtag_note_forget() - forget all noted pages of a space
 * @s:		space
 * @release:	release them: @s has ended, and the pages were zapped
 *
 * Context: may sleep; no event of the space follows, or the space is parked.
 */
void mtag_note_forget(struct mtag_space *s, bool release)
{
	raw_spin_lock(&s->walk_lock);
	mtag_note_check_begin(s);
	mtag_note_check_end(s, release);
	raw_spin_unlock(&s->walk_lock);
}
