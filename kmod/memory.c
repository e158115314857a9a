// SPDX-License-Identifier: GPL-2.0
/*
 * Accounts for the memory the module holds, and limits it. Allocates what may be larger than a few
 * pages.
 */
#include <linux/gfp.h>
#include <linux/kmemleak.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "memory.h"
#include "mtag.h"
#include "stat.h"

static atomic64_t limited_memory;

/**
 * mtag_memory_charge() - charge @bytes against the module's limit
 * @bytes:	of anything that programs make the module keep, from spaces to unwind tables and
 *		answers under way; per-CPU memory included
 *
 * Return: 0, and the caller must mtag_memory_uncharge(); -ENOMEM at the limit.
 */
int mtag_memory_charge(size_t bytes)
{
	u64 limit = (u64)READ_ONCE(mtag_max_memory_kb) << 10;

	if (!limit)
		limit = (u64)totalram_pages() << PAGE_SHIFT >> 4;
	if (atomic64_add_return(bytes, &limited_memory) > limit) {
		atomic64_sub(bytes, &limited_memory);
		return -ENOMEM;
	}
	atomic64_add(bytes, &mtag_stat.memory);
	return 0;
}

/* Charges objects that have a limit of their own. */
void mtag_memory_charge_unlimited(size_t bytes)
{
	atomic64_add(bytes, &limited_memory);
	atomic64_add(bytes, &mtag_stat.memory);
}

/* Takes back what was charged, within the limit or not. Context: any. */
void mtag_memory_uncharge(size_t bytes)
{
	atomic64_sub(bytes, &limited_memory);
	atomic64_sub(bytes, &mtag_stat.memory);
}

static void pages_free(struct page **pages, unsigned int nr)
{
	while (nr--)
		__free_page(pages[nr]);
	kvfree(pages);
}

/* Maps single pages. Context: may sleep. Return: memory for kvfree(), or NULL. */
static void *pages_alloc(size_t bytes, gfp_t gfp)
{
	unsigned int i, nr = PFN_UP(bytes);
	struct page **pages = mtag_memory_get(nr * sizeof(*pages), gfp & ~__GFP_ZERO);
	void *p = NULL;

	if (!pages)
		return NULL;
	for (i = 0; i < nr; i++) {
		pages[i] = alloc_page(gfp);
		if (!pages[i])
			break;
		cond_resched();
	}
	if (i == nr)
		p = vmap(pages, nr, VM_MAP | VM_MAP_PUT_PAGES, PAGE_KERNEL);
	if (!p)
		pages_free(pages, i);
	return p;
}

/**
 * mtag_memory_get() - as kvmalloc(), but nothing stays charged when it fails
 * @bytes:	of any size
 * @gfp:	MTAG_GFP and the like; if it allows to sleep, memory may be mapped from single pages
 *
 * Since 6.19 a vmalloc() that finds too little memory frees what it had only when a worker comes
 * to it. Until then that is charged to the cgroup of the caller, who is killed for the next page
 * that it touches.
 *
 * Context: as @gfp says.
 * Return: memory for kvfree(), or NULL.
 */
void *mtag_memory_get(size_t bytes, gfp_t gfp)
{
	gfp_t contiguous = gfp;
	void *p;

	if (bytes > INT_MAX)
		return NULL;
	/* More than a page need not be contiguous, so nobody tries hard. */
	if (bytes > PAGE_SIZE)
		contiguous = (gfp & ~__GFP_RETRY_MAYFAIL) | __GFP_NORETRY | __GFP_NOWARN;
	p = kmalloc(bytes, contiguous);
	if (p || bytes <= PAGE_SIZE || (gfp & GFP_KERNEL) != GFP_KERNEL)
		return p;
	return pages_alloc(bytes, gfp);
}

/**
 * mtag_memory_alloc() - allocate memory that is charged against the module's limit
 * @bytes:	of any size
 * @gfp:	as for mtag_memory_get()
 *
 * Context: as @gfp says.
 * Return: memory for mtag_memory_free(), or NULL.
 */
void *mtag_memory_alloc(size_t bytes, gfp_t gfp)
{
	void *p;

	if (mtag_memory_charge(bytes))
		return NULL;
	p = mtag_memory_get(bytes, gfp);
	if (!p)
		mtag_memory_uncharge(bytes);
	return p;
}

/**
 * mtag_memory_table() - allocate zeroed memory of many pages, and no page more
 * @bytes:	not a power of two, to which kmalloc() would round it up
 *
 * Context: may sleep.
 * Return: memory for mtag_memory_table_free(), or NULL.
 */
void *mtag_memory_table(size_t bytes)
{
	gfp_t gfp = GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN;
	void *p = alloc_pages_exact(bytes, gfp | __GFP_NORETRY);

	if (!p)
		return __vmalloc(bytes, gfp | __GFP_RETRY_MAYFAIL);
	/* It has pointers: kmemleak does not look into pages by itself. */
	kmemleak_alloc(p, bytes, 1, GFP_KERNEL);
	return p;
}

/* Frees @p, which may be NULL, of @bytes as asked for. Context: may sleep. */
void mtag_memory_table_free(void *p, size_t bytes)
{
	if (is_vmalloc_addr(p)) {
		vfree(p);
	} else if (p) {
		kmemleak_free(p);
		free_pages_exact(p, bytes);
	}
}

/* Frees @p, which may be NULL, of @bytes as charged. Context: any but NMI. */
void mtag_memory_free(const void *p, size_t bytes)
{
	if (!p)
		return;
	mtag_memory_uncharge(bytes);
	kvfree(p);
}
