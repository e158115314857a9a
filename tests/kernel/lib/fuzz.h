/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the fuzzers share: repeatable random numbers, users, and the checks after a round.
 *
 * A fuzzer goes in rounds, each in a process of its own, whose numbers depend on the seed and the round alone.
 * Arguments, all optional: [seed=N] [round=N] [rounds=N] [inputs=N]. What failed says which seed and round it was.
 */
#ifndef MTAG_TESTS_FUZZ_H
#define MTAG_TESTS_FUZZ_H

#include "test.h"

/* Number of wrong answers in a round; expect() prints the first few. */
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

/* A number near the limits at which mistakes are made. */
uint64_t odd_number(struct random *r);

void noise(struct random *r, void *to, size_t len);

/* ---- arguments and rounds ---- */
struct fuzz {
	uint64_t seed, round, rounds, inputs;
};

/* Parses the arguments. @brief inputs in make check, @long_ in make check-long, unless told otherwise. */
struct fuzz fuzz_arguments(int argc, char **argv, uint64_t brief, uint64_t long_, uint64_t rounds);

enum user { ROOT, NOBODY, USERNS, USERS };

extern const char *const user_names[USERS];

/* Turns the calling process, irrevocably, into one of that user. */
void become(enum user user);

/* Does the text hold an address of the kernel? None may be printed. */
bool has_printed_address(const char *text);

/* The state of the module, which must be the same before and after. */
struct remains {
	uint64_t drift, lost, memory, tracked;
};

struct remains remains(void);

/* Checks that the state is that of before. Spaces end, and their memory is freed, a little after their processes. */
void same_remains(struct remains before, const char *what);

#endif
