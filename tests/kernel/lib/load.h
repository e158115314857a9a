/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For the tests of load: what the module had and said before, and must have and say again when all is
 * over; and that what takes time does not take the square of it.
 */
#ifndef MTAG_TESTS_LOAD_H
#define MTAG_TESTS_LOAD_H

#include "keepers.h"

struct load {
	uint64_t memory, ended, drift, dirty_ended, lost, overflow, bad_word;
	int64_t pins;
};

void set_limit(const char *name, uint64_t value);
struct load load_begin(void);

/* Nothing but what the limits say may have been lost since. */
void no_loss(const struct load *before, const char *what);

/* Every process of the load has ended. */
struct load load_end(const struct load *before);

/* Times of the same for fewer and for more: at most proportional, or what the machine's noise makes. */
void linear(const char *what, size_t few, double took_few, size_t many, double took_many);

_Noreturn void rest(void);

/* Runs the statement; the seconds it took. */
#define timed(statement)                                                                           \
	({                                                                                         \
		double began_ = now();                                                             \
		statement;                                                                         \
		now() - began_;                                                                    \
	})

/* What `mtagctl audit` finds in all processes: sums, but for rows. */
struct audit audit_all(void);

unsigned int random_below(unsigned int n);

#endif
