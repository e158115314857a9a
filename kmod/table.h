/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The table of the hooked functions of this kernel; table.c.
 */
#ifndef MTAG_TABLE_H
#define MTAG_TABLE_H

#include "caller.h"
#include "hooked.h"
#include "inlined.h"

/* Ended by an empty entry. */
extern struct mtag_hook *mtag_hooks;
extern int mtag_nr_hooks;
int mtag_table_init(struct mtag_hook *hooks, const struct mtag_called *called,
		    const struct mtag_caller_name *callers);
int mtag_table_trace(void);
int mtag_table_probe(void);

#endif /* MTAG_TABLE_H */
