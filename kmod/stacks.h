/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which processes have their stacks taken, and what is kept for that; stacks.c.
 */
#ifndef MTAG_STACKS_H
#define MTAG_STACKS_H

#include <linux/mm_types.h>
#include "state.h"

struct cred;
struct mtag_bell;

int mtag_stacks_start(struct mtag_space *s, struct mm_struct *mm, const struct cred *cred,
		      unsigned int one_in, struct mtag_bell *bell);
bool mtag_stacks_hold(void);
void mtag_stacks_drop(void);
void mtag_stacks_idle(void);

#endif /* MTAG_STACKS_H */
