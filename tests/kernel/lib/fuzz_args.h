/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For the fuzzer of the ioctls: their arguments, in memory that may be mapped or not, of sizes that may be right or
 * not, and the errors that each may give.
 */
#ifndef MTAG_TESTS_FUZZ_ARGS_H
#define MTAG_TESTS_FUZZ_ARGS_H

#include "fuzz.h"

#define PAGES 64
#define CALLS 13

union any {
	__u32 size;
	struct mtag_ioc_attach attach;
	struct mtag_ioc_thread thread;
	struct mtag_ioc_child child;
	struct mtag_ioc_default def;
	struct mtag_ioc_range range;
	struct mtag_ioc_usage usage;
	struct mtag_ioc_path path;
	struct mtag_ioc_notify notify;
	struct mtag_ioc_stacks stacks;
	struct mtag_ioc_unwind unwind;
	struct mtag_ioc_heap heap;
	struct mtag_ioc_heap_read heap_read;
	struct mtag_ioc_owners owners;
	__u32 words[256];
	char bytes[1024];
};

extern const unsigned long calls[CALLS];
extern const unsigned sizes[CALLS];
extern struct random rng;

/* ---- places that an argument may point to ---- */
extern char *hole, *readonly, *edge;
void places(void);

/* Chooses an address for @len bytes of an argument; *@usable: they can be read and written there. */
void *place(size_t len, bool *usable);

extern char *ground; /* what ranges and accesses are about: PAGES */

/* ---- an argument of a call that is nearly right ---- */

/* The errors that an argument may give: any of them will do. */
struct errors {
	int error[16];
	int nr;
};

void fault(struct errors *e, bool has, int error);
bool among(const struct errors *e, int result);

/* Flags or padding that must be 0, and now and then are not. */
uint32_t zero(struct errors *e);

/* Makes call @i with a size that may be that of a later version, or wrong. */
int try_call(unsigned i, union any *arg, struct errors *e);

#endif
