/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The counters of each (space, tag); account.c.
 */
#ifndef MTAG_ACCOUNT_H
#define MTAG_ACCOUNT_H

#include <linux/types.h>
#include <asm/ibt.h>
#include "accounts.h"
#include "limit.h"

/* How often a limit is looked at, in the hope of a moment without a copy under way. */
#define MTAG_LOOKS	6
/* How often at most where limits move meanwhile; who needs more means to keep us. */
#define MTAG_LOOKS_MOST	100

struct mtag_space;

void __noendbr mtag_account_enter(struct mtag_space *s, u32 tag);
void __noendbr mtag_account_add(struct mtag_space *s, unsigned int tag, enum mtag_kind kind,
				int pages);
void __noendbr mtag_account_come(struct mtag_space *s, unsigned int tag, enum mtag_kind kind,
				 int pages);
void __noendbr mtag_account_replace(struct mtag_space *s, unsigned int tag);
void __noendbr mtag_account_touch(struct mtag_space *s, unsigned int tag, s64 pages);
void __noendbr mtag_account_full(struct mtag_space *s, u32 tag, int transient);
bool mtag_account_look_at_limits(struct mtag_space *s, int looks);
void mtag_account_check_limits(struct mtag_space *s);
void __noendbr mtag_account_fold(const struct mtag_accounts *acc, unsigned int tag,
				 struct mtag_sum *sum);
void __noendbr mtag_account_read(const struct mtag_accounts *acc, unsigned int tag,
				 struct mtag_sum *sum);
void mtag_account_read_all(struct mtag_space *s, unsigned int nr_tags, struct mtag_sum *sums,
			   unsigned long *has, struct mtag_sum *total);
unsigned int mtag_account_tags(struct mtag_space *s);
bool mtag_account_owns(const struct mtag_accounts *acc, u32 tag);
void mtag_account_set(struct mtag_accounts *acc, unsigned int tag, const s64 nr[MTAG_KINDS]);
void mtag_account_reset_peaks(struct mtag_space *s);
u64 mtag_account_residue(const struct mtag_accounts *acc);
void __noendbr mtag_account_know(struct mtag_accounts *acc, unsigned int tag);
bool __noendbr mtag_account_known(const struct mtag_accounts *acc, unsigned int tag);
void mtag_account_inherit(struct mtag_accounts *to, const struct mtag_accounts *from);
void mtag_account_give(struct mtag_space *s, u32 tag, u32 to);

#endif /* MTAG_ACCOUNT_H */
