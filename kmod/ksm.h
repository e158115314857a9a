/* SPDX-License-Identifier: GPL-2.0 */
/*
 * KSM pages, and the owners of pages that may be KSM pages; ksm.c.
 */
#ifndef MTAG_KSM_H
#define MTAG_KSM_H

#include <linux/mm.h>
#include <linux/page-flags.h>
#include "hooked.h"
#include "state.h"

static inline bool mtag_is_ksm(const struct page *page)
{
	return folio_test_ksm(page_folio((struct page *)page));
}

u32 mtag_ksm_owner_valid(struct mtag_space *s, const struct page *page);
u32 mtag_ksm_slot_owner(struct mtag_space *s, const struct page *page);
bool mtag_ksm_was_merged(const struct page *page);
struct mtag_leaf mtag_ksm_leaf(const struct page *page);
void mtag_ksm_leaf_copy(const struct page *to, const struct page *from);
u32 mtag_ksm_owner(struct mtag_space *s, const struct page *page);
void mtag_ksm_copy(const struct page *to, const struct page *from);
void mtag_ksm_exit(void);
MTAG_HOOK_FUNC(mtag_ksm_merge);

#endif /* MTAG_KSM_H */
