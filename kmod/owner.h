/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The owner table: the tag that owns each page frame, as a u16 per frame by
 * section of memory, and one more per possible huge page, valid while all its
 * frames have the same owner; owner.c.
 *
 * An owner is read and written under the page-table lock of a mapping of the
 * frame, or while the frame is not mapped. Otherwise all spaces that may have
 * the frame charged are counted anew afterwards.
 */
#ifndef MTAG_OWNER_H
#define MTAG_OWNER_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <asm/ibt.h>
#include "compat/huge.h"
#include "mtag.h"

struct mtag_leaves;

#define MTAG_SECTION_SHIFT	(27 - PAGE_SHIFT)	/* 128 MiB */
#define MTAG_SECTION_PAGES	BIT(MTAG_SECTION_SHIFT)
#define MTAG_MIXED		0xffff

/**
 * struct mtag_section - owners of 128 MiB of memory
 * @tag:	owner of each frame, by its index in the section
 * @huge:	owner of all frames of a huge page, or MTAG_MIXED
 * @leaves:	by which stacks its frames were touched, or NULL; leaf.c. Set under keep_lock, by
 *		smp_store_release(), and freed when no hook uses it
 *
 * What protects the owners is said at the top of this file.
 */
struct mtag_section {
	u16 tag[MTAG_SECTION_PAGES];
	u16 huge[MTAG_SECTION_PAGES / HPAGE_PMD_NR];
	struct mtag_leaves *leaves;
};

/*
 * The sections, each at the index that its frames have with mtag_owner_index(), less that of the
 * first possible one, which is subtracted from the address of the array, as that costs nothing. To
 * grow the table, owner.c publishes a longer array first and then its end.
 */
extern struct mtag_section **mtag_sections;
extern unsigned long mtag_sections_end;
/* In the place of a section that is not there. All its owners are MTAG_MIXED. */
extern struct mtag_section *mtag_section_none;

int mtag_owner_init(void);
void mtag_owner_exit(void);
struct mtag_section *mtag_owner_next(unsigned long *index);

/*
 * A number for each frame: its own plus a constant multiple of MTAG_SECTION_PAGES. The kernel knows
 * frames by their struct page, and only a shift tells that address from a number.
 */
static __always_inline unsigned long mtag_owner_frame(const struct page *page)
{
	if (IS_ENABLED(CONFIG_SPARSEMEM_VMEMMAP) && is_power_of_2(sizeof(*page)))
		return (unsigned long)page / sizeof(*page);
	return page_to_pfn(page);
}

static __always_inline unsigned long mtag_owner_index(const struct page *page)
{
	return mtag_owner_frame(page) >> MTAG_SECTION_SHIFT;
}

/*
 * Returns the section of a frame, mtag_section_none, or NULL beyond the end of the table.
 *
 * The loads are plain, so that the compiler may use memory operands. That is
 * safe: the end only grows, and a section is never removed before unload.
 */
static __always_inline struct mtag_section *mtag_owner_section_or_none(const struct page *page)
{
	struct mtag_section *section;

	/* The end may grow meanwhile: the old one will do. */
	if (unlikely(mtag_owner_index(page) >= data_race(mtag_sections_end)))
		return NULL;
	/* Pairs with the release in array_grow(): the array is at least that long. */
	smp_acquire__after_ctrl_dep();
	/* The array may be replaced by a longer one, but is not freed. */
	section = data_race(mtag_sections[mtag_owner_index(page)]);
	/* Spares callers another comparison with NULL. */
	if (!section)
		__builtin_unreachable();
	return section;
}

/* Returns the section of a frame, or NULL for memory that mtag does not cover. */
static __always_inline struct mtag_section *mtag_owner_section(const struct page *page)
{
	struct mtag_section *section = mtag_owner_section_or_none(page);

	return unlikely(section == mtag_section_none) ? NULL : section;
}

/* Returns the location of a frame's owner in its section. */
static __always_inline u16 *mtag_section_tag(struct mtag_section *section, const struct page *page)
{
	return &section->tag[mtag_owner_frame(page) % MTAG_SECTION_PAGES];
}

static __always_inline u16 *mtag_section_huge(struct mtag_section *section, const struct page *page)
{
	return &section->huge[mtag_owner_frame(page) % MTAG_SECTION_PAGES / HPAGE_PMD_NR];
}

u16 __noendbr mtag_owner_get(const struct page *page);
void __noendbr mtag_owner_set(const struct page *page, u16 tag);
void __noendbr mtag_owner_set_huge(const struct page *head, u16 tag);
void __noendbr mtag_owner_set_run(const struct page *page, int nr, u16 tag);
u16 __noendbr mtag_owner_get_huge(const struct page *head);
void mtag_owner_mark_mixed(const struct page *page);
void mtag_owner_change(const struct page *page, u16 tag);
void mtag_owner_copy(const struct page *to, const struct page *from, unsigned int nr);

#endif /* MTAG_OWNER_H */
