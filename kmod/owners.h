/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Presence and owners of pages by address; owners.c.
 */
#ifndef MTAG_OWNERS_H
#define MTAG_OWNERS_H

#include <linux/mm_types.h>
#include "mtag.h"
#include "state.h"

int mtag_owners_read(struct mtag_space *s, struct mm_struct *mm, struct mtag_ioc_owners *o);

#endif /* MTAG_OWNERS_H */
