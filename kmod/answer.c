// SPDX-License-Identifier: GPL-2.0
/*
 * Remembers answers: the last one of each CPU, and a few thousand of all spaces in a table that the
 * CPUs share.
 */
#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/hash.h>
#include "answer.h"

DEFINE_PER_CPU(struct mtag_answer, mtag_answer);

#define SET_BITS	11
#define WAYS		2
#define GIVEN		0x10000

/*
 * The place of an answer. An odd @seq means that somebody writes. A reader compares @seq before
 * and after; if it finds a writer there, it takes the slot for empty.
 */
struct slot {
	u32 seq;
	u32 what;	/* tag, perhaps with GIVEN */
	u64 version;
	unsigned long start;
	unsigned long end;
};

/* A set is a cache line. */
static struct slot sets[1 << SET_BITS][WAYS] ____cacheline_aligned;

/* A version that no space has had. Context: any. */
u64 mtag_answer_version(void)
{
	static atomic64_t last;

	return atomic64_inc_return(&last);
}

/**
 * mtag_answer_recall() - look for a known range
 * @key:	under which the answer was noted
 * @version:	of the space's ranges
 * @addr:	address in the range
 * @answer:	filled if there is one
 *
 * Context: any.
 * Return: false if there is no answer.
 */
bool mtag_answer_recall(unsigned long key, u64 version, unsigned long addr,
			struct mtag_answer *answer)
{
	struct slot *slot = sets[hash_long(key, SET_BITS)];
	unsigned long start, end;
	u32 seq, what;
	int i;

	for (i = 0; i < WAYS; i++, slot++) {
		seq = smp_load_acquire(&slot->seq);	/* pairs with mtag_answer_note() */
		if (READ_ONCE(slot->version) != version || seq & 1)
			continue;
		start = READ_ONCE(slot->start);
		end = READ_ONCE(slot->end);
		what = READ_ONCE(slot->what);
		smp_rmb();	/* pairs with mtag_answer_note() */
		if (READ_ONCE(slot->seq) != seq || addr < start || addr >= end)
			continue;
		*answer = (struct mtag_answer){
			version, start, end, what % GIVEN, what & GIVEN
		};
		return true;
	}
	return false;
}

/**
 * mtag_answer_note() - remember a range
 * @key:	for mtag_answer_recall()
 * @answer:	the range
 *
 * Takes the place of the oldest version in its set. Context: any but NMI.
 */
void mtag_answer_note(unsigned long key, const struct mtag_answer *answer)
{
	struct slot *slot = sets[hash_long(key, SET_BITS)];
	u32 seq;

	if (READ_ONCE(slot[1].version) < READ_ONCE(slot[0].version))
		slot++;
	seq = READ_ONCE(slot->seq);
	/* A full barrier: nothing below is seen before the odd number. */
	if (seq & 1 || cmpxchg(&slot->seq, seq, seq + 1) != seq)
		return;
	WRITE_ONCE(slot->version, answer->version);
	WRITE_ONCE(slot->start, answer->start);
	WRITE_ONCE(slot->end, answer->end);
	WRITE_ONCE(slot->what, answer->tag | (answer->given ? GIVEN : 0));
	/* Pairs with mtag_answer_recall(). */
	smp_store_release(&slot->seq, seq + 2);
}
