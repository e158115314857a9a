/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For tests under load: compares the module's counters and memory before with those after, and checks that times grow
 * linearly.
 */
#ifndef MTAG_TESTS_LOAD_H
#define MTAG_TESTS_LOAD_H

#include "keepers.h"

struct load {
	uint64_t memory, ended, drift, dirty_ended, lost, overflow, bad_word;
	int64_t pins;
};

struct load load_begin(void);

/* Checks that nothing was lost since, other than by the limits. */
void no_loss(const struct load *before, const char *what);

/* Checks, once every process of the load has ended, that the module is as before. */
struct load load_end(const struct load *before);

/* Is a time proportional at most, with a margin for the noise of the machine? linear() checks it. */
bool is_linear(size_t few, double took_few, size_t many, double took_many);
void linear(const char *what, size_t few, double took_few, size_t many, double took_many);

_Noreturn void rest(void);

/* Runs the statement; returns the seconds it took. */
#define timed(statement)                                                                           \
	({                                                                                         \
		double began_ = now();                                                             \
		statement;                                                                         \
		now() - began_;                                                                    \
	})

/* What `mtagctl audit` finds in all processes: sums, and the number of rows. */
struct audit audit_all(void);

unsigned int random_below(unsigned int n);

#endif
