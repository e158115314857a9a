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
#include <linux/mm.h>
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
 * @leaves:	by which stacks its frames were touched, or NULL; leaf.c
 */
struct mtag_section {
	u16 tag[MTAG_SECTION_PAGES];
	u16 huge[MTAG_SECTION_PAGES / HPAGE_PMD_NR];
	struct mtag_leaves *leaves;
};

/* To grow the table, owner.c publishes a longer array first and then its length. */
extern struct mtag_section **mtag_sections;
extern unsigned long mtag_nr_sections;

int mtag_owner_init(void);
void mtag_owner_exit(void);

/*
 * Returns the section of a frame, or NULL for memory that mtag does not cover.
 *
 * The loads are plain, so that the compiler may use memory operands. That is
 * safe: the length only grows, and a section is never removed before unload.
 */
static __always_inline struct mtag_section *mtag_owner_section(unsigned long pfn)
{
	/* The length may grow meanwhile: the old one will do. */
	if (unlikely(pfn >> MTAG_SECTION_SHIFT >= data_race(mtag_nr_sections)))
		return NULL;
	/* Pairs with the release in array_grow(): the array is at least that long. */
	smp_acquire__after_ctrl_dep();
	/* The array may be replaced by a longer one, but is not freed. */
	return data_race(mtag_sections[pfn >> MTAG_SECTION_SHIFT]);
}

/* Returns the location of a frame's owner in its section. */
static __always_inline u16 *mtag_section_tag(struct mtag_section *section, unsigned long pfn)
{
	return &section->tag[pfn & (MTAG_SECTION_PAGES - 1)];
}

static __always_inline u16 *mtag_section_huge(struct mtag_section *section, unsigned long pfn)
{
	return &section->huge[(pfn & (MTAG_SECTION_PAGES - 1)) / HPAGE_PMD_NR];
}

u16 mtag_owner_get(const struct page *page);
void mtag_owner_set(const struct page *page, u16 tag);
void mtag_owner_set_huge(const struct page *head, u16 tag);
void mtag_owner_set_run(const struct page *page, int nr, u16 tag);
u16 mtag_owner_get_huge(const struct page *head);
void mtag_owner_mixed(const struct page *page);
void mtag_owner_change(const struct page *page, u16 tag);
void mtag_owner_copy(const struct page *to, const struct page *from, unsigned int nr);

#endif /* MTAG_OWNER_H */
