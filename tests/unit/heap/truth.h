/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a phase holds, and comparing it with what libmtag-heap says. Exact counts agree to the byte.
 * Estimates are within 5 times their own error, which a right one is not once in two million times.
 */
#ifndef TESTS_UNIT_HEAP_TRUTH_H
#define TESTS_UNIT_HEAP_TRUTH_H

#include <malloc.h>
#include <math.h>
#include <sys/mman.h>

#include "../lib_tap.h"
#include "reader.h"

/* As libmtag calls it. */
__attribute__((weak)) void mtag_heap_word(const uint32_t *word);
static __thread uint32_t word;

static struct reader reader;
static bool exact;

static void enter(uint32_t tag)
{
	word = tag;
	mtag_heap_word(&word);
}

/* ---- the truth ---- */

/**
 * struct object - something that is alive
 * @asked: bytes, of the last call
 */
struct object {
	void *p;
	size_t asked;
};

/**
 * struct truth - what a phase holds
 * @objects: elements, of which some may be free
 */
struct truth {
	struct object *objects;
	size_t n;
};

/* Memory that no allocator knows of. */
static struct truth truth_of(size_t n)
{
	struct truth truth = {.n = n};

	truth.objects = mmap(NULL, n * sizeof(*truth.objects), PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (truth.objects == MAP_FAILED)
		abort();
	return truth;
}

/* The size of the i-th object: many sizes, in the same order each time. */
static inline unsigned size_at(size_t i, unsigned most)
{
	return (unsigned)(i * 2654435761u >> 7) % most;
}

static void hold(struct object *object, void *p, size_t asked)
{
	if (!p)
		abort();
	/* All that a program may write to. */
	memset(p, 0x5a, malloc_usable_size(p));
	*object = (struct object){p, asked};
}

static void drop(struct object *object)
{
	free(object->p);
	*object = (struct object){0};
}

static void drop_all(struct truth *truth)
{
	size_t i;

	for (i = 0; i < truth->n; i++)
		drop(&truth->objects[i]);
}

struct sums {
	uint64_t asked, allocated, objects;
};

static struct sums sums_of(const struct truth *truth)
{
	struct sums sums = {0};
	size_t i;

	for (i = 0; i < truth->n; i++) {
		if (!truth->objects[i].p)
			continue;
		sums.asked += truth->objects[i].asked;
		sums.allocated += malloc_usable_size(truth->objects[i].p);
		sums.objects++;
	}
	return sums;
}

/* ---- comparing ---- */

static void compare_exact(uint32_t tag, struct sums is)
{
	struct mtag_heap_cell cell = reader_cell(&reader, tag);

	CHECK(cell.asked_in - cell.asked_out == is.asked);
	CHECK(cell.allocated_in - cell.allocated_out == is.allocated);
	CHECK(cell.objects_in - cell.objects_out == is.objects);
}

/* An error of 0 is that of objects so large that each is a sample. */
static void compare_sampled(uint32_t tag, struct sums is)
{
	struct alive alive = reader_alive(&reader, (int)tag);
	double error = fabs(alive.asked - (double)is.asked), most = 5 * sqrt(alive.variance);

	CHECK(!alive.bad);
	/* From no sample no error can be estimated: that of one period is more than a small phase has. */
	CHECK(error <= most + 40.0 * (double)reader.head.period);
	if (error > most + 40.0 * (double)reader.head.period)
		printf("# tag %u: %.0f for %.0f, error %.0f\n", tag, alive.asked, (double)is.asked,
		       sqrt(alive.variance));
}

/* Each test is a process of its own. */
static void compare(uint32_t tag, const struct truth *truth)
{
	struct sums is = sums_of(truth);

	if (reader.mem < 0 && !reader_open(&reader, getpid()))
		abort();
	if (exact)
		compare_exact(tag, is);
	compare_sampled(tag, is);
}

/* Runs the tests: each is a child, which opens its own area. All count as this process does. */
static int truth_run(const struct tap_test *tests, unsigned count)
{
	if (!reader_open(&reader, getpid())) {
		puts("Bail out! no area is found");
		return 1;
	}
	exact = reader.head.mode == MTAG_HEAP_EXACT;
	close(reader.mem);
	reader.mem = -1;
	return tap_run(tests, count);
}

#endif
