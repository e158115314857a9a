/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the page events share: finding the space, and charging it.
 */
#ifndef MTAG_RMAP_H
#define MTAG_RMAP_H

#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/rculist.h>
#include "compat/compat.h"
#include "hook.h"
#include "mtag.h"

#define MTAG_NO_ADDR	ULONG_MAX	/* an event whose address cannot be told */

/**
 * struct mtag_cpu - what a CPU remembers between events
 * @task:	whose current tag @word is …
 * @space:	… for pages of this space
 * @word:	&space->default_tag, or a word of the thread
 *
 * Used with preemption disabled.
 */
struct mtag_cpu {
	struct task_struct *task;
	struct mtag_space *space;
	const u32 *word;
};

DECLARE_PER_CPU(struct mtag_cpu, mtag_cpu);

/* A page-table lock disables preemption but on PREEMPT_RT. */
static __always_inline void mtag_cpu_hold(void)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		preempt_disable_notrace();
}

static __always_inline void mtag_cpu_release(void)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		preempt_enable_notrace();
}

/*
 * Is what comes by MTAG_BY_MAP the result of a collapse? Who collapses holds
 * mmap_lock for writing, who touches never does. (PREEMPT_RT, where locks look
 * different, has no huge pages.)
 */
static __always_inline bool mtag_collapsing(const struct mm_struct *mm)
{
#ifdef CONFIG_PREEMPT_RT
	return false;
#else
	/* Bit 0 tells a reader, bit 1 keeps others from spinning. */
	return MTAG_FAULT_COLLAPSES &&
	       (atomic_long_read(&mm->mmap_lock.owner) & ~2UL) == (unsigned long)current;
#endif
}

/* What a page of a file counts as, by itself and not by its mapping. */
static inline enum mtag_kind mtag_file_kind(const struct page *page)
{
	return folio_test_swapbacked(page_folio((struct page *)page)) ? MTAG_SHMEM : MTAG_FILE;
}

static inline bool mtag_is_ksm(const struct page *page)
{
	return folio_test_ksm(page_folio((struct page *)page));
}

/* Context: RCU; disabled preemption will do. */
static __always_inline struct mtag_space *mtag_space_find(const struct mm_struct *mm)
{
	struct hlist_node *node;

	node = READ_ONCE(mtag_space_hash[hash_ptr((void *)mm, MTAG_HASH_BITS)].first);
	while (node) {
		struct mtag_space *s = hlist_entry(node, struct mtag_space, node);

		/* A plain load, compared where it lies: it is looked at but once. */
		if (likely(data_race(s->mm) == mm))
			return s;
		node = READ_ONCE(node->next);
	}
	return NULL;
}

/* rmap.c */
u32 mtag_ksm_owner_valid(struct mtag_space *s, const struct page *page);
u32 mtag_ksm_owner(struct mtag_space *s, const struct page *page);
void mtag_charge(struct mtag_space *s, u32 tag, enum mtag_kind kind, int pages,
		 unsigned long addr);
void mtag_charge_replacing(struct mtag_space *s, u32 tag, unsigned long addr);
void mtag_rmap_gone(struct vm_area_struct *vma, struct page *page, int nr,
		    unsigned long parent_ip);
void mtag_rmap_added(struct vm_area_struct *vma, struct page *page, unsigned long addr, int nr,
		     unsigned long parent_ip);
void mtag_rmap_added_file(struct vm_area_struct *vma, struct page *page, int nr,
			  unsigned long parent_ip);

/* follow.c: everything but the commonest */
void mtag_follow_new(struct mtag_space *s, struct page *page, int nr, struct vm_area_struct *vma,
		     unsigned long addr, unsigned long parent_ip);
void mtag_follow_add(struct mtag_space *s, struct page *page, struct vm_area_struct *vma,
		     unsigned long addr, int nr, unsigned long parent_ip);
void mtag_follow_remove(struct mtag_space *s, struct page *page, struct vm_area_struct *vma,
			int nr, unsigned long parent_ip);
void mtag_follow_file(struct mtag_space *s, const struct page *page,
		      const struct vm_area_struct *vma, int nr, unsigned long parent_ip);
unsigned long mtag_follow_addr(const struct vm_area_struct *vma, const struct page *page);

/* copy.c */
void mtag_cow_begin(struct mtag_space *s, struct page *page, unsigned long addr, u32 tag);
void mtag_cow_end(struct mtag_space *s, struct mm_struct *mm, u32 tag, unsigned long addr,
		   enum mtag_caller caller);

/* collapse.c */
void mtag_collapse_removed(struct mtag_space *s, unsigned long addr, u32 tag);
void mtag_collapse_added(struct mtag_space *s, struct page *head, int nr, unsigned long addr);

/* swap.c */
u32 mtag_swap_tag(unsigned long entry);
void mtag_swap_set(unsigned long entry, u32 tag);
void mtag_swap_out(struct mtag_space *s, unsigned long entry, u32 tag, unsigned long addr);
void mtag_swap_freed(unsigned long entry, int nr, unsigned long parent_ip);
void mtag_swap_freed_one(unsigned long entry, unsigned long parent_ip);
void mtag_swap_in(struct mtag_space *s, struct mm_struct *mm, unsigned long addr);
void mtag_swap_exit(void);

/* ksm.c */
bool mtag_ksm_foreign(struct mtag_space *s, const struct page *page);
void mtag_ksm_copy(const struct page *to, const struct page *from);
void mtag_ksm_exit(void);

/* zap.c */
bool mtag_zap_begin(struct mm_struct *mm);
void mtag_zap_end(void);
struct mm_struct *mtag_zap_mm(void);

/* range.c; context: a page-table lock or mmap_lock of the space's mm */
bool mtag_range_explicit(struct mtag_space *s, unsigned long addr, u32 *tag, unsigned long *end);
void mtag_file_charge(struct mtag_space *s, const struct vm_area_struct *vma,
		       const struct page *page, int nr, int sign);
void mtag_file_taken(struct mtag_space *s, const struct vm_area_struct *vma,
		      const struct page *page, int nr);
void mtag_file_restored(struct mtag_space *s, const struct vm_area_struct *vma,
			 const struct page *page, int nr);
void mtag_range_map(struct mtag_space *s, unsigned long addr, unsigned long len, u32 tag);
void mtag_range_move(struct mtag_space *s, unsigned long from, unsigned long to,
		     unsigned long len);
int mtag_range_fork(struct mtag_space *to, struct mtag_space *from, gfp_t gfp);
void mtag_range_free(struct mtag_space *s);
bool mtag_file_place(const struct vm_area_struct *vma, const struct page *page,
		      unsigned long *addr);
int mtag_range_reserve(struct mtag_space *s);
int mtag_range_give(struct mtag_space *s, unsigned long first, unsigned long last, u32 tag);
unsigned long mtag_file_addr(const struct vm_area_struct *vma, const struct page *page);

#endif /* MTAG_RMAP_H */
