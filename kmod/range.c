// SPDX-License-Identifier: GPL-2.0
/*
 * Address ranges and the tags that mapped them. File and shared memory and the
 * virtual size are charged by range. A range that a program gave to a tag
 * explicitly also takes precedence over the current tags of its threads.
 *
 * An entry is tag + 1, with EXPLICIT for such a range; no entry means the base
 * tag. Entries of unmapped ranges stay until they are mapped over or swept:
 * no page is there.
 */
#include <linux/maple_tree.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/xarray.h>
#include "answer.h"
#include "hooked.h"
#include "memory.h"
#include "mtag.h"
#include "range.h"
#include "sleep.h"
#include "stat.h"
#include "state.h"

#define EXPLICIT	0x20000
#define TAG_MASK	(EXPLICIT - 1)
#define ENTRY_BYTES	32	/* per entry, in half-full leaves of the tree */
#define ROOM		64	/* minimum number of entries to make room for */
#define LOOK_BATCH	256	/* entries between two chances for others to run */

static u32 entry_tag(struct mtag_space *s, void *entry)
{
	return entry ? (xa_to_value(entry) & TAG_MASK) - 1 : s->base_tag;
}

/* Returns the entry at @addr and its extent. The tree is not empty. */
static __always_inline void *range_find(struct mtag_space *s, unsigned long addr,
					unsigned long *first, unsigned long *last)
{
	MA_STATE(mas, &s->ranges.tree, addr, addr);
	void *entry;

	rcu_read_lock();
	entry = mas_walk(&mas);
	*first = mas.index;
	*last = mas.last;
	rcu_read_unlock();
	return entry;
}

/* Returns the entry at @addr and its extent. */
static void *lookup_entry(struct mtag_space *s, unsigned long addr, unsigned long *first,
			  unsigned long *last)
{
	if (mtree_empty(&s->ranges.tree)) {
		*first = 0;
		*last = ULONG_MAX;
		return NULL;
	}
	return range_find(s, addr, first, last);
}

/* The change is made: earlier answers no longer hold. Context: as for the change. */
static void ranges_changed(struct mtag_space *s)
{
	/* Pairs with ask_range(): a reader of the new version sees the change. */
	smp_store_release(&s->ranges.version, mtag_answer_version());
}

/* Searches the tree for an answer. */
static void search_tree(struct mtag_space *s, unsigned long addr, struct mtag_answer *answer)
{
	unsigned long last;
	void *entry = lookup_entry(s, addr, &answer->start, &last);

	answer->end = last == ULONG_MAX ? ULONG_MAX : last + 1;
	answer->tag = entry_tag(s, entry);
	answer->given = entry && xa_to_value(entry) & EXPLICIT;
}

/*
 * Finds the answer for @addr in @vma, on any CPU or in the tree. Context: preemption disabled;
 * page-table lock of the mapping.
 */
static noinline void ask_range(struct mtag_space *s, const struct vm_area_struct *vma,
			       unsigned long addr, struct mtag_answer *answer)
{
	/* Where a mapping has several ranges, those of its 64 KiB are found by place. */
	unsigned long by_place = (unsigned long)s ^ addr >> 16;

	/*
	 * Pairs with ranges_changed(). An event that misses a change here has the page-table lock
	 * since before the change had any effect on @addr: mmap_lock or the lock of the VMA keeps
	 * faults off meanwhile, a retag passes each page table, and no page is there otherwise.
	 */
	answer->version = smp_load_acquire(&s->ranges.version);
	if (mtag_answer_recall((unsigned long)vma, answer->version, addr, answer) ||
	    mtag_answer_recall(by_place, answer->version, addr, answer))
		return;
	search_tree(s, addr, answer);
	if (answer->start <= vma->vm_start && answer->end >= vma->vm_end)
		mtag_answer_note((unsigned long)vma, answer);
	else
		mtag_answer_note(by_place, answer);
}

/* The answer for @addr in @vma. Context: as ask_range(). */
static struct mtag_answer *answer_for(struct mtag_space *s, const struct vm_area_struct *vma,
				      unsigned long addr)
{
	struct mtag_answer *answer = this_cpu_ptr(&mtag_answer);

	if (answer->version != READ_ONCE(s->ranges.version) || addr < answer->start ||
	    addr >= answer->end)
		ask_range(s, vma, addr, answer);
	return answer;
}

/**
 * mtag_range_recall() - have the answer for all of @vma at hand on this CPU
 * @s:		space
 * @vma:	mapping of a page
 *
 * Does not search for it. Context: page-table lock of the mapping; preemption disabled.
 * Return: false if no event has found it yet, or if @vma is in several ranges.
 */
bool __noendbr mtag_range_recall(struct mtag_space *s, const struct vm_area_struct *vma)
{
	/* See ask_range() for the version. */
	return mtag_answer_recall((unsigned long)vma, smp_load_acquire(&s->ranges.version),
				  vma->vm_start, this_cpu_ptr(&mtag_answer));
}

/**
 * mtag_range_event() - the tag that mapped the place of a page event
 * @s:		space
 * @vma:	mapping of the page
 * @addr:	address in @vma
 * @end:	filled with the end of the range for which the answer holds, exclusive
 *
 * Context: page-table lock of the mapping.
 */
u32 __noendbr mtag_range_event(struct mtag_space *s, const struct vm_area_struct *vma,
			       unsigned long addr, unsigned long *end)
{
	struct mtag_answer *answer;
	u32 tag;

	mtag_cpu_hold();
	answer = answer_for(s, vma, addr);
	tag = answer->tag;
	*end = answer->end;
	mtag_cpu_release();
	return tag;
}

/* The part of mtag_range_tag() for a tree that is not empty. */
u32 __noendbr mtag_range_find(struct mtag_space *s, unsigned long addr, unsigned long *end)
{
	unsigned long first, last;
	void *entry = range_find(s, addr, &first, &last);

	*end = last == ULONG_MAX ? ULONG_MAX : last + 1;
	return entry_tag(s, entry);
}

/*
 * True if @addr in @vma is in a range given to a tag explicitly. The answer holds up to @end.
 * Context: page-table lock of the mapping.
 */
bool mtag_range_explicit(struct mtag_space *s, const struct vm_area_struct *vma,
			 unsigned long addr, u32 *tag, unsigned long *end)
{
	struct mtag_answer *answer;
	bool given;

	mtag_cpu_hold();
	answer = answer_for(s, vma, addr);
	*end = answer->end;
	given = answer->given;
	if (given)
		*tag = answer->tag;
	mtag_cpu_release();
	return given;
}

/**
 * mtag_range_grown() - the explicit tag of an address by which a stack has grown
 * @s:		space
 * @addr:	no range contains it
 * @last:	last address of the stack
 * @tag:	filled
 * @end:	filled with the end of the part for which the answer holds
 *
 * A stack grows downwards from where it was mapped: the grown part has the tag of the lowest range.
 * Context: a page-table lock or mmap_lock of the space's mm.
 * Return: false if that range has no explicit tag.
 */
bool mtag_range_grown(struct mtag_space *s, unsigned long addr, unsigned long last, u32 *tag,
		      unsigned long *end)
{
	MA_STATE(mas, &s->ranges.tree, addr, addr);
	void *entry;

	rcu_read_lock();
	entry = mas_find(&mas, last);
	*end = mas.index;
	rcu_read_unlock();
	if (!entry || !(xa_to_value(entry) & EXPLICIT))
		return false;
	*tag = entry_tag(s, entry);
	return true;
}

/* In a loop over all entries, after @nr of them: lets others run now and then. */
static void let_others_run(struct ma_state *mas, unsigned int nr)
	__must_hold(RCU)
{
	if (nr % LOOK_BATCH)
		return;
	mas_pause(mas);
	rcu_read_unlock();
	cond_resched();
	rcu_read_lock();
}

/**
 * mtag_range_uses() - call @use for each tag that a range has
 * @s:		space
 * @use:	called with @data and the tag, perhaps several times for one tag
 * @data:	for @use
 *
 * There may be max_ranges: others run now and then.
 * Context: may sleep; mmap_lock of the space's mm.
 */
void mtag_range_uses(struct mtag_space *s, void (*use)(void *data, u32 tag), void *data)
{
	MA_STATE(mas, &s->ranges.tree, 0, 0);
	unsigned int nr = 0;
	void *entry;

	lockdep_assert_held(&s->grabbed->mmap_lock);
	rcu_read_lock();
	mas_for_each(&mas, entry, ULONG_MAX) {
		use(data, entry_tag(s, entry));
		let_others_run(&mas, ++nr);
	}
	rcu_read_unlock();
}

static unsigned int count_ranges(struct mtag_space *s)
{
	MA_STATE(mas, &s->ranges.tree, 0, 0);
	unsigned int nr = 0;
	void *entry;

	rcu_read_lock();
	mas_for_each(&mas, entry, ULONG_MAX)
		let_others_run(&mas, ++nr);
	rcu_read_unlock();
	return nr;
}

/*
 * By how many entries a store of @entry over [@first, @last] changes their number: a call may store
 * many, so counting all for each is not for max_ranges. Context: as for a store.
 */
static int store_grows(struct mtag_space *s, unsigned long first, unsigned long last,
		       const void *entry)
{
	MA_STATE(mas, &s->ranges.tree, first, first);
	int grows = entry ? 1 : 0;
	void *old;

	rcu_read_lock();
	mas_for_each(&mas, old, last)
		grows += (mas.index < first) + (mas.last > last) - 1;
	rcu_read_unlock();
	return grows;
}

/* Makes room for @grows more entries. Context: as for a store. */
static int range_make_room(struct mtag_space *s, int grows)
{
	unsigned int room, most = READ_ONCE(mtag_max_ranges), nr = s->ranges.nr + grows;

	if (grows <= 0 || nr <= s->ranges.room)
		return 0;
	if (nr > most)
		return -ENOSPC;
	room = min(most, nr + nr / 2 + ROOM);
	if (mtag_memory_charge((room - s->ranges.room) * ENTRY_BYTES))
		return -ENOMEM;
	s->ranges.room = room;
	return 0;
}

/* Stores @entry over [@first, @last], merged with equal neighbours. */
static int store_entry(struct mtag_space *s, unsigned long first, unsigned long last, void *entry,
		       gfp_t gfp)
{
	unsigned long start, end;
	int grows, ret;

	if (!entry && mtree_empty(&s->ranges.tree))
		return 0;
	if (first && lookup_entry(s, first - 1, &start, &end) == entry)
		first = start;
	if (last != ULONG_MAX && lookup_entry(s, last + 1, &start, &end) == entry)
		last = end;
	grows = store_grows(s, first, last, entry);
	ret = range_make_room(s, grows);
	if (ret)
		return ret;
	ret = mtree_store_range(&s->ranges.tree, first, last, entry, gfp);
	if (!ret)
		s->ranges.nr += grows;
	ranges_changed(s);
	return ret;
}

/* Drops the entries of unmapped ranges. Context: mmap_lock held for writing. */
static void sweep_unmapped(struct mtag_space *s, struct mm_struct *mm)
{
	VMA_ITERATOR(vmi, mm, 0);
	struct vm_area_struct *vma;
	unsigned long hole = 0;

	lockdep_assert_held_write(&mm->mmap_lock);
	for_each_vma(vmi, vma) {
		if (vma->vm_start > hole)
			mtree_store_range(&s->ranges.tree, hole, vma->vm_start - 1, NULL,
					  MTAG_GFP);
		hole = vma->vm_end;
	}
	mtree_store_range(&s->ranges.tree, hole, ULONG_MAX, NULL, MTAG_GFP);
	ranges_changed(s);
	s->ranges.nr = count_ranges(s);
	s->ranges.stores = 0;
}

/*
 * Stores @entry. On failure the range keeps its former tag, which is wrong: this is counted as
 * lost, and false is returned.
 */
static bool store_or_lose(struct mtag_space *s, unsigned long addr, unsigned long len, void *entry)
{
	struct mm_struct *mm = READ_ONCE(s->mm);
	bool sleeps, stored;
	gfp_t gfp = mtag_sleep_gfp(&sleeps);

	if (sleeps && mm && s->ranges.stores++ > 2 * mm->map_count + 1024)
		sweep_unmapped(s, mm);
	stored = gfp && !store_entry(s, addr, addr + len - 1, entry, gfp);
	if (!stored)
		mtag_space_add_lost(s, 1);
	if (sleeps)
		mtag_sleep_end();
	return stored;
}

/**
 * mtag_range_map() - record that @tag maps [@addr, @addr + @len)
 * @s:		space
 * @addr:	page-aligned
 * @len:	bytes; nothing is done for 0
 * @tag:	id
 *
 * Context: mmap_lock held for writing; nothing is mapped in the range yet.
 */
void mtag_range_map(struct mtag_space *s, unsigned long addr, unsigned long len, u32 tag)
{
	void *entry = tag == s->base_tag ? NULL : xa_mk_value(tag + 1);

	/* By mapping, the anonymous memory belongs to that tag as well. */
	if (READ_ONCE(s->naming) == MTAG_NAMING_MAP)
		entry = xa_mk_value((tag + 1) | EXPLICIT);
	/* Where there are no ranges, none of the base tag is noted either. */
	if (len && (entry || !mtree_empty(&s->ranges.tree)))
		store_or_lose(s, addr, len, entry);
}

/**
 * mtag_range_move() - copy the tags of @len bytes to where mremap moves them
 * @s:		space
 * @from:	address, page-aligned
 * @to:		address, page-aligned
 * @len:	bytes
 *
 * The old place keeps its tags until it is unmapped.
 * Context: mmap_lock held for writing; nothing is mapped at @to yet.
 */
void mtag_range_move(struct mtag_space *s, unsigned long from, unsigned long to,
		     unsigned long len)
{
	unsigned long done = 0, first, last, part;
	void *entry;

	if (mtree_empty(&s->ranges.tree) || from == to)
		return;
	while (done < len) {
		entry = lookup_entry(s, from + done, &first, &last);
		part = min(len - done, last - (from + done) + 1);
		if (!part)
			part = len - done;
		/* The pages that move there are charged to the tag of the old place. */
		if (!store_or_lose(s, to + done, part, entry))
			mtag_space_mark_dirty(s);
		done += part;
	}
}

/* A space without ranges. It is not published yet. */
void mtag_range_init(struct mtag_space *s)
{
	mt_init_flags(&s->ranges.tree, MT_FLAGS_ALLOC_RANGE | MT_FLAGS_USE_RCU);
	s->ranges.version = mtag_answer_version();
}

/*
 * Copies the ranges to a forked child, which is not published yet. Context: mmap_lock of the parent
 * held for writing.
 */
int mtag_range_fork(struct mtag_space *to, struct mtag_space *from, gfp_t gfp)
{
	MA_STATE(mas, &from->ranges.tree, 0, 0);
	unsigned int nr = 0;
	void *entry;
	int ret = 0;

	to->base_tag = from->base_tag;
	if (mtag_memory_charge(from->ranges.room * ENTRY_BYTES))
		return -ENOMEM;
	to->ranges.room = from->ranges.room;
	to->ranges.nr = from->ranges.nr;
	rcu_read_lock();
	mas_for_each(&mas, entry, ULONG_MAX) {
		unsigned long first = mas.index, last = mas.last;

		mas_pause(&mas);
		rcu_read_unlock();
		ret = mtree_store_range(&to->ranges.tree, first, last, entry, gfp);
		/* There may be max_ranges, and few stores allocate, where others might run. */
		if (++nr % LOOK_BATCH == 0 && gfpflags_allow_blocking(gfp))
			cond_resched();
		rcu_read_lock();
		if (ret)
			break;
	}
	rcu_read_unlock();
	ranges_changed(to);
	return ret;
}

/* Frees the ranges of @s, which is no longer used. Context: may sleep. */
void mtag_range_free(struct mtag_space *s)
{
	mtree_destroy(&s->ranges.tree);
	mtag_memory_uncharge(s->ranges.room * ENTRY_BYTES);
}

/*
 * Makes room for mtag_range_give(): in the middle of an entry it leaves three. Context, return: as
 * mtag_range_give().
 */
int mtag_range_reserve(struct mtag_space *s)
{
	return range_make_room(s, 2);
}

/**
 * mtag_range_give() - give a range to a tag explicitly
 * @s:		space
 * @first:	first address of the range
 * @last:	last address of the range
 * @tag:	id
 *
 * Context: may sleep; locks as for a store into @s->ranges.
 * Return: 0, -ENOSPC, -ENOMEM.
 */
int mtag_range_give(struct mtag_space *s, unsigned long first, unsigned long last, u32 tag)
{
	return store_entry(s, first, last, xa_mk_value((tag + 1) | EXPLICIT), MTAG_GFP);
}
