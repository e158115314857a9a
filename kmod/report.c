// SPDX-License-Identifier: GPL-2.0
/*
 * Reads a space consistently: folds its accounts and divides its address space
 * by tag, with no walk, retag or change of tracking in between.
 */
#include <linux/build_bug.h>
#include <linux/nospec.h>
#include <linux/overflow.h>
#include <linux/sched/mm.h>
#include <linux/string.h>
#include "access.h"
#include "account.h"
#include "calls.h"
#include "hook.h"
#include "memory.h"
#include "migrate.h"
#include "mtag.h"
#include "range.h"
#include "report.h"
#include "space.h"
#include "stat.h"
#include "state.h"
#include "tree.h"
#include "walk.h"

/**
 * struct virt - sums of virtual size
 * @nr_tags:	ids from this one on have no account and count as untagged
 * @all:	bytes by tag; NULL if only those of @tag are wanted
 * @has:	tags that have some, if @all is filled
 * @tag:	see @all
 * @one:	bytes of @tag
 * @total:	bytes of all
 */
struct virt {
	unsigned int nr_tags;
	u64 *all;
	unsigned long *has;
	u32 tag;
	u64 one;
	u64 total;
};

static void virt_add(struct virt *v, u32 tag, u64 bytes)
{
	if (tag >= v->nr_tags)
		tag = MTAG_ID_UNTAGGED;
	if (v->all) {
		v->all[tag] += bytes;
		__set_bit(tag, v->has);
	} else if (tag == v->tag) {
		v->one += bytes;
	}
	v->total += bytes;
}

/*
 * A stack grows downwards from where it was mapped: the part below the lowest
 * stored range belongs to that range. Returns where the rest begins.
 */
static unsigned long virt_stack(struct mtag_space *s, struct vm_area_struct *vma, struct virt *v)
{
	MA_STATE(mas, &s->ranges.tree, vma->vm_start, vma->vm_start);
	unsigned long from, end;
	void *entry;

	rcu_read_lock();
	entry = mas_find(&mas, vma->vm_end - 1);
	from = max(mas.index, vma->vm_start);
	rcu_read_unlock();
	if (!entry || from == vma->vm_start)
		return vma->vm_start;
	virt_add(v, mtag_range_tag(s, from, &end), from - vma->vm_start);
	return from;
}

static void virt_vma(struct mtag_space *s, struct vm_area_struct *vma, struct virt *v)
{
	unsigned long addr = vma->vm_start, end;

	if (vma->vm_flags & VM_GROWSDOWN)
		addr = virt_stack(s, vma, v);
	while (addr < vma->vm_end) {
		u32 tag = mtag_range_tag(s, addr, &end);

		if (WARN_ON_ONCE(end <= addr))
			end = vma->vm_end;
		end = min(end, vma->vm_end);
		virt_add(v, tag, end - addr);
		addr = end;
	}
}

/* Context: build_lock held, so that the ranges stay. */
static int virt_read(struct mtag_space *s, struct mm_struct *mm, struct virt *v)
{
	VMA_ITERATOR(vmi, mm, 0);
	struct vm_area_struct *vma;

	lockdep_assert_held(&s->tree->build_lock);
	if (mmap_read_lock_killable(mm))
		return -EINTR;
	for_each_vma(vmi, vma) {
		virt_vma(s, vma, v);
		cond_resched();
	}
	mtag_migrate_settle(s, mm);
	mmap_read_unlock(mm);
	return 0;
}

/* With room for each tag, unless only the @totals are wanted. */
static struct mtag_report *report_alloc(unsigned int nr_tags, bool totals)
{
	struct mtag_report *r;
	unsigned int rows = totals ? 0 : nr_tags;
	size_t head = struct_size(r, sums, rows);
	size_t has = array_size(BITS_TO_LONGS(rows), sizeof(*r->has));
	size_t bytes = size_add(head, size_add(array_size(rows, sizeof(*r->virt)), has));

	/* A reader may hold many reports, and for long. */
	r = mtag_memory_alloc(bytes, MTAG_GFP);
	if (!r)
		return NULL;
	/* All parts end on a multiple of 8 bytes. */
	memset(r, 0, sizeof(*r));
	r->bytes = bytes;
	r->nr_tags = nr_tags;
	if (!totals) {
		r->virt = memset((void *)r + head, 0, bytes - head);
		r->has = (unsigned long *)(r->virt + rows);
	}
	return r;
}

/*
 * Repairs the space if it missed an event. A process too busy to be counted is
 * shown with its last counters, if it was ever counted, and with a lost event.
 */
static int settle_space(struct mtag_space *s)
{
	int err;

	mtag_walk_verify();
	err = READ_ONCE(s->dirty) ? mtag_walk_repair(s) : 0;

	if (err == -EAGAIN) {
		mtag_space_add_lost(s, 1);
		if (READ_ONCE(s->live))
			err = 0;
	}
	return err;
}

/* Keeps out walks, retags and changes of tracking until the caller unlocks build_lock. */
static int report_lock(struct mtag_space *s)
{
	if (mutex_lock_killable(&s->tree->build_lock))
		return -EINTR;
	if (s->live)
		return 0;
	mutex_unlock(&s->tree->build_lock);
	return -ESRCH;
}

/* Fills r->has, except for what virt_read() adds. */
static void report_mark(struct mtag_report *r, struct mtag_space *s)
{
	unsigned long tag;

	__set_bit(MTAG_ID_UNTAGGED, r->has);
	for (tag = mtag_calls_next(s, MTAG_ID_UNTAGGED + 1); tag < r->nr_tags;
	     tag = mtag_calls_next(s, tag + 1))
		__set_bit(tag, r->has);
}

/* Context: build_lock held; @mm may be NULL. */
static struct mtag_report *report_read(struct mtag_space *s, struct mm_struct *mm, bool totals)
{
	struct mtag_report *r = report_alloc(mtag_account_tags(s), totals);
	struct virt v = {};
	int err;

	lockdep_assert_held(&s->tree->build_lock);
	if (!r)
		return ERR_PTR(-ENOMEM);
	/* After the number of tags, and before their counters. */
	r->nr_named = READ_ONCE(s->tree->nr_named);
	v.nr_tags = r->nr_tags;
	v.all = r->virt;
	v.has = r->has;
	err = mm ? virt_read(s, mm, &v) : 0;
	if (err) {
		mtag_memory_free(r, r->bytes);
		return ERR_PTR(err);
	}
	if (!totals)
		report_mark(r, s);
	mtag_account_read_all(s, r->nr_tags, totals ? NULL : r->sums, r->has, &r->total);
	r->total_virt = v.total;
	r->lost = atomic64_read(&s->lost);
	r->overflow = atomic64_read(&s->overflow);
	r->repairs = atomic64_read(&s->repairs);
	r->space = mtag_space_get(s);
	r->uid = mm ? mtag_access_uid(mm) : INVALID_UID;
	return r;
}

static struct mtag_report *report_get(struct mtag_space *s, bool totals)
{
	struct mtag_report *r;
	struct mm_struct *mm;
	int err = settle_space(s);

	if (err)
		return ERR_PTR(err);
	mm = mtag_space_mmget(s);
	err = report_lock(s);
	if (err) {
		r = ERR_PTR(err);
	} else {
		r = report_read(s, mm, totals);
		mutex_unlock(&s->tree->build_lock);
	}
	/* This may be the last reference: exit_mmap() must not run under build_lock. */
	if (mm)
		mmput(mm);
	return r;
}

/**
 * mtag_report_get() - read a space: O(tags + VMAs + ranges), whatever its size
 * @s:		the space
 *
 * Context: may sleep; no lock of the space or its mm held. The caller must
 * mtag_report_put() it.
 * Return: -ENOMEM; -EINTR if killed; -ESRCH before the first walk or after the
 * last; the error of a repair that was due.
 */
struct mtag_report *mtag_report_get(struct mtag_space *s)
{
	return report_get(s, false);
}

/* As mtag_report_get(), but only the totals. */
struct mtag_report *mtag_report_totals(struct mtag_space *s)
{
	return report_get(s, true);
}

/* Frees @r, which may be NULL or an error. Context: may sleep. */
void mtag_report_put(struct mtag_report *r)
{
	if (IS_ERR_OR_NULL(r))
		return;
	mtag_space_put(r->space);
	mtag_memory_free(r, r->bytes);
}

/* Fills all but the calls. */
static void to_counters(const struct mtag_sum *sum, u64 virt, u64 *counters)
{
	counters[MTAG_C_ANON] = sum->nr[MTAG_ANON] << PAGE_SHIFT;
	counters[MTAG_C_FILE] = sum->nr[MTAG_FILE] << PAGE_SHIFT;
	counters[MTAG_C_SHMEM] = sum->nr[MTAG_SHMEM] << PAGE_SHIFT;
	counters[MTAG_C_SWAP] = sum->nr[MTAG_SWAP] << PAGE_SHIFT;
	counters[MTAG_C_PEAK] = sum->peak << PAGE_SHIFT;
	counters[MTAG_C_VIRT] = virt;
	counters[MTAG_C_TOUCHED] = sum->touched << PAGE_SHIFT;
}

/* Fills the calls. Return: false if there are none; then there are no bytes of calls either. */
static bool to_calls(struct mtag_space *s, u32 tag, u64 *counters)
{
	BUILD_BUG_ON(MTAG_C_MUNMAPS - MTAG_C_MMAPS != MTAG_MUNMAP);
	BUILD_BUG_ON(MTAG_C_SHMDTS - MTAG_C_MMAPS != MTAG_SHMDT);
	BUILD_BUG_ON(MTAG_C_MMAP_BYTES - MTAG_C_MMAPS != MTAG_CALLS);
	BUILD_BUG_ON(MTAG_C_NR - MTAG_C_MMAP_BYTES != MTAG_CALLS);

	return mtag_calls_read(s, tag, &counters[MTAG_C_MMAPS], &counters[MTAG_C_MMAP_BYTES]);
}

/*
 * Has the id of @node, or NULL, been given to another thread since @r was read? The numbers are not
 * those of the tag that has it now.
 */
static bool is_later(const struct mtag_report *r, const struct mtag_node *node)
{
	return node && node->born >= r->nr_named;
}

/* As mtag_report_labels_counters(), of a tag that may have some. */
unsigned int mtag_report_labels_count(struct mtag_labels *l, const struct mtag_report *r, u32 tag,
				      u64 *counters)
{
	unsigned int nr = MTAG_C_MMAPS;

	to_counters(&r->sums[tag], r->virt[tag], counters);
	if (tag >= l->called)
		l->called = mtag_calls_next(r->space, tag);
	if (tag == l->called) {
		l->called++;
		/* They are read only now. */
		if (!is_later(r, mtag_tree_node(r->space->tree, tag)) &&
		    to_calls(r->space, tag, counters))
			nr = MTAG_C_NR;
	}
	while (nr && !counters[nr - 1])
		nr--;
	return nr;
}

/* @name is in an array of whole words. */
static struct mtag_label reserved_label(const char *name)
{
	return (struct mtag_label){ .name = name, .len = strlen(name) };
}

/*
 * As mtag_report_labels_find(), of a tag whose @node, or the lack of one, says that it is another.
 */
bool mtag_report_labels_other(struct mtag_labels *l, const struct mtag_report *r, u32 tag,
			      const struct mtag_node *node, bool empty, struct mtag_label *label)
{
	static const char untagged[8] = "", ksm[8] = "[ksm]", hidden[16] = "[hidden]";

	*label = reserved_label(untagged);
	if (tag == MTAG_ID_UNTAGGED)
		return true;
	if (tag == MTAG_ID_KSM) {
		*label = reserved_label(ksm);
		return !empty;
	}
	if (!node)
		return false;
	/* The process may have another user's tag: by a number that it was told or made up. */
	if (is_later(r, node) || !mtag_tree_sees_node(r->space, node, r->uid)) {
		*label = reserved_label(hidden);
		return !empty;
	}
	l->seen = node->parent;
	*label = (struct mtag_label){ .name = node->name, .len = node->len,
				      .parent = node->parent };
	return true;
}

/* Fills @row with a tag of the report; false if there is nothing to show under that id. */
bool mtag_report_row(const struct mtag_report *r, u32 tag, struct mtag_row *row)
{
	struct mtag_label label;
	struct mtag_labels l;
	bool empty, shown;

	memset(row, 0, sizeof(*row));
	row->id = tag;
	rcu_read_lock();
	mtag_report_labels_begin(&l, r);
	empty = !mtag_report_labels_counters(&l, r, tag, row->counters);
	shown = mtag_report_labels_find(&l, r, tag, empty, &label);
	if (shown) {
		row->parent = label.parent;
		memcpy(row->name, label.name, label.len);
	}
	rcu_read_unlock();
	return shown;
}

/* Context: build_lock held. */
static int one_read(struct mtag_space *s, struct mm_struct *mm, u32 tag, u64 *counters)
{
	struct virt v = { .nr_tags = mtag_account_tags(s), .tag = tag };
	struct mtag_sum sum = {};
	int err;

	lockdep_assert_held(&s->tree->build_lock);
	if (tag >= v.nr_tags)
		return -ENOENT;
	tag = array_index_nospec(tag, v.nr_tags);
	err = virt_read(s, mm, &v);
	if (err)
		return err;
	rcu_read_lock();
	mtag_account_read(rcu_dereference(s->accounts), tag, &sum);
	rcu_read_unlock();
	to_counters(&sum, v.one, counters);
	to_calls(s, tag, counters);
	return 0;
}

/**
 * mtag_report_one() - read one tag of the calling process: O(CPUs it ran on + VMAs + ranges)
 * @s:		its space
 * @tag:	the tag
 * @counters:	filled; MTAG_C_NR of them
 *
 * Return: 0; -ENOENT if the tag has no account; otherwise as mtag_report_get().
 */
int mtag_report_one(struct mtag_space *s, u32 tag, u64 *counters)
{
	int err = settle_space(s) ?: report_lock(s);

	if (err)
		return err;
	err = one_read(s, current->mm, tag, counters);
	mutex_unlock(&s->tree->build_lock);
	return err;
}

static const struct {
	const char *name;
	const atomic64_t *value;
} health[] = {
	{ "installed" },
	{ "tracked" },
	{ "ended", &mtag_stat.ended },
	{ "drift", &mtag_stat.drift },
	{ "lost", &mtag_stat.lost },
	{ "overflow", &mtag_stat.overflow },
	{ "repairs", &mtag_stat.repairs },
	{ "dirty_ended", &mtag_stat.dirty_ended },
	{ "bad_word", &mtag_stat.bad_word },
	{ "foreign", &mtag_stat.foreign },
	{ "memory", &mtag_stat.memory },
	{ "history", &mtag_stat.history },
	{ "history_dropped", &mtag_stat.history_dropped },
	{ "history_lost", &mtag_stat.history_lost },
	{ "stack_lost", &mtag_stat.stack_lost },
};

const char *mtag_report_health(unsigned int i, u64 *value)
{
	if (i >= ARRAY_SIZE(health))
		return NULL;
	if (health[i].value)
		*value = atomic64_read(health[i].value);
	else
		*value = i ? atomic_read(&mtag_stat.tracked) : mtag_hook_installed();
	return health[i].name;
}
