// SPDX-License-Identifier: GPL-2.0
/*
 * The table of leaves: 6 bytes per page frame by section of memory, and 8 per swap slot in use.
 *
 * It is made when the first process has its stacks taken, and goes with the hooks. Memory that is
 * plugged in later gets leaves when stacks of another process begin to be taken.
 */
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/xarray.h>
#include "leaf.h"
#include "memory.h"
#include "mtag.h"
#include "owner.h"
#include "sleep.h"

/**
 * struct mtag_leaves - leaves of a section's frames, by their index in it
 * @stack:	see struct mtag_leaf
 * @born:	likewise
 */
struct mtag_leaves {
	u32 stack[MTAG_SECTION_PAGES];
	u16 born[MTAG_SECTION_PAGES];
};

/* Pages of leaves, by swap entry / SLOTS. */
#define SLOTS (PAGE_SIZE / sizeof(struct mtag_leaf))
static DEFINE_XARRAY_FLAGS(slots, XA_FLAGS_LOCK_IRQ);

bool mtag_leaf_kept __read_mostly;

static struct mtag_leaves *leaves_of(const struct page *page)
{
	struct mtag_section *section = mtag_owner_section(page);

	/* Pairs with section_begin(). */
	return section ? smp_load_acquire(&section->leaves) : NULL;
}

/* The part of mtag_leaf_get() for a table that is there. */
struct mtag_leaf __noendbr mtag_leaf_read(const struct page *page)
{
	unsigned long at = mtag_owner_frame(page) % MTAG_SECTION_PAGES;
	struct mtag_leaves *l = leaves_of(page);
	struct mtag_leaf leaf = {};

	if (l) {
		leaf.stack = READ_ONCE(l->stack[at]);
		leaf.born = READ_ONCE(l->born[at]);
	}
	return leaf;
}

/* The part of mtag_leaf_set() for a table that is there. A folio never crosses a section. */
void __noendbr mtag_leaf_write(const struct page *page, int nr, struct mtag_leaf leaf)
{
	unsigned long at = mtag_owner_frame(page) % MTAG_SECTION_PAGES;
	struct mtag_leaves *l = leaves_of(page);

	if (!l)
		return;
	if (nr == 1) {
		WRITE_ONCE(l->stack[at], leaf.stack);
		WRITE_ONCE(l->born[at], leaf.born);
		return;
	}
	nr = min_t(unsigned long, nr, MTAG_SECTION_PAGES - at);
	memset32(l->stack + at, leaf.stack, nr);
	memset16(l->born + at, leaf.born, nr);
}

/* ---- swap slots ---- */

/* Uses the memory reserves, as the owners of swap slots do. */
static struct mtag_leaf *slots_make(unsigned long index)
{
	struct mtag_leaf *page, *other;
	unsigned long flags;

	if (mtag_memory_charge(PAGE_SIZE))
		return NULL;
	page = (struct mtag_leaf *)get_zeroed_page(GFP_ATOMIC | __GFP_NOWARN);
	if (!page)
		goto uncharge;
	xa_lock_irqsave(&slots, flags);
	other = __xa_cmpxchg(&slots, index, NULL, page, GFP_ATOMIC | __GFP_NOWARN);
	xa_unlock_irqrestore(&slots, flags);
	if (!other)
		return page;
	free_page((unsigned long)page);
	mtag_memory_uncharge(PAGE_SIZE);
	return xa_is_err(other) ? NULL : other;
uncharge:
	mtag_memory_uncharge(PAGE_SIZE);
	return NULL;
}

/**
 * mtag_leaf_slot() - the leaf of the contents of a swap entry
 * @entry:	swap entry
 *
 * Context: any.
 */
struct mtag_leaf __noendbr mtag_leaf_slot(unsigned long entry)
{
	struct mtag_leaf *page, leaf = {};

	if (!READ_ONCE(mtag_leaf_kept))
		return leaf;
	page = xa_load(&slots, entry / SLOTS);
	if (page) {
		leaf.stack = READ_ONCE(page[entry % SLOTS].stack);
		leaf.born = READ_ONCE(page[entry % SLOTS].born);
	}
	return leaf;
}

/**
 * mtag_leaf_set_slot() - note the leaf of contents that go to swap
 * @entry:	swap entry
 * @leaf:	of the page
 *
 * Out of memory, the contents have none when they come back.
 * Context: lock of a page table that holds the entry.
 */
void __noendbr mtag_leaf_set_slot(unsigned long entry, struct mtag_leaf leaf)
{
	struct mtag_leaf *page;

	if (!READ_ONCE(mtag_leaf_kept))
		return;
	page = xa_load(&slots, entry / SLOTS);
	if (!page && leaf.stack && mtag_lock_begin()) {
		page = slots_make(entry / SLOTS);
		mtag_lock_end();
	}
	if (!page)
		return;
	WRITE_ONCE(page[entry % SLOTS].stack, leaf.stack);
	WRITE_ONCE(page[entry % SLOTS].born, leaf.born);
}

static void slots_end(void)
{
	unsigned long index;
	void *page;

	xa_for_each(&slots, index, page) {
		free_page((unsigned long)page);
		mtag_memory_uncharge(PAGE_SIZE);
	}
	xa_destroy(&slots);
}

/* ---- the table ---- */

static int section_begin(struct mtag_section *section)
{
	struct mtag_leaves *l;

	if (section->leaves)
		return 0;
	if (mtag_memory_charge(sizeof(*l)))
		return -ENOMEM;
	l = mtag_memory_table(sizeof(*l));
	if (!l) {
		mtag_memory_uncharge(sizeof(*l));
		return -ENOMEM;
	}
	/* Pairs with leaves_of(): its contents before the pointer. */
	smp_store_release(&section->leaves, l);
	return 0;
}

/**
 * mtag_leaf_begin() - keep leaves from here on, for all memory that is there
 *
 * Context: may sleep; serialized by the caller, also with mtag_leaf_end(), which must follow, even
 * after an error.
 * Return: 0 or -ENOMEM.
 */
int mtag_leaf_begin(void)
{
	struct mtag_section *section;
	unsigned long index = 0;
	int ret = 0;

	while (!ret && (section = mtag_owner_next(&index))) {
		ret = section_begin(section);
		cond_resched();
	}
	if (!ret)
		WRITE_ONCE(mtag_leaf_kept, true);
	return ret;
}

/*
 * Frees the table. Context: may sleep; no hook is in, or mtag_leaf_kept was not set since it was
 * made, so that none reads it.
 */
void mtag_leaf_end(void)
{
	struct mtag_section *section;
	unsigned long index = 0;

	WRITE_ONCE(mtag_leaf_kept, false);
	while ((section = mtag_owner_next(&index))) {
		if (!section->leaves)
			continue;
		mtag_memory_table_free(section->leaves, sizeof(struct mtag_leaves));
		section->leaves = NULL;
		mtag_memory_uncharge(sizeof(struct mtag_leaves));
	}
	slots_end();
}
