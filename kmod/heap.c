// SPDX-License-Identifier: GPL-2.0
/*
 * The area where a process keeps its view of its heap: where it is, and what is in it, for readers.
 * The module itself trusts nothing there, and does not look at it. The stack of an object is noted
 * there as a number, which the process got from the module.
 */
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "compat/page.h"
#include "heap.h"
#include "leaf.h"
#include "mtag.h"
#include "stack.h"
#include "stackset.h"
#include "state.h"
#include "take.h"
#include "touched.h"
#include "visit.h"

/**
 * mtag_heap_set() - the current process registers its area
 * @s:		its space
 * @address:	start; 0: there is no longer one
 * @length:	bytes
 *
 * Return: 0; -EINVAL if that cannot be an area.
 */
int mtag_heap_set(struct mtag_space *s, u64 address, u64 length)
{
	if (!PAGE_ALIGNED(address) || !PAGE_ALIGNED(length) || length > MTAG_HEAP_MAX ||
	    !address != !length || length > TASK_SIZE || address > TASK_SIZE - length)
		return -EINVAL;
	raw_spin_lock(&s->walk_lock);
	s->heap.address = address;
	s->heap.length = length;
	raw_spin_unlock(&s->walk_lock);
	return 0;
}

static struct mtag_heap heap_of(struct mtag_space *s)
{
	struct mtag_heap heap;

	raw_spin_lock(&s->walk_lock);
	heap = s->heap;
	raw_spin_unlock(&s->walk_lock);
	return heap;
}

/* A forked child has a copy of its parent's area. Context: @child is not published yet. */
void mtag_heap_inherit(struct mtag_space *child, struct mtag_space *parent)
{
	child->heap = heap_of(parent);
}

/* ---- stacks of its objects ---- */

/* The stacks that @s was told of, NULL without memory. */
static struct mtag_stackset *named_stacks_get(struct mtag_space *s)
{
	/* Pairs with the cmpxchg() below. */
	struct mtag_stackset *named = smp_load_acquire(&s->stacks.named), *first;

	if (named)
		return named;
	named = mtag_stackset_alloc(mtag_stack_room(), MTAG_GFP);
	if (!named)
		return NULL;
	first = cmpxchg(&s->stacks.named, NULL, named);
	if (!first)
		return named;
	/* Another thread was faster. */
	mtag_stackset_put(named);
	return first;
}

/**
 * mtag_heap_stack() - the stack with which the current thread allocates an object
 * @s:		space of its process
 *
 * Context: a system call; may sleep.
 * Return: as struct mtag_ioc_heap says.
 */
u32 mtag_heap_stack(struct mtag_space *s)
{
	struct mtag_stackset *named;
	u32 stack = MTAG_LEAF_NONE;

	if (!mtag_space_stacks(s))
		return 0;
	named = named_stacks_get(s);
	if (named)
		stack = mtag_take_call(s);
	if (stack != MTAG_LEAF_NONE && mtag_stackset_add(named, stack))
		return stack;
	mtag_touched_lost(NULL);
	return MTAG_HEAP_NO_STACK;
}

/* ---- the area ---- */

#define LOOKS	3	/* a page may be touched between two looks, but hardly time and again */

/* The page at @addr, or NULL for one of zeros that is not there. Caller holds mmap_lock. */
static struct page *area_page(struct mm_struct *mm, unsigned long addr)
{
	struct vm_area_struct *vma = find_vma(mm, addr);
	struct page *page;
	int i;

	lockdep_assert_held(&mm->mmap_lock);
	if (!vma || vma->vm_start > addr || !vma_is_anonymous(vma) || !(vma->vm_flags & VM_READ))
		return ERR_PTR(-ENXIO);
	for (i = 0; i < LOOKS; i++) {
		page = mtag_page_get(mm, addr);
		if (page != ERR_PTR(-EFAULT))
			break;
		/* What is there and cannot be had is not zeros: swap could not be read. */
		if (mtag_visit_empty(mm, addr))
			return NULL;
	}
	if (IS_ERR(page) && page != ERR_PTR(-EINTR) && page != ERR_PTR(-ENOMEM))
		return ERR_PTR(-EIO);
	return page;
}

/* Copies the page of the area at @addr to @to. */
static int page_read(struct mm_struct *mm, unsigned long addr, void *to)
{
	struct page *page;

	if (mmap_read_lock_killable(mm))
		return -EINTR;
	page = area_page(mm, addr);
	mmap_read_unlock(mm);
	if (IS_ERR(page))
		return PTR_ERR(page);
	if (!page) {
		clear_page(to);
		return 0;
	}
	memcpy_from_page(to, page, 0, PAGE_SIZE);
	put_page(page);
	return 0;
}

/*
 * Bounce through a page of our own: the reader can delay the copy to its memory at will, and
 * nothing of the other process may be held meanwhile.
 */
static int area_read(struct mm_struct *mm, unsigned long addr, u64 length, u64 buffer, void *page)
{
	unsigned long part;
	int err;

	for (; length; addr += part, buffer += part, length -= part) {
		part = min_t(u64, length, PAGE_SIZE - offset_in_page(addr));
		if (fatal_signal_pending(current))
			return -EINTR;
		err = page_read(mm, addr & PAGE_MASK, page);
		if (err)
			return err;
		if (copy_to_user(u64_to_user_ptr(buffer), page + offset_in_page(addr), part))
			return -EFAULT;
		cond_resched();
	}
	return 0;
}

/**
 * mtag_heap_read() - copy a piece of an area to the current process
 * @s:		space
 * @mm:		its mm, which the caller may read
 * @r:		which piece, and where to
 *
 * Context: may sleep; no lock of the space or its mm held.
 * Return: as struct mtag_ioc_heap_read says.
 */
int mtag_heap_read(struct mtag_space *s, struct mm_struct *mm, struct mtag_ioc_heap_read *r)
{
	struct mtag_heap heap = heap_of(s);
	void *page;
	int err;

	if (!heap.length)
		return -ENODATA;
	if (r->offset > heap.length)
		return -EINVAL;
	r->address = heap.address;
	r->total = heap.length;
	r->length = min_t(u64, r->length, heap.length - r->offset);
	page = (void *)__get_free_page(MTAG_GFP);
	if (!page)
		return -ENOMEM;
	err = area_read(mm, heap.address + r->offset, r->length, r->buffer, page);
	free_page((unsigned long)page);
	return err;
}
