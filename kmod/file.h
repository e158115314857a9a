/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pages of files and of shared memory; file.c.
 */
#ifndef MTAG_FILE_H
#define MTAG_FILE_H

#include <linux/mm.h>
#include "account.h"
#include "state.h"

/* What a page of a file counts as, by itself and not by its mapping. */
static inline enum mtag_kind mtag_file_kind(const struct page *page)
{
	return folio_test_swapbacked(page_folio((struct page *)page)) ? MTAG_SHMEM : MTAG_FILE;
}

void mtag_file_charge(struct mtag_space *s, const struct vm_area_struct *vma,
		      const struct page *page, int nr, int sign);
void mtag_file_taken(struct mtag_space *s, const struct vm_area_struct *vma,
		     const struct page *page, int nr);
void mtag_file_restored(struct mtag_space *s, const struct vm_area_struct *vma,
			const struct page *page, int nr);
bool mtag_file_place(const struct vm_area_struct *vma, const struct page *page,
		     unsigned long *addr);
unsigned long mtag_file_addr(const struct vm_area_struct *vma, const struct page *page);

#endif /* MTAG_FILE_H */
