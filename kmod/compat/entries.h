/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What page-table entries say, in each kernel's words. Included by compat.h.
 */
#ifndef MTAG_COMPAT_ENTRIES_H
#define MTAG_COMPAT_ENTRIES_H

/* Mappings of device memory, which do not count as RSS; later kernels have none. */
#if MTAG_SINCE(6, 17)
#define mtag_pte_devmap(pte)	false
#define mtag_pmd_devmap(pmd)	false
#else
#define mtag_pte_devmap(pte)	pte_devmap(pte)
#define mtag_pmd_devmap(pmd)	pmd_devmap(pmd)
#endif

/* A huge mapping without a struct page, or of the huge zero page; older kernels lack the flag. */
#if MTAG_SINCE(6, 12)
#define mtag_pmd_special(pmd)	pmd_special(pmd)
#else
#define mtag_pmd_special(pmd)	false
#endif

#if MTAG_SINCE(6, 19)

/* The swap entry in @pte, or 0. @pte is neither empty nor present. */
static inline unsigned long mtag_pte_swap(pte_t pte)
{
	softleaf_t entry = softleaf_from_pte(pte);

	return softleaf_is_swap(entry) ? entry.val : 0;
}

/* The page under migration that @pte refers to, or NULL. @pte is neither empty nor present. */
static inline struct page *mtag_pte_migrating(pte_t pte)
{
	softleaf_t entry = softleaf_from_pte(pte);

	return softleaf_is_migration(entry) ? softleaf_to_page(entry) : NULL;
}

/*
 * The head of the huge page under migration that @pmd refers to, or NULL. @pmd is neither empty
 * nor present.
 */
static inline struct page *mtag_pmd_migrating(pmd_t pmd)
{
	return pmd_is_migration_entry(pmd) ? softleaf_to_page(softleaf_from_pmd(pmd)) : NULL;
}

#else

static inline unsigned long mtag_pte_swap(pte_t pte)
{
	swp_entry_t entry = pte_to_swp_entry(pte);

	return non_swap_entry(entry) ? 0 : entry.val;
}

static inline struct page *mtag_pte_migrating(pte_t pte)
{
	swp_entry_t entry = pte_to_swp_entry(pte);

	return is_migration_entry(entry) ? pfn_swap_entry_to_page(entry) : NULL;
}

static inline struct page *mtag_pmd_migrating(pmd_t pmd)
{
	return is_pmd_migration_entry(pmd) ? pfn_swap_entry_to_page(pmd_to_swp_entry(pmd)) : NULL;
}

#endif

#endif /* MTAG_COMPAT_ENTRIES_H */
