// SPDX-License-Identifier: GPL-2.0
/*
 * The executable mappings of a process with stacks: an array that hooks read under RCU and the
 * page-table lock, where the kernel's own mappings cannot be looked up.
 *
 * It is read once, and then follows the events of new mappings and changes of protection. An
 * unmapped range stays until something else is mapped there: no return address points to it. Only
 * when there are many more ranges than mappings are those that are gone looked for.
 */
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "bell.h"
#include "image.h"
#include "memory.h"
#include "mtag.h"
#include "sleep.h"
#include "stackset.h"
#include "state.h"
#include "text.h"
#include "touched.h"
#include "user.h"

/* ---- the array ---- */

static size_t text_bytes(unsigned int nr)
{
	return sizeof(struct mtag_text) + nr * sizeof(struct mtag_unwind_map);
}

static struct mtag_text *text_alloc(unsigned int nr, gfp_t gfp)
{
	static atomic64_t last_serial;
	struct mtag_text *text = mtag_memory_alloc(text_bytes(nr), gfp);

	if (text)
		text->serial = atomic64_inc_return(&last_serial);
	return text;
}

/*
 * Returns the part of the charge that is for more than @to of @from entries, as @text will have no
 * more: what is charged always follows from its @nr. Context: nothing reads @text yet.
 */
static void text_shrink(struct mtag_text *text, unsigned int from, unsigned int to)
{
	mtag_memory_uncharge(text_bytes(from) - text_bytes(to));
	text->nr = to;
}

/* The present array. Context: mmap_lock, see struct mtag_stacks. */
static struct mtag_text *text_of(struct mtag_space *s)
{
	return rcu_dereference_protected(s->stacks.text, true);
}

static void text_free(struct mtag_text *text)
{
	mtag_memory_free(text, text_bytes(text->nr));
}

static void text_free_rcu(struct rcu_head *rcu)
{
	text_free(container_of(rcu, struct mtag_text, rcu));
}

/*
 * Not by kvfree_rcu(), which frees only seconds later: a program with many mappings can make arrays
 * faster than that. They are charged until they are freed. mtag_tree_exit() waits for the last.
 */
static void text_replace(struct mtag_space *s, struct mtag_text *text)
{
	struct mtag_text *old = text_of(s);

	rcu_assign_pointer(s->stacks.text, text);
	if (old)
		call_rcu(&old->rcu, text_free_rcu);
}

/* The index of the first mapping that ends above @addr. */
static unsigned int first_above(const struct mtag_text *text, unsigned long addr)
{
	unsigned int low = 0, high = text->nr, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (text->maps[middle].end > addr)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* ---- mappings ---- */

static bool is_vdso(const struct vm_area_struct *vma)
{
	const char *name = NULL;

	if (!vma->vm_file && vma->vm_ops && vma->vm_ops->name)
		name = vma->vm_ops->name((struct vm_area_struct *)vma);
	return name && !strcmp(name, "[vdso]");
}

/*
 * Fills @map with an executable mapping. Return: false if its frames cannot be named: its file
 * cannot be told from others, or it lies too far into it.
 * Context: mmap_lock; may take spinlocks.
 */
static bool map_of(const struct mtag_space *s, const struct vm_area_struct *vma,
		   struct mtag_unwind_map *map, kuid_t uid, gfp_t gfp)
{
	u64 bytes = vma->vm_end - vma->vm_start;
	int image;

	lockdep_assert_held(&vma->vm_mm->mmap_lock);
	map->start = vma->vm_start;
	map->end = vma->vm_end;
	if (vma->vm_file) {
		image = mtag_image_of(vma->vm_file, uid, s->stacks.touched->user, gfp);
		if (image < 0)
			return false;
		map->id = image;
		map->offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	} else if (is_vdso(vma)) {
		map->id = MTAG_IMAGE_VDSO;
		map->offset = 0;
	} else {
		map->id = MTAG_IMAGE_ANON;
		map->offset = vma->vm_start;
	}
	map->rows = mtag_image_rows(map->id);
	/* The sum may wrap: a character device is mapped up to the very last offset. */
	return bytes <= MTAG_FRAME_OFFSET && map->offset <= MTAG_FRAME_OFFSET - bytes;
}

static bool has_file(const struct mtag_text *text)
{
	unsigned int i;

	for (i = 0; i < text->nr; i++)
		if (text->maps[i].id >= MTAG_IMAGE_FIRST)
			return true;
	return false;
}

static unsigned int count_exec(struct mm_struct *mm)
{
	VMA_ITERATOR(vmi, mm, 0);
	struct vm_area_struct *vma;
	unsigned int nr = 0;

	for_each_vma(vmi, vma)
		nr += !!(vma->vm_flags & VM_EXEC);
	return nr;
}

/* Context: mmap_lock for writing, or for reading and build_lock. Return: 0 or -ENOMEM. */
static int read_all(struct mtag_space *s, struct mm_struct *mm, kuid_t uid, gfp_t gfp)
{
	VMA_ITERATOR(vmi, mm, 0);
	unsigned int room = count_exec(mm), nr = 0;
	struct vm_area_struct *vma;
	struct mtag_text *text;

	lockdep_assert_held(&mm->mmap_lock);
	text = text_alloc(room, gfp);
	if (!text)
		return -ENOMEM;
	for_each_vma(vmi, vma) {
		if (!(vma->vm_flags & VM_EXEC) || nr == room)
			continue;
		if (map_of(s, vma, &text->maps[nr], uid, gfp))
			nr++;
		else
			mtag_touched_lost(s->stacks.touched);
	}
	text_shrink(text, room, nr);
	text_replace(s, text);
	if (has_file(text))
		mtag_bell_ring(s);
	return 0;
}

/**
 * mtag_text_read() - read all executable mappings anew
 * @s:		space of @mm
 * @mm:		its mm
 * @uid:	whose process it is
 *
 * Context: mmap_lock for reading, and build_lock; may sleep.
 * Return: 0 or -ENOMEM.
 */
int mtag_text_read(struct mtag_space *s, struct mm_struct *mm, kuid_t uid)
{
	lockdep_assert_held(&s->tree->build_lock);
	lockdep_assert_held(&mm->mmap_lock);
	return read_all(s, mm, uid, MTAG_GFP);
}

/* Does [@start, ...) of @map go on where @last ends? */
static bool continues_map(const struct mtag_unwind_map *last, const struct mtag_unwind_map *map,
			  u64 start)
{
	return last->end == start && last->id == map->id && last->rows == map->rows &&
	       last->offset + (start - last->start) == map->offset + (start - map->start);
}

/*
 * Appends [@start, @end) of @map. The kernel joins mappings without saying so: we join them, too,
 * or a process could have any number here.
 */
static void append_text(struct mtag_text *text, const struct mtag_unwind_map *map, u64 start,
			u64 end)
{
	struct mtag_unwind_map *to = &text->maps[text->nr];

	if (start >= end)
		return;
	if (text->nr && continues_map(to - 1, map, start)) {
		(to - 1)->end = end;
		return;
	}
	*to = *map;
	to->start = start;
	to->end = end;
	to->offset = map->offset + (start - map->start);
	text->nr++;
}

/* Unmapped ranges that may stay, beside as many as there are mappings. */
#define GONE_MAX	64

/* A copy of @old without what is no longer mapped executable. Context: mmap_lock. */
static struct mtag_text *text_without_gone(const struct mtag_text *old, struct mm_struct *mm,
					   gfp_t gfp)
{
	struct mtag_text *text = text_alloc(old->nr, gfp);
	const struct vm_area_struct *vma;
	unsigned int i;

	lockdep_assert_held(&mm->mmap_lock);
	if (!text)
		return NULL;
	text->nr = 0;
	for (i = 0; i < old->nr; i++) {
		vma = find_vma(mm, old->maps[i].start);
		if (vma && vma->vm_start < old->maps[i].end && vma->vm_flags & VM_EXEC)
			text->maps[text->nr++] = old->maps[i];
	}
	text_shrink(text, old->nr, text->nr);
	return text;
}

/* A copy of @old with [@start, @end) replaced by @map, or (NULL) by nothing. */
static struct mtag_text *text_with(const struct mtag_text *old, unsigned long start,
				   unsigned long end, const struct mtag_unwind_map *map, gfp_t gfp)
{
	unsigned int i, from, to, room = old->nr + 2;
	struct mtag_text *text = text_alloc(room, gfp);

	if (!text)
		return NULL;
	text->nr = 0;
	from = first_above(old, start);
	for (i = 0; i < from; i++)
		text->maps[text->nr++] = old->maps[i];
	for (to = from; to < old->nr && old->maps[to].start < end; to++)
		append_text(text, &old->maps[to], old->maps[to].start,
			    min_t(u64, old->maps[to].end, start));
	if (map)
		append_text(text, map, start, end);
	for (i = from; i < to; i++)
		append_text(text, &old->maps[i], max_t(u64, old->maps[i].start, end),
			    old->maps[i].end);
	for (i = to; i < old->nr; i++)
		append_text(text, &old->maps[i], old->maps[i].start, old->maps[i].end);
	text_shrink(text, room, text->nr);
	return text;
}

/* Does the array say already what is mapped from @start to @end: @map, or (NULL) nothing? */
static bool is_known(const struct mtag_text *text, unsigned long start, unsigned long end,
		     const struct mtag_unwind_map *map)
{
	unsigned int i = text ? first_above(text, start) : 0;
	const struct mtag_unwind_map *has = text && i < text->nr ? &text->maps[i] : NULL;

	if (!has || has->start >= end)
		return !map;
	return map && has->start <= start && has->end >= end && has->id == map->id &&
	       has->offset + (start - has->start) == map->offset;
}

/* The process may have become another user. Context: mmap_lock for writing. */
static void follow_uid(struct mtag_touched *touched, gfp_t gfp)
{
	struct mtag_user *user = mtag_user_heir(touched->user, gfp);

	if (user)
		WRITE_ONCE(touched->user, user);
}

/* Context: mmap_lock for writing; may allocate by @gfp. */
static void note_text(struct mtag_space *s, const struct vm_area_struct *vma, gfp_t gfp)
{
	struct mtag_text *old = text_of(s), *text;
	struct mtag_unwind_map map, *found = NULL;

	lockdep_assert_held_write(&vma->vm_mm->mmap_lock);
	if (vma->vm_flags & VM_EXEC) {
		follow_uid(s->stacks.touched, gfp);
		/* A program's first mapping, or the first after there was no memory. */
		if (!old) {
			if (read_all(s, vma->vm_mm, current_euid(), gfp))
				mtag_touched_lost(s->stacks.touched);
			return;
		}
		if (map_of(s, vma, &map, current_euid(), gfp))
			found = &map;
		else
			mtag_touched_lost(s->stacks.touched);
	}
	if (is_known(old, vma->vm_start, vma->vm_end, found))
		return;
	if (old->nr > 2 * READ_ONCE(vma->vm_mm->map_count) + GONE_MAX) {
		text = text_without_gone(old, vma->vm_mm, gfp);
		if (text) {
			text_replace(s, text);
			old = text;
		}
	}
	text = text_with(old, vma->vm_start, vma->vm_end, found, gfp);
	/* Out of memory: better no mapping than a wrong one, until there is memory for all. */
	if (!text)
		mtag_touched_lost(s->stacks.touched);
	text_replace(s, text);
	if (text && found && found->id >= MTAG_IMAGE_FIRST)
		mtag_bell_ring(s);
}

/**
 * mtag_text_mapped() - something was mapped, or its protection has changed
 * @s:		space with stacks
 * @vma:	the mapping
 *
 * Where a stack grows, the kernel holds the lock of its anon_vma meanwhile. Reclaim, compaction and
 * the splitting of huge pages may wait for that one, so no allocation there may wait for them.
 * Context: mmap_lock held for writing; may sleep where preemption is enabled.
 */
void mtag_text_mapped(struct mtag_space *s, const struct vm_area_struct *vma)
{
	bool sleeps;
	gfp_t gfp;

	lockdep_assert_held_write(&vma->vm_mm->mmap_lock);
	if (!(vma->vm_flags & VM_EXEC) && is_known(text_of(s), vma->vm_start, vma->vm_end, NULL))
		return;
	gfp = mtag_sleep_gfp(&sleeps);
	if (gfp && vma->vm_flags & VM_GROWSDOWN)
		gfp = MTAG_GFP_NOWAIT;
	if (gfp) {
		note_text(s, vma, gfp);
	} else {
		mtag_touched_lost(s->stacks.touched);
		text_replace(s, NULL);
	}
	if (sleeps)
		mtag_sleep_end();
}

/* ---- spaces ---- */

/* The child has a copy of what its parent has noted, and goes on with it. */
static void fork_named(struct mtag_space *child, struct mtag_space *parent, gfp_t gfp)
{
	/* Pairs with mtag_heap_stack(). */
	const struct mtag_stackset *named = smp_load_acquire(&parent->stacks.named);

	if (!named)
		return;
	child->stacks.named = mtag_stackset_copy(named, gfp);
	if (!child->stacks.named)
		mtag_touched_lost(NULL);
}

/* @s takes stacks as @old does, and has those of @own already. Return: 0 or -ENOMEM. */
static int inherit_stacks(struct mtag_space *s, struct mtag_space *old, struct mtag_stackset *own,
			  gfp_t gfp)
{
	struct mtag_user *user = mtag_user_heir(READ_ONCE(old->stacks.touched->user), gfp);

	s->stacks.touched = mtag_touched_alloc(user, own, gfp);
	if (!s->stacks.touched)
		return -ENOMEM;
	s->stacks.one_in = READ_ONCE(old->stacks.one_in);
	s->stacks.one_in_varied = READ_ONCE(old->stacks.one_in_varied);
	mtag_bell_share(s, old);
	s->slow |= MTAG_SLOW_STACKS;
	return 0;
}

/**
 * mtag_text_fork() - a forked child has its parent's mappings, and takes stacks as it does
 * @child:	not published yet
 * @parent:	space with stacks
 * @gfp:	allocation flags of the caller's context
 *
 * Context: mmap_lock of the parent held for writing.
 * Return: 0 or -ENOMEM.
 */
int mtag_text_fork(struct mtag_space *child, struct mtag_space *parent, gfp_t gfp)
{
	struct mtag_text *old = text_of(parent), *text;
	int ret;

	if (old) {
		text = text_alloc(old->nr, gfp);
		if (!text)
			return -ENOMEM;
		text->nr = old->nr;
		memcpy(text->maps, old->maps, old->nr * sizeof(*old->maps));
		rcu_assign_pointer(child->stacks.text, text);
	}
	ret = inherit_stacks(child, parent, parent->stacks.touched->own, gfp);
	if (!ret)
		fork_named(child, parent, gfp);
	return ret;
}

/**
 * mtag_text_exec() - a new program begins without mappings, and takes stacks as the old one
 * @s:		not published yet
 * @old:	space with stacks
 * @gfp:	allocation flags of the caller's context
 *
 * Return: 0 or -ENOMEM.
 */
int mtag_text_exec(struct mtag_space *s, struct mtag_space *old, gfp_t gfp)
{
	return inherit_stacks(s, old, NULL, gfp);
}

/* Context: nothing refers to @s any longer; may sleep. */
void mtag_text_free(struct mtag_space *s)
{
	if (text_of(s))
		text_free(text_of(s));
	mtag_touched_put(s->stacks.touched);
	mtag_stackset_put(s->stacks.named);
	mtag_bell_set(s, NULL);
}
