// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The exact mode, on glibc: between the sampler and glibc's allocator stands one that counts. It asks
 * for 8 bytes more, and has in the last 8 of each chunk what is to be counted when that is freed:
 *
 *	63       16  15    0
 *	bytes asked  tag
 *
 * glibc keeps a chunk's size in front of it, and flags in the lowest bits. A chunk goes on for 8
 * bytes into the next one, unless it is a mapping of its own.
 *
 * Each thread counts in cells of its own, by plain additions: one instruction each, so that a signal
 * handler of the same thread may come between any two.
 */
#include "exact.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "next.h"
#include "self.h"
#include "slot.h"
#include "tag.h"
#include "view.h"

#define TAIL	 8
#define TAG	 UINT64_C(0xffff)
#define SHIFT	 16
#define MAPPED	 2
#define FLAGS	 15
#define FAST	 static inline __attribute__((always_inline))
#define SLOW	 static __attribute__((noinline))
#define NEVER(x) __builtin_expect(!!(x), 0)

static struct mtag__next real;

/* ---- chunks ---- */

FAST size_t field_of(const void *p)
{
	return ((const size_t *)p)[-1];
}

/* What a program may use of a chunk that is no mapping of its own; the tail stands behind that. */
FAST size_t common_usable(size_t field)
{
	return (field & ~(size_t)FLAGS) - sizeof(size_t) - TAIL;
}

/* Of any chunk. */
static size_t usable_of(const void *p)
{
	size_t field = field_of(p);

	return common_usable(field) - (field & MAPPED ? sizeof(size_t) : 0);
}

/* One more than was asked for, and the tag: where somebody else wrote zeros there is no such note. */
FAST uint64_t tail_with(size_t size, uint64_t tag)
{
	return ((uint64_t)size << SHIFT) + tag + (1 << SHIFT);
}

/* What was asked for; more than anything usable if there is no note. */
FAST uint64_t asked_by(uint64_t tail)
{
	return (tail >> SHIFT) - 1;
}

FAST uint64_t *tail_of(const void *p, size_t usable)
{
	return (uint64_t *)((char *)p + usable);
}

uint32_t mtag__exact_owner(const void *p)
{
	return *tail_of(p, usable_of(p)) & TAG;
}

/* ---- counting ---- */

FAST void add(uint64_t *counter, uint64_t n)
{
#ifdef __x86_64__
	__asm__("addq %1, %0" : "+m"(*counter) : "er"(n));
#else
	*counter += n;
#endif
}

FAST void count_in(struct mtag_heap_cell *cell, uint64_t asked, uint64_t usable)
{
	add(&cell->asked_in, asked);
	add(&cell->allocated_in, usable);
	add(&cell->objects_in, 1);
}

FAST void count_out(struct mtag_heap_cell *cell, uint64_t asked, uint64_t usable)
{
	add(&cell->asked_out, asked);
	add(&cell->allocated_out, usable);
	add(&cell->objects_out, 1);
}

/* The cells of a thread without a slot are shared by all of these. */
static void count_shared(uint64_t *first, uint64_t asked, uint64_t usable)
{
	__atomic_fetch_add(first, asked, __ATOMIC_RELAXED);
	__atomic_fetch_add(first + 1, usable, __ATOMIC_RELAXED);
	__atomic_fetch_add(first + 2, 1, __ATOMIC_RELAXED);
}
_Static_assert(offsetof(struct mtag_heap_cell, objects_in) == 16 &&
		       offsetof(struct mtag_heap_cell, objects_out) == 40,
	       "asked, allocated and objects are in this order");

/* A thread comes here first when it has no cells yet. */
static struct mtag_heap_cell *cells_of_thread(void)
{
	if (!mtag__self.cells && !mtag__self.busy && !mtag__self.ended) {
		mtag__tag_ask(0, NULL);
		mtag__slot_take();
	}
	return mtag__self.cells;
}

/* Notes an object for a given tag, in all cases. Returns @p. */
static void *note_for(void *p, size_t size, uint32_t tag)
{
	struct mtag_heap_cell *cells = cells_of_thread();
	size_t usable = usable_of(p);

	*tail_of(p, usable) = tail_with(size, tag);
	if (cells)
		count_in(cells + tag, size, usable);
	else
		count_shared(&mtag__view.cells[tag].asked_in, size, usable);
	return p;
}

SLOW void *note_slowly(void *p, size_t size)
{
	const uint32_t *word;

	cells_of_thread();
	word = mtag__self.word;
	return note_for(p, size, word ? (uint16_t)*word : 0);
}

/* Notes an object for the current tag. Returns @p. */
FAST void *note(void *p, size_t size)
{
	struct mtag_heap_cell *cells = mtag__self.cells;
	size_t field, usable;
	uint64_t tag;

	if (NEVER(!p))
		return NULL;
	field = field_of(p);
	if (NEVER(!cells) || NEVER(field & MAPPED))
		return note_slowly(p, size);
	/* A thread that has cells has a word. */
	tag = (uint16_t)__atomic_load_n(mtag__self.word, __ATOMIC_RELAXED);
	usable = common_usable(field);
	*tail_of(p, usable) = tail_with(size, tag);
	count_in(cells + tag, size, usable);
	return p;
}

SLOW void forget_slowly(void *p)
{
	size_t usable = usable_of(p);
	uint64_t tail = *tail_of(p, usable);
	struct mtag_heap_cell *cells = cells_of_thread();

	/* The program wrote beyond its object, or got it from elsewhere. */
	if (asked_by(tail) > usable)
		__atomic_fetch_add(&mtag__view.head->damaged, 1, __ATOMIC_RELAXED);
	else if (cells)
		count_out(cells + (tail & TAG), asked_by(tail), usable);
	else
		count_shared(&mtag__view.cells[tail & TAG].asked_out, asked_by(tail), usable);
}

/* ---- the allocator that counts ---- */

/* What to ask for; more than any allocator gives if there is no such size. */
FAST size_t more_than(size_t size)
{
	size_t more;

	if (NEVER(__builtin_add_overflow(size, TAIL, &more)))
		return SIZE_MAX;
	return more;
}

static void *exact_malloc(size_t size)
{
	return note(real.malloc(more_than(size)), size);
}

static void exact_free(void *p)
{
	struct mtag_heap_cell *cells = mtag__self.cells;
	size_t field, usable;
	uint64_t tail;

	if (NEVER(!p))
		return;
	field = field_of(p);
	usable = common_usable(field);
	/* Of a mapping this is the end: there are 8 bytes left. */
	if (NEVER(field & MAPPED) || NEVER(!cells))
		goto slowly;
	tail = *tail_of(p, usable);
	if (NEVER(asked_by(tail) > usable))
		goto slowly;
	count_out(cells + (tail & TAG), asked_by(tail), usable);
	real.free(p);
	return;
slowly:
	forget_slowly(p);
	real.free(p);
}

static void *exact_calloc(size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		bytes = SIZE_MAX;
	return note(real.calloc(1, more_than(bytes)), bytes);
}

static void *exact_memalign(size_t alignment, size_t size)
{
	return note(real.memalign(alignment, more_than(size)), size);
}

static void *exact_aligned_alloc(size_t alignment, size_t size)
{
	return note(real.aligned_alloc(alignment, more_than(size)), size);
}

static int exact_posix_memalign(void **p, size_t alignment, size_t size)
{
	int err = real.posix_memalign(p, alignment, more_than(size));

	if (!err)
		note(*p, size);
	return err;
}

/* The owner stays. Called with what is not NULL only. */
static void *exact_realloc(void *p, size_t size)
{
	size_t before = usable_of(p);
	uint64_t tail = *tail_of(p, before);
	void *moved;

	if (!size) {
		exact_free(p);
		return NULL;
	}
	moved = real.realloc(p, more_than(size));
	if (!moved)
		return NULL;
	if (asked_by(tail) > before) {
		__atomic_fetch_add(&mtag__view.head->damaged, 1, __ATOMIC_RELAXED);
		return note(moved, size);
	}
	if (cells_of_thread())
		count_out(mtag__self.cells + (tail & TAG), asked_by(tail), before);
	else
		count_shared(&mtag__view.cells[tail & TAG].asked_out, asked_by(tail), before);
	return note_for(moved, size, tail & TAG);
}

static size_t exact_usable(void *p)
{
	return p ? usable_of(p) : 0;
}

/* ---- is it glibc's heap as we know it? ---- */

static bool looks_right(void *p, size_t size)
{
	size_t usable = mtag__next.usable(p);

	return usable >= size && usable == usable_of(p) + TAIL;
}

const char *mtag__exact_refuse(void)
{
	static const size_t sizes[] = {1, 24, 25, 1000, 5000, 100000, 40 << 20};
	const char *name;
	bool good = true;
	unsigned i;
	void *p;

	if (sizeof(size_t) != 8)
		return "exact counts need a 64-bit program";
	if (mtag__next_kind(&name) != MTAG__GLIBC)
		return "exact counts need glibc's malloc";
	for (i = 0; good && i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		p = mtag__next.malloc(sizes[i]);
		good = p && looks_right(p, sizes[i]);
		mtag__next.free(p);
		p = mtag__next.memalign(256, sizes[i]);
		good = good && p && looks_right(p, sizes[i]);
		mtag__next.free(p);
	}
	return good ? NULL : "this glibc lays its heap out in a way that is not known";
}

void mtag__exact_begin(void)
{
	real = mtag__next;
	mtag__next = (struct mtag__next){
		.malloc = exact_malloc,
		.free = exact_free,
		.calloc = exact_calloc,
		.realloc = exact_realloc,
		.memalign = exact_memalign,
		.aligned_alloc = exact_aligned_alloc,
		.posix_memalign = exact_posix_memalign,
		.usable = exact_usable,
	};
}
