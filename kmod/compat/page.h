/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A page of another process by its address.
 */
#ifndef MTAG_COMPAT_PAGE_H
#define MTAG_COMPAT_PAGE_H

#include <linux/err.h>
#include <linux/mm.h>
#include "compat.h"

/*
 * The page at @addr with a reference, from swap if it is there; or an error. A page of anonymous
 * memory that is not there stays so, and is -EFAULT; one that the hardware lost is -EHWPOISON.
 * Caller holds mmap_lock, and keeps it.
 */
static inline struct page *mtag_page_get(struct mm_struct *mm, unsigned long addr)
{
	struct page *page;
#if MTAG_SINCE(6, 5)
	long got = get_user_pages_remote(mm, addr, 1, FOLL_DUMP | FOLL_HWPOISON, &page, NULL);
#else
	long got = get_user_pages_remote(mm, addr, 1, FOLL_DUMP | FOLL_HWPOISON, &page, NULL, NULL);
#endif

	if (got == 1)
		return page;
	return ERR_PTR(got ? got : -EFAULT);
}

#endif /* MTAG_COMPAT_PAGE_H */
