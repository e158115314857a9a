/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tagging threads by their names; naming.c.
 */
#ifndef MTAG_NAMING_H
#define MTAG_NAMING_H

#include <linux/gfp_types.h>
#include "hooked.h"

struct mtag_space;
struct task_struct;

u32 mtag_naming_born(struct mtag_space *s, struct task_struct *task, gfp_t gfp);
MTAG_HOOK_FUNC(mtag_naming_rename);

#endif /* MTAG_NAMING_H */
