/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Accounting of pages under migration; migrate.c.
 */
#ifndef MTAG_MIGRATE_H
#define MTAG_MIGRATE_H

#include <linux/gfp_types.h>
#include "account.h"
#include "state.h"

struct page;
struct task_struct;

bool mtag_migrate_take(struct mtag_space *s, const struct page *page, int nr, unsigned long addr,
		       u32 tag, enum mtag_kind kind);
bool mtag_migrate_restore(struct mtag_space *s, unsigned long addr, u32 *tag);
void mtag_migrate_shift(struct mtag_space *s, unsigned long from, unsigned long to,
			unsigned long len);
void mtag_migrate_shifted(struct mtag_space *s, const struct task_struct *shifter);
void mtag_migrate_ready(void);
void mtag_migrate_prepare(const struct mtag_space *s, gfp_t gfp);
bool mtag_migrate_seen(struct mtag_space *s, unsigned long addr, u32 *tag);
bool mtag_migrate_found(struct mtag_space *s, const struct page *page, unsigned long addr, u32 tag,
			enum mtag_kind kind);
void mtag_migrate_expire(struct mtag_space *s);
void mtag_migrate_settle(struct mtag_space *s, struct mm_struct *mm);
void mtag_migrate_exit(void);

#endif /* MTAG_MIGRATE_H */
