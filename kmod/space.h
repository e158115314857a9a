/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Spaces: the state of each tracked mm, hashed by the mm; space.c.
 */
#ifndef MTAG_SPACE_H
#define MTAG_SPACE_H

#include <linux/hash.h>
#include <linux/rculist.h>
#include <asm/ibt.h>
#include "state.h"

#define MTAG_HASH_BITS	12
extern struct hlist_head mtag_space_hash[1 << MTAG_HASH_BITS];
extern atomic_t mtag_space_generation;	/* changes with the set of spaces */

/* The bucket of @mm. entry.S computes it likewise. */
static __always_inline unsigned int mtag_space_bucket(const struct mm_struct *mm)
{
	return hash_32((u32)(unsigned long)mm, MTAG_HASH_BITS);
}

/* The space of @mm from @node on, which is not NULL. Context: RCU, or preemption disabled. */
static __always_inline struct mtag_space *mtag_space_from(struct hlist_node *node,
							  const struct mm_struct *mm)
{
	do {
		struct mtag_space *s = hlist_entry(node, struct mtag_space, node);

		/* A plain load lets the compiler compare in memory: the value is used only once. */
		if (likely(data_race(s->mm) == mm)) {
			/* Spares callers a comparison with NULL, the kernel's flags do not. */
			if (!s)
				__builtin_unreachable();
			return s;
		}
		node = READ_ONCE(node->next);
	} while (node);
	return NULL;
}

/* Context: RCU, or preemption disabled. */
static __always_inline struct mtag_space *mtag_space_find(const struct mm_struct *mm)
{
	struct hlist_node *node = READ_ONCE(mtag_space_hash[mtag_space_bucket(mm)].first);

	return node ? mtag_space_from(node, mm) : NULL;
}

__noendbr struct mtag_space *mtag_space_lookup(const struct mm_struct *mm);
struct mtag_space *mtag_space_get(struct mtag_space *s);
void mtag_space_put(struct mtag_space *s);
__noendbr struct mtag_space *mtag_space_mine(void);
struct mtag_space *mtag_space_current(void);
void mtag_space_unborn(struct mtag_space *s, int err);
struct mtag_space *mtag_space_alloc(struct mtag_tree *tree, gfp_t gfp);
int mtag_space_publish(struct mtag_space *s, struct mm_struct *mm, gfp_t gfp);
bool mtag_space_is_deserted(struct mtag_space *s);
bool mtag_space_unhash(struct mtag_space *s);
bool mtag_space_admit(void);
struct mm_struct *mtag_space_mmget(struct mtag_space *s);
int mtag_space_charge_pin(struct mtag_space *s);
void mtag_space_uncharge_pin(struct mtag_space *s);
struct mtag_space *mtag_space_next(struct mtag_space *prev, unsigned int *bucket);
void mtag_space_change_slow(struct mtag_space *s, unsigned int set, unsigned int clear);
void mtag_space_mark_tree_dirty(const struct mtag_tree *tree);
void mtag_space_mark_all_dirty(void);
int mtag_space_init(void);
void mtag_space_open(bool admit);
void mtag_space_exit(void);

#endif /* MTAG_SPACE_H */
