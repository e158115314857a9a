/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Answers: ranges as page events found them, so that the next event need not search the tree;
 * answer.c. range.c finds them.
 *
 * An answer is as good as a search. It belongs to one version of the ranges of one space; each
 * change of ranges gives the space another version, which no space had before.
 */
#ifndef MTAG_ANSWER_H
#define MTAG_ANSWER_H

#include <linux/percpu.h>
#include <linux/types.h>

/**
 * struct mtag_answer - a range that was found
 * @version:	of the space's ranges; 0: no answer
 * @start:	address
 * @end:	address, exclusive; ULONG_MAX: the end of all addresses
 * @tag:	tag of the range
 * @given:	the range was given to @tag explicitly
 */
struct mtag_answer {
	u64 version;
	unsigned long start;
	unsigned long end;
	u32 tag;
	bool given;
};

/* The last answer on this CPU. Used with preemption disabled. */
DECLARE_PER_CPU(struct mtag_answer, mtag_answer);

u64 mtag_answer_version(void);
bool mtag_answer_recall(unsigned long key, u64 version, unsigned long addr,
			struct mtag_answer *answer);
void mtag_answer_note(unsigned long key, const struct mtag_answer *answer);

#endif /* MTAG_ANSWER_H */
