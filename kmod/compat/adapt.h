/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hooks that only pass on the arguments of a kernel function, in the form of one kernel version,
 * to the core.
 */
#ifndef MTAG_ADAPT_H
#define MTAG_ADAPT_H

#include "../hooked.h"

/* rmap_page.c */
MTAG_HOOK_FUNC(mtag_page_add_anon);

/* rmap_folio.c */
MTAG_HOOK_FUNC(mtag_folio_add_anon_ptes);
MTAG_HOOK_FUNC(mtag_folio_add_anon_pmd);
MTAG_HOOK_FUNC(mtag_folio_add_file_pmd);
MTAG_HOOK_FUNC(mtag_folio_add_file_pud);
MTAG_HOOK_FUNC(mtag_folio_remove_pmd);
MTAG_HOOK_FUNC(mtag_folio_remove_pud);

/* mremap.c */
MTAG_HOOK_FUNC(mtag_mremap_grow);
MTAG_HOOK_FUNC(mtag_mremap_move);

/* leaving.c */
extern bool mtag_leaving_unseen;
int mtag_leaving_init(void);
void mtag_leaving_exit(void);
MTAG_HOOK_FUNC(mtag_leaving_begin);

/* symbols.c */
int mtag_symbols_init(void);
void mtag_symbols_exit(void);

#endif /* MTAG_ADAPT_H */
