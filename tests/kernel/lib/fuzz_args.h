/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For the fuzzer of the ioctls: their arguments, in memory that may be there or not, of sizes that may be right
 * or not, and what is wrong with one; whatever else is wrong is said by expect().
 */
#ifndef MTAG_TESTS_FUZZ_ARGS_H
#define MTAG_TESTS_FUZZ_ARGS_H

#include "fuzz.h"

#define PAGES 64
#define CALLS 7

union any {
	__u32 size;
	struct mtag_ioc_attach attach;
	struct mtag_ioc_thread thread;
	struct mtag_ioc_child child;
	struct mtag_ioc_default def;
	struct mtag_ioc_range range;
	struct mtag_ioc_usage usage;
	struct mtag_ioc_path path;
	__u32 words[256];
	char bytes[1024];
};

extern const unsigned long calls[CALLS];
extern const unsigned sizes[CALLS];
extern struct random rng;

/* ---- places that an argument may point to ---- */
extern char *hole, *readonly, *edge;
void places(void);

/* Where @len bytes of an argument lie; *@usable: they can be read and written there. */
void *place(size_t len, bool *usable);

extern char *ground; /* what ranges and accesses are about: PAGES */

/* ---- an argument of a call that is nearly right ---- */

/* The wrong things that an argument has; any of their errors will do. */
struct errors {
	int error[8];
	int nr;
};

void fault(struct errors *e, bool has, int error);
bool among(const struct errors *e, int result);

/* Flags and padding that have to be 0 now and then are not. */
uint32_t zero(struct errors *e);

/* The size, at times of a later version. */
int try_call(unsigned i, union any *arg, struct errors *e);

#endif
