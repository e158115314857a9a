// SPDX-License-Identifier: GPL-2.0
/*
 * Pages of a process that is no longer tracked, but shares its pages with those that are: its
 * parked space counts nothing, and the owners that the others rely on stay.
 */
#include "caller.h"
#include "charge.h"
#include "ksm.h"
#include "leaf.h"
#include "mtag.h"
#include "owner.h"
#include "parked.h"
#include "swap.h"

/**
 * mtag_parked_new() - a new anonymous folio is mapped in a parked space
 * @page:	first page of the folio
 * @nr:		number of pages, all of them mapped
 * @mm:		of the process
 * @addr:	address of the first page
 * @parent_ip:	caller of the rmap function
 *
 * What it touches is untagged if its process is tracked again; what it reads from swap keeps its
 * owner: the slot may be a relative's, and reclaim writes to it.
 * Context: page-table lock of the mapping.
 */
void mtag_parked_new(struct page *page, int nr, struct mm_struct *mm, unsigned long addr,
		     unsigned long parent_ip)
{
	bool by_swapin = mtag_caller_of(parent_ip) == MTAG_BY_SWAPIN;
	int i;

	mtag_owner_set_run(page, nr, MTAG_ID_UNTAGGED);
	if (!by_swapin)
		return;
	for (i = 0; i < nr; i++)
		mtag_swap_own(mm, page + i, addr + i * PAGE_SIZE);
}

/**
 * mtag_parked_removed() - reclaim unmaps anonymous pages from a parked space
 * @s:		space
 * @page:	first page
 * @mm:		of the process
 * @nr:		number of pages, of one folio
 * @addr:	address of the first page; MTAG_NO_ADDR if it cannot be told
 *
 * Its tree may read the swap slots later.
 * Context: page-table lock of the mapping.
 */
void mtag_parked_removed(struct mtag_space *s, struct page *page, struct mm_struct *mm, int nr,
			 unsigned long addr)
{
	unsigned long entry;
	int i;

	for (i = 0; i < nr; i++) {
		entry = mtag_swap_left(page + i, mm, mtag_addr_behind(addr, i));
		if (!entry)
			continue;
		mtag_swap_set(entry, mtag_ksm_slot_owner(s, page + i));
		mtag_leaf_set_slot(entry, mtag_ksm_leaf(page + i));
	}
}
