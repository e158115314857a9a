/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The counters of each (space, tag); account.c.
 */
#ifndef MTAG_ACCOUNT_H
#define MTAG_ACCOUNT_H

#include <linux/minmax.h>
#include <linux/types.h>
#include "accounts.h"
#include "limit.h"

struct mtag_space;

/**
 * struct mtag_sum - an account, folded over CPUs
 * @nr:		pages by kind
 * @touched:	pages first touched, cumulative
 * @peak:	pages, highest anon + file + shmem
 * @calls:	by enum mtag_call
 * @bytes:	by enum mtag_call
 */
struct mtag_sum {
	s64 nr[MTAG_KINDS];
	u64 touched;
	u64 peak;
	u64 calls[MTAG_CALLS];
	u64 bytes[MTAG_CALLS];
};

void mtag_account_add(struct mtag_space *s, unsigned int tag, enum mtag_kind kind, int pages);
void mtag_account_replace(struct mtag_space *s, unsigned int tag);
void mtag_account_touch(struct mtag_space *s, unsigned int tag, s64 pages);
void mtag_account_peak(struct mtag_space *s, unsigned int tag);
void mtag_account_peak_replacing(struct mtag_space *s, unsigned int tag);
u64 mtag_account_seen(const struct mtag_accounts *acc, unsigned int tag, s64 pages);
void mtag_account_check_limits(struct mtag_space *s);
void mtag_account_call(struct mtag_space *s, unsigned int tag, enum mtag_call call, u64 bytes);
void mtag_account_fold(const struct mtag_accounts *acc, unsigned int tag, struct mtag_sum *sum);
/*
 * As mtag_account_fold(), for showing. Pages come and go during a fold: it may see one CPU's
 * removal before another's addition.
 */
static inline void mtag_account_read(const struct mtag_accounts *acc, unsigned int tag,
				     struct mtag_sum *sum)
{
	int i;

	mtag_account_fold(acc, tag, sum);
	for (i = 0; i < MTAG_KINDS; i++)
		sum->nr[i] = max_t(s64, sum->nr[i], 0);
	sum->peak = mtag_account_seen(acc, tag, sum->nr[MTAG_ANON] + sum->nr[MTAG_FILE] +
						sum->nr[MTAG_SHMEM]);
}

bool mtag_account_owns(const struct mtag_accounts *acc, u32 tag);
void mtag_account_set(struct mtag_accounts *acc, unsigned int tag, const s64 nr[MTAG_KINDS]);
void mtag_account_reset_peaks(struct mtag_space *s);
u64 mtag_account_residue(const struct mtag_accounts *acc);
void mtag_account_know(struct mtag_accounts *acc, unsigned int tag);
bool mtag_account_known(const struct mtag_accounts *acc, unsigned int tag);
void mtag_account_inherit(struct mtag_accounts *to, const struct mtag_accounts *from);

#endif /* MTAG_ACCOUNT_H */
