/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a process with stacks has executable memory; text.c.
 */
#ifndef MTAG_TEXT_H
#define MTAG_TEXT_H

#include <linux/mm_types.h>
#include <linux/rcupdate.h>
#include <linux/types.h>
#include <linux/uidgid.h>
#include "state.h"
#include "unwind.h"

/**
 * struct mtag_text - all executable mappings of a process, by address
 * @rcu:	frees it
 * @serial:	its own, which no other has had
 * @nr:		number of mappings
 * @maps:	by address, their ids being those of images; they do not overlap
 *
 * Constant once it is in a space. Read under RCU, and replaced as a whole.
 */
struct mtag_text {
	struct rcu_head rcu;
	u64 serial;
	unsigned int nr;
	struct mtag_unwind_map maps[];
};

int mtag_text_read(struct mtag_space *s, struct mm_struct *mm, kuid_t uid);
void mtag_text_mapped(struct mtag_space *s, const struct vm_area_struct *vma);
int mtag_text_fork(struct mtag_space *child, struct mtag_space *parent, gfp_t gfp);
int mtag_text_exec(struct mtag_space *s, struct mtag_space *old, gfp_t gfp);
void mtag_text_free(struct mtag_space *s);

#endif /* MTAG_TEXT_H */
