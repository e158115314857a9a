/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the fuzzers share: numbers that a seed gives again, users, and what a round must leave behind.
 *
 * A fuzzer goes in rounds, each in a process of its own, whose numbers depend on the seed and the round alone.
 * Arguments, all optional: [seed=N] [round=N] [rounds=N] [inputs=N]. What failed says which seed and round it was.
 */
#ifndef MTAG_TESTS_FUZZ_H
#define MTAG_TESTS_FUZZ_H

#include "test.h"

/* What is wrong with a round's answers: the first few are said. */
extern uint64_t wrong;

#define expect(is_good, ...)                                                                       \
	do {                                                                                       \
		if (!(is_good) && wrong++ <= 10)                                                   \
			diag("  wrong: " __VA_ARGS__);                                             \
	} while (0)

/* ---- numbers ---- */
struct random {
	uint64_t state;
};

uint64_t rnd(struct random *r);

/* 0 to n - 1. */
uint64_t below(struct random *r, uint64_t n);

bool one_in(struct random *r, uint64_t n);
struct random random_of(uint64_t seed, uint64_t stream);

/* A number from where mistakes are made. */
uint64_t odd_number(struct random *r);

void noise(struct random *r, void *to, size_t len);

/* ---- arguments and rounds ---- */
struct fuzz {
	uint64_t seed, round, rounds, inputs;
};

/* How much by default: @brief in make check, @long_ in make check-long. */
struct fuzz fuzz_arguments(int argc, char **argv, uint64_t brief, uint64_t long_, uint64_t rounds);

enum user { ROOT, NOBODY, USERNS, USERS };

extern const char *const user_names[USERS];

/* For good, for the calling process. */
void become(enum user user);

/* Nothing that is printed may hold an address of the kernel. */
bool has_printed_address(const char *text);

/* What a fuzzer leaves of the module must be what it found. */
struct remains {
	uint64_t drift, lost, memory, tracked;
};

struct remains remains(void);

/* Spaces end, and their memory comes back, a little after their processes. */
void same_remains(struct remains before, const char *what);

#endif
