/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Notes of pages under migration; note.c.
 */
#ifndef MTAG_NOTE_H
#define MTAG_NOTE_H

#include <linux/bitmap.h>
#include <linux/rbtree.h>
#include <asm/ibt.h>
#include "account.h"
#include "state.h"

#define MTAG_NOTE_PAGES	512UL

/*
 * Limit on the notes of one space: they are traversed with walk_lock held. The kernel has at most
 * 512 folios under migration per migrating task. But one that KSM has merged has a note for each of
 * its mappings, and a process that zaps such pages could accumulate any number of notes, which stay
 * until somebody looks.
 */
#define MTAG_NOTES_MAX	16384U

/**
 * struct mtag_note - pages under migration
 * @node:	in space->migration.notes, by @addr; several notes may have the same address
 * @next:	in a list of unused notes: note.c's, under unused_lock, or a caller's own
 * @addr:	address of the first page
 * @pfn:	frame of the first page, before it was taken away
 * @tag:	tag that the pages are charged to
 * @kind:	kind that the pages are charged as
 * @left:	number of bits set in @pages
 * @pages:	pages that are charged but not mapped
 * @check:	those of @pages that a walk has not found yet
 *
 * All under walk_lock while it is in the space's tree.
 */
struct mtag_note {
	union {
		struct rb_node node;
		struct mtag_note *next;
	};
	unsigned long addr;
	unsigned long pfn;
	u32 tag;
	u8 kind;
	u16 left;
	DECLARE_BITMAP(pages, MTAG_NOTE_PAGES);
	DECLARE_BITMAP(check, MTAG_NOTE_PAGES);
};

static inline struct mtag_note *mtag_note_of(struct rb_node *node)
{
	return rb_entry(node, struct mtag_note, node);
}

static inline unsigned long mtag_note_place(const struct mtag_note *e, unsigned long addr)
{
	return (addr - e->addr) >> PAGE_SHIFT;
}

/* Memory. */
__noendbr struct mtag_note *mtag_note_pop(void);
__noendbr struct mtag_note *mtag_note_get(void);
void __noendbr mtag_note_push(struct mtag_note *e);
void mtag_note_prepare(unsigned int pages, gfp_t gfp);
void mtag_note_trim(void);
void mtag_note_exit(void);

/* The notes of a space; context of all: walk_lock. */
bool mtag_note_less(struct rb_node *a, const struct rb_node *b);
__noendbr struct mtag_note *mtag_note_find(struct mtag_space *s, unsigned long addr);
struct mtag_note *mtag_note_behind(struct mtag_space *s, unsigned long addr);
__noendbr struct mtag_note *mtag_note_add(struct mtag_space *s, struct mtag_note **spare,
					  unsigned long pfn, int nr, unsigned long addr, u32 tag,
					  enum mtag_kind kind);
void mtag_note_clear(struct mtag_space *s, struct mtag_note *e, unsigned long place,
		     struct mtag_note **freed);
void mtag_note_release(struct mtag_space *s, struct mtag_note *e, unsigned long place,
		       struct mtag_note **freed);
void mtag_note_release_old(struct mtag_space *s, unsigned long addr, int nr,
			   struct mtag_note **freed);
void mtag_note_release_range(struct mtag_space *s, unsigned long addr, unsigned long len,
			     struct mtag_note **freed);
struct mtag_note *mtag_note_cut(struct mtag_space *s, struct mtag_note *e, unsigned long from,
				unsigned long end);
void mtag_note_check_begin(struct mtag_space *s);
void mtag_note_check_end(struct mtag_space *s, bool release);
void mtag_note_forget(struct mtag_space *s, bool release);

#endif /* MTAG_NOTE_H */
