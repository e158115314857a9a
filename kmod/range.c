// SPDX-License-Identifier: GPL-2.0
/*
 * Address ranges and their tags: who mapped what. File and shared memory and
 * the virtual size are charged by it; a range that a program gave to a tag
 * explicitly also comes before its threads' current tags.
 *
 * An entry is tag + 1, with EXPLICIT; no entry means the base tag. Entries of
 * what was unmapped stay until they are mapped over or swept: no page is there.
 */
#include <linux/hugetlb.h>
#include <linux/maple_tree.h>
#include <linux/pagemap.h>
#include <linux/sched/mm.h>
#include <linux/xarray.h>
#include "compat/compat.h"
#include "owner.h"
#include "rmap.h"
#include "walk.h"

#define EXPLICIT	0x20000
#define ENTRY_BYTES	32	/* of a leaf of the tree, half full */
#define ROOM		64	/* entries at least, for which room is made at a time */

static u32 entry_tag(struct mtag_space *s, void *entry)
{
	return entry ? (xa_to_value(entry) & 0x1ffff) - 1 : s->base_tag;
}

/* The entry at @addr and its extent. */
static void *lookup(struct mtag_space *s, unsigned long addr, unsigned long *first,
		    unsigned long *last)
{
	MA_STATE(mas, &s->ranges, addr, addr);
	void *entry;

	if (mtree_empty(&s->ranges)) {
		*first = 0;
		*last = ULONG_MAX;
		return NULL;
	}
	rcu_read_lock();
	entry = mas_walk(&mas);
	*first = mas.index;
	*last = mas.last;
	rcu_read_unlock();
	return entry;
}

/**
 * mtag_range_tag() - who mapped @addr
 * @s:		space
 * @addr:	user address
 * @end:	the answer holds up to here, exclusively
 *
 * Context: any.
 */
u32 mtag_range_tag(struct mtag_space *s, unsigned long addr, unsigned long *end)
{
	unsigned long first, last;
	void *entry = lookup(s, addr, &first, &last);

	*end = last == ULONG_MAX ? ULONG_MAX : last + 1;
	return entry_tag(s, entry);
}

/* Is @addr in a range that was given to a tag explicitly? The answer holds up to @end. */
bool mtag_range_explicit(struct mtag_space *s, unsigned long addr, u32 *tag, unsigned long *end)
{
	unsigned long first, last;
	void *entry = lookup(s, addr, &first, &last);

	*end = last == ULONG_MAX ? ULONG_MAX : last + 1;
	if (!entry || !(xa_to_value(entry) & EXPLICIT))
		return false;
	*tag = entry_tag(s, entry);
	return true;
}

/* As mtag_range_tag(), while pages may be on their way to another tag. */
static u32 event_tag(struct mtag_space *s, unsigned long addr, unsigned long *end)
{
	u32 tag = mtag_range_tag(s, addr, end);
	struct mtag_walk *w;

	if (!(READ_ONCE(s->slow) & MTAG_SLOW_WALK))
		return tag;
	raw_spin_lock(&s->walk_lock);
	w = s->walk;
	if (w && w->retag) {
		*end = addr + PAGE_SIZE;
		if (addr >= w->start && addr < w->cursor)
			tag = w->tag;
	}
	raw_spin_unlock(&s->walk_lock);
	return tag;
}

/**
 * mtag_range_addr() - where @page of a file is mapped in @vma
 * @vma:	mapping of a file, of shared memory or by a driver
 * @page:	head, tail or single
 *
 * Return: for pages that a driver put there, and whose place cannot be told,
 * the start of @vma; such a mapping is never merged with another.
 */
unsigned long mtag_range_addr(const struct vm_area_struct *vma, const struct page *page)
{
	const struct folio *folio = page_folio((struct page *)page);
	unsigned long addr;

	if (!vma->vm_file || READ_ONCE(folio->mapping) != vma->vm_file->f_mapping)
		return vma->vm_start;
	addr = vma->vm_start +
	       ((folio->index + (page - &folio->page) - vma->vm_pgoff) << PAGE_SHIFT);
	return addr >= vma->vm_start && addr < vma->vm_end ? addr : vma->vm_start;
}

/**
 * mtag_range_charge() - charge @nr pages of a file, or release them
 * @s:		space
 * @vma:	where they are mapped
 * @page:	the first of @nr
 * @nr:		pages
 * @sign:	1 or -1
 *
 * Context: page-table lock of the mapping.
 */
void mtag_range_charge(struct mtag_space *s, const struct vm_area_struct *vma,
		       const struct page *page, int nr, int sign)
{
	enum mtag_kind kind = mtag_file_kind(page);
	unsigned long addr = mtag_range_addr(vma, page), end, last = addr + nr * PAGE_SIZE;
	int pages;
	u32 tag;

	if (is_vm_hugetlb_page((struct vm_area_struct *)vma))
		return;
	for (; addr < last; addr += pages * PAGE_SIZE) {
		tag = event_tag(s, addr, &end);
		pages = (min(end, last) - addr) >> PAGE_SHIFT;
		mtag_charge(s, tag, kind, sign * pages, addr);
		if (sign > 0)
			mtag_account_touch(s, tag, pages);
	}
}

static unsigned int count_ranges(struct mtag_space *s)
{
	MA_STATE(mas, &s->ranges, 0, 0);
	unsigned int nr = 0;
	void *entry;

	rcu_read_lock();
	mas_for_each(&mas, entry, ULONG_MAX)
		nr++;
	rcu_read_unlock();
	return nr;
}

/*
 * Room for one more entry. It may also split one, or replace many: they are
 * counted again only when there may be too many. Context: as that of a store.
 */
static int make_room(struct mtag_space *s)
{
	unsigned int room, most = READ_ONCE(mtag_max_ranges);

	if (s->nr_ranges + 2 <= s->range_room)
		return 0;
	s->nr_ranges = count_ranges(s);
	if (s->nr_ranges + 2 > most)
		return -ENOSPC;
	room = min(most, s->nr_ranges + s->nr_ranges / 2 + ROOM);
	if (room > s->range_room) {
		if (mtag_charge_memory((room - s->range_room) * ENTRY_BYTES))
			return -ENOMEM;
		s->range_room = room;
	}
	return 0;
}

/* Stores @entry over [@first, @last], as one with equal neighbours. */
static int store(struct mtag_space *s, unsigned long first, unsigned long last, void *entry,
		 gfp_t gfp)
{
	unsigned long start, end;
	int ret;

	if (!entry && mtree_empty(&s->ranges))
		return 0;
	ret = make_room(s);
	if (ret)
		return ret;
	s->nr_ranges += 2;
	if (first && lookup(s, first - 1, &start, &end) == entry)
		first = start;
	if (last != ULONG_MAX && lookup(s, last + 1, &start, &end) == entry)
		last = end;
	return mtree_store_range(&s->ranges, first, last, entry, gfp);
}

/* Forget what is not mapped. Context: mmap_lock held for writing. */
static void sweep(struct mtag_space *s, struct mm_struct *mm)
{
	VMA_ITERATOR(vmi, mm, 0);
	struct vm_area_struct *vma;
	unsigned long hole = 0;

	for_each_vma(vmi, vma) {
		if (vma->vm_start > hole)
			mtree_store_range(&s->ranges, hole, vma->vm_start - 1, NULL,
					  MTAG_GFP);
		hole = vma->vm_end;
	}
	mtree_store_range(&s->ranges, hole, ULONG_MAX, NULL, MTAG_GFP);
	s->range_stores = 0;
}

/* What is not recorded keeps its former tag: wrongly named, and told by false. */
static bool store_or_lose(struct mtag_space *s, unsigned long addr, unsigned long len, void *entry)
{
	struct mm_struct *mm = READ_ONCE(s->mm);
	bool sleeps, stored;
	gfp_t gfp = mtag_hook_gfp(&sleeps);

	if (sleeps && mm && s->range_stores++ > 2 * mm->map_count + 1024)
		sweep(s, mm);
	stored = gfp && !store(s, addr, addr + len - 1, entry, gfp);
	if (!stored) {
		atomic64_inc(&s->lost);
		atomic64_inc(&mtag_stat.lost);
	}
	if (sleeps)
		mtag_hook_sleep_end();
	return stored;
}

/**
 * mtag_range_map() - [@addr, @addr + @len), in which nothing is mapped yet, is mapped by @tag
 * @s:		space
 * @addr:	page-aligned
 * @len:	bytes; nothing is done for 0
 * @tag:	id
 *
 * Context: mmap_lock held for writing.
 */
void mtag_range_map(struct mtag_space *s, unsigned long addr, unsigned long len, u32 tag)
{
	if (len)
		store_or_lose(s, addr, len, tag == s->base_tag ? NULL : xa_mk_value(tag + 1));
}

/**
 * mtag_range_move() - mremap moves @len bytes; the old place keeps its tags until it is unmapped
 * @s:		space
 * @from:	address, page-aligned
 * @to:		address, page-aligned
 * @len:	bytes
 *
 * Context: mmap_lock held for writing; nothing is mapped at @to yet.
 */
void mtag_range_move(struct mtag_space *s, unsigned long from, unsigned long to,
		     unsigned long len)
{
	unsigned long done = 0, first, last, part;
	void *entry;

	if (mtree_empty(&s->ranges) || from == to)
		return;
	while (done < len) {
		entry = lookup(s, from + done, &first, &last);
		part = min(len - done, last - (from + done) + 1);
		if (!part)
			part = len - done;
		/* The pages that come there have been charged to the tag of the old place. */
		if (!store_or_lose(s, to + done, part, entry))
			mtag_space_dirty(s);
		done += part;
	}
}

/* A forked child inherits the ranges. Context: both mmap_locks held for writing. */
int mtag_range_fork(struct mtag_space *to, struct mtag_space *from, gfp_t gfp)
{
	MA_STATE(mas, &from->ranges, 0, 0);
	void *entry;
	int ret = 0;

	to->base_tag = from->base_tag;
	if (mtag_charge_memory(from->range_room * ENTRY_BYTES))
		return -ENOMEM;
	to->range_room = from->range_room;
	to->nr_ranges = from->nr_ranges;
	rcu_read_lock();
	mas_for_each(&mas, entry, ULONG_MAX) {
		unsigned long first = mas.index, last = mas.last;

		mas_pause(&mas);
		rcu_read_unlock();
		ret = mtree_store_range(&to->ranges, first, last, entry, gfp);
		rcu_read_lock();
		if (ret)
			break;
	}
	rcu_read_unlock();
	return ret;
}

void mtag_range_free(struct mtag_space *s)
{
	mtree_destroy(&s->ranges);
	mtag_uncharge_memory(s->range_room * ENTRY_BYTES);
}

/* ---- retagging ---- */

struct retagger {
	struct mtag_visitor v;
	struct mtag_walk w;
	bool present;
	u64 moved, kept;
};

/* Caller holds walk_lock. */
static void move_charge(struct retagger *r, u32 from, enum mtag_kind kind)
{
	mtag_account_add(r->v.s, from, kind, -1);
	mtag_account_add(r->v.s, r->w.tag, kind, 1);
	r->moved += PAGE_SIZE;
}

/* A frame that a relative maps too, or that KSM shares, keeps its owner. */
static void retag_anon(struct retagger *r, struct page *page)
	__must_hold(&r->v.s->walk_lock)
{
	u32 from;

	if (mtag_is_ksm(page) || mtag_page_mapcount(page) != 1 || !trylock_page(page)) {
		r->kept += PAGE_SIZE;
		return;
	}
	/* In the swap cache: a relative may have it in swap. */
	if (mtag_is_ksm(page) || mtag_page_mapcount(page) != 1 ||
	    folio_test_swapcache(page_folio(page))) {
		r->kept += PAGE_SIZE;
	} else {
		from = mtag_owner_get(page);
		if (from != r->w.tag) {
			move_charge(r, from, MTAG_ANON);
			mtag_owner_change(page, r->w.tag);
		}
	}
	/* Waking who waits for it may sleep on PREEMPT_RT. The page-table lock keeps events off. */
	raw_spin_unlock(&r->v.s->walk_lock);
	unlock_page(page);
	raw_spin_lock(&r->v.s->walk_lock);
}

static void retag_visit(struct mtag_visitor *v, const struct mtag_pte *e)
{
	struct retagger *r = container_of(v, struct retagger, v);
	unsigned long addr, ignored;
	enum mtag_kind kind;
	u32 from;
	int i;

	if (!e->page)
		return;
	for (i = 0; i < e->nr; i++) {
		if (PageAnon(e->page)) {
			if (r->present)
				retag_anon(r, e->page + i);
			continue;
		}
		addr = mtag_range_addr(e->vma, e->page) + i * PAGE_SIZE;
		from = mtag_range_tag(v->s, addr, &ignored);
		kind = mtag_file_kind(e->page);
		if (from != r->w.tag)
			move_charge(r, from, kind);
	}
}

static void retag_leave(struct mtag_visitor *v, unsigned long end)
{
	container_of(v, struct retagger, v)->w.cursor = end;
}

static void retag_set(struct mtag_space *s, struct mtag_walk *w)
{
	raw_spin_lock(&s->walk_lock);
	s->walk = w;
	WRITE_ONCE(s->slow, w ? s->slow | MTAG_SLOW_WALK : s->slow & ~MTAG_SLOW_WALK);
	raw_spin_unlock(&s->walk_lock);
}

/* Mappings whose pages have no address of their own are retagged whole or not at all. */
static bool placeless(const struct vm_area_struct *vma)
{
	return vma->vm_flags & (VM_PFNMAP | VM_MIXEDMAP | VM_IO | VM_DONTEXPAND);
}

static int retag_check(struct mm_struct *mm, unsigned long addr, unsigned long end)
{
	VMA_ITERATOR(vmi, mm, addr);
	struct vm_area_struct *vma;

	for_each_vma_range(vmi, vma, end)
		if (placeless(vma) && (vma->vm_start < addr || vma->vm_end > end))
			return -EINVAL;
	return 0;
}

static int retag_walk(struct retagger *r, struct mm_struct *mm, unsigned long addr,
		      unsigned long end, u32 flags)
{
	VMA_ITERATOR(vmi, mm, addr);
	struct mtag_space *s = r->v.s;
	struct vm_area_struct *vma;
	int ret = make_room(s);

	if (ret)
		return ret;
	for_each_vma_range(vmi, vma, end)
		mtag_walk_vma(&r->v, vma, max(addr, vma->vm_start), min(end, vma->vm_end));
	raw_spin_lock(&s->walk_lock);
	r->w.cursor = end;
	raw_spin_unlock(&s->walk_lock);
	ret = store(s, addr, end - 1, xa_mk_value((r->w.tag + 1) | EXPLICIT), MTAG_GFP);
	if (!ret)
		mtag_space_slow(s, MTAG_SLOW_RANGE, 0);
	return ret;
}

/**
 * mtag_range_retag() - give a range of the current process to a tag
 * @s:		space of the current process
 * @addr:	page-aligned
 * @len:	bytes, whole pages, not 0
 * @tag:	id, with an account in @s
 * @flags:	MTAG_RANGE_*
 * @moved:	bytes of resident pages that changed their owner
 * @kept:	bytes of anonymous pages that were asked for and could not
 *
 * Context: may sleep.
 * Return: 0; -EINVAL, -ENOMEM, -EINTR, -EAGAIN, -ESRCH; -ENOSPC for too many ranges.
 */
int mtag_range_retag(struct mtag_space *s, unsigned long addr, unsigned long len, u32 tag,
		     u32 flags, u64 *moved, u64 *kept)
{
	struct mm_struct *mm = current->mm;
	struct retagger r = {
		.v = { .visit = retag_visit, .leave = retag_leave, .s = s },
		.w = { .retag = true, .start = addr, .cursor = addr, .tag = tag },
		.present = flags & MTAG_RANGE_PRESENT,
	};
	int ret = 0;

	/* Forked, and not counted for the want of memory. */
	if (!READ_ONCE(s->live))
		ret = mtag_walk_repair(s);
	if (ret)
		return ret;
	ret = mutex_lock_killable(&s->tree->build_lock);
	if (ret)
		return ret;
	if (!s->live) {
		ret = -ESRCH;
		goto unlock_build;
	}
	retag_set(s, &r.w);
	synchronize_rcu();
	ret = mtag_walk_lock(mm);
	if (ret)
		goto unset;
	ret = retag_check(mm, addr, addr + len);
	if (!ret)
		ret = retag_walk(&r, mm, addr, addr + len, flags);
	retag_set(s, NULL);
	/* Part of the pages has moved, but the range could not be noted. */
	if (ret == -ENOMEM)
		mtag_space_dirty(s);
	mmap_read_unlock(mm);
	*moved = r.moved;
	*kept = r.kept;
	goto unlock_build;
unset:
	retag_set(s, NULL);
unlock_build:
	mutex_unlock(&s->tree->build_lock);
	return ret;
}
