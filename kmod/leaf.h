/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Leaves: by which stack each anonymous page frame was touched, and when; the same for each swap
 * slot; leaf.c.
 *
 * A leaf is kept beside the owner of a frame, and read and written where that is. It is only a
 * note: no counter depends on it. Frames of processes whose stacks are not taken have leaves
 * that mean nothing.
 */
#ifndef MTAG_LEAF_H
#define MTAG_LEAF_H

#include <linux/compiler.h>
#include <linux/jiffies.h>
#include <linux/mm_types.h>
#include <linux/types.h>
#include <asm/ibt.h>

/* Stacks that are none; ids of the others follow. */
#define MTAG_LEAF_NONE		0	/* touched before stacks were taken, or without room */
#define MTAG_LEAF_KERNEL	1	/* touched by another than a thread of the process */
#define MTAG_LEAF_UNSAMPLED	2	/* left out of the sample */
#define MTAG_LEAF_FIRST		3

/**
 * struct mtag_leaf - how a page was first touched
 * @stack:	id of the stack, or one of those above
 * @born:	when, as mtag_leaf_now() gives it
 */
struct mtag_leaf {
	u32 stack;
	u16 born;
};

#define MTAG_BORN_SECONDS	16	/* unit of mtag_leaf.born, which wraps after 12 days */

extern bool mtag_leaf_kept;	/* there are leaves: some process has its stacks taken */

struct mtag_leaf __noendbr mtag_leaf_read(const struct page *page);
void __noendbr mtag_leaf_write(const struct page *page, int nr, struct mtag_leaf leaf);
struct mtag_leaf __noendbr mtag_leaf_slot(unsigned long entry);
void __noendbr mtag_leaf_set_slot(unsigned long entry, struct mtag_leaf leaf);
int mtag_leaf_begin(void);
void mtag_leaf_end(void);

/* The time, for mtag_leaf.born. Context: any. */
static inline u16 mtag_leaf_now(void)
{
	return (unsigned long)get_jiffies_64() / (MTAG_BORN_SECONDS * HZ);
}

/* The leaf of a frame. Context: as for its owner. */
static inline struct mtag_leaf mtag_leaf_get(const struct page *page)
{
	return READ_ONCE(mtag_leaf_kept) ? mtag_leaf_read(page) : (struct mtag_leaf){};
}

/* Gives @nr frames of one folio a leaf. Context: as for their owner. */
static inline void mtag_leaf_set(const struct page *page, int nr, struct mtag_leaf leaf)
{
	if (READ_ONCE(mtag_leaf_kept))
		mtag_leaf_write(page, nr, leaf);
}

/* Copies leaves along with the contents of frames. Context: as for their owners. */
static inline void mtag_leaf_copy(const struct page *to, const struct page *from, unsigned int nr)
{
	unsigned int i;

	for (i = 0; READ_ONCE(mtag_leaf_kept) && i < nr; i++)
		mtag_leaf_write(to + i, 1, mtag_leaf_read(from + i));
}

#endif /* MTAG_LEAF_H */
