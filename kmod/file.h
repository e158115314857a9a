/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Accounting of file and shared-memory pages; file.c.
 */
#ifndef MTAG_FILE_H
#define MTAG_FILE_H

#include <linux/mm.h>
#include "account.h"
#include "state.h"

/* The kind of a file's folio depends on itself, not on its mapping. */
static inline enum mtag_kind mtag_folio_kind(const struct folio *folio)
{
	return folio_test_swapbacked((struct folio *)folio) ? MTAG_SHMEM : MTAG_FILE;
}

static inline enum mtag_kind mtag_file_kind(const struct page *page)
{
	return mtag_folio_kind(page_folio((struct page *)page));
}

void mtag_file_charge(struct mtag_space *s, const struct vm_area_struct *vma,
		      const struct page *page, int nr, int sign);
void mtag_file_flushed(struct mtag_space *s, const struct vm_area_struct *vma,
		       const struct page *page, int nr);
void mtag_file_taken(struct mtag_space *s, const struct vm_area_struct *vma,
		     const struct page *page, int nr);
void mtag_file_restored(struct mtag_space *s, const struct vm_area_struct *vma,
			const struct page *page, int nr);
bool mtag_file_place(const struct vm_area_struct *vma, const struct page *page,
		     unsigned long *addr);
bool mtag_file_unplaced(const struct vm_area_struct *vma);
unsigned long mtag_file_addr(const struct vm_area_struct *vma, const struct page *page);

#endif /* MTAG_FILE_H */
