/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Places in a test, at the ends of known chains of calls, and whether a stack that the module
 * tells is such a chain. Not in the archive: it has to be built with frame pointers or, as BARE,
 * without any and walked by unwind tables; and as 64-bit code.
 */
#ifndef MTAG_TESTS_PLACES_H
#define MTAG_TESTS_PLACES_H

#include "../lib/stacks.h"

#define SITES 16
#define DEEP  12 /* frames of a site's stack that the test knows, at most */
#define N     64

#define alone __attribute__((noinline, noipa))

/*
 * A site is a chain of calls that ends at one instruction. Each function of the chain notes the address that it
 * returns to: that is the truth.
 */
struct site {
	char *at;
	size_t pages;
	unsigned int nr;
	const void *frame[DEEP]; /* innermost first; the first is the instruction */
	unsigned int signalled;	 /* the frame that a signal interrupted, if any */
	bool exact;		 /* at the instruction itself, not in a call that it makes */
};

static struct site *current;

#define note() (current->frame[current->nr++] = __builtin_return_address(0))

typedef void leaf_t(void);

/* Sixteen places, of depths 1 to 8. */
#define PLACE(n)                                                                                   \
	static alone void place_##n(leaf_t *leaf, int depth)                                       \
	{                                                                                          \
		note();                                                                            \
		if (depth)                                                                         \
			place_##n(leaf, depth - 1);                                                \
		else                                                                               \
			leaf();                                                                    \
		__asm__ volatile("");                                                              \
	}
#define EACH(of)                                                                                   \
	of(0) of(1) of(2) of(3) of(4) of(5) of(6) of(7) of(8) of(9) of(10) of(11) of(12) of(13)    \
		of(14) of(15)
#define NAME(n) place_##n,

EACH(PLACE)

static void (*const place[SITES])(leaf_t *, int) = {EACH(NAME)};

/* The addresses were noted on the way in. */
static void turn(struct site *s, const void *instruction)
{
	const void *noted[DEEP];

	memcpy(noted, s->frame, sizeof(noted));
	s->frame[0] = instruction;
	for (unsigned int i = 0; i < s->nr; i++)
		s->frame[i + 1] = noted[s->nr - 1 - i];
	s->nr++;
}

/* ---- where code is, by /proc/self/maps ---- */

static struct code {
	uint64_t start, end, offset;
	char path[128];
} code[128];

static unsigned int nr_code;

static void read_code(void)
{
	char *line = slurp("/proc/self/maps"), *end, perms[8];

	nr_code = 0;
	for (; line && *line; line = end ? end + 1 : NULL) {
		struct code *c = &code[nr_code];

		end = strchr(line, '\n');
		if (end)
			*end = '\0';
		c->path[0] = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %127s", &c->start,
			   &c->end, perms, &c->offset, c->path) >= 4 &&
		    perms[2] == 'x' && nr_code < COUNT(code) - 1)
			nr_code++;
	}
}

/* Is a frame of an answer the one at @address? */
static bool same_frame(const struct stacks *s, const struct mtag_stack_frame *f,
		       const void *address)
{
	uint64_t at = (uintptr_t)address;
	const char *path = image_path(s, f->image);

	for (unsigned int i = 0; i < nr_code; i++)
		if (at >= code[i].start && at < code[i].end)
			return f->offset == at - code[i].start + code[i].offset && path &&
			       !strcmp(path, code[i].path);
	return false;
}

static bool same_stack(const struct stacks *s, const struct stack_seen *e, const struct site *site)
{
	if (e->kind != MTAG_STACK_TAKEN || e->nr < site->nr)
		return false;
#ifdef BARE
	if (e->why != MTAG_STACK_COMPLETE)
		return false;
#endif
	for (unsigned int i = 0; i < site->nr; i++)
		if (!same_frame(s, &e->frame[i], site->frame[i]))
			return false;
	/* To the code that ends a handler nobody returns from a call either. */
	for (unsigned int i = 1; i < e->nr; i++)
		if (!(e->frame[i].flags & MTAG_STACK_EXACT) ==
		    (site->signalled && (i == site->signalled || i + 1 == site->signalled)))
			return false;
	return !(e->frame[0].flags & MTAG_STACK_EXACT) == !site->exact;
}

#endif
