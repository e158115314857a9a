// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/utf8.c ctl/parse.c ctl/stacks/stack.c ctl/model.c ctl/heaps/objects.c */
/*
 * mtagctl heap: how much of the cells of an exact heap view is read, which a process may have made
 * as many as there can be.
 */
#include <errno.h>
#include <string.h>

#include "ctl.h"
#include "ctl_tap.h"
#include "heaps/objects.h"
#include "uapi/linux/mtag.h"

#define PAGE	   UINT64_C(4096)
#define CELLS_AT   PAGE
#define SLOT_BYTES (UINT64_C(65536) * sizeof(struct mtag_heap_cell))
#define SAMPLES_AT (CELLS_AT + MTAG_HEAP_SLOTS * SLOT_BYTES)

static struct mtag_heap_head head;
static bool full;	   /* all pages are there; else each 511th */
static uint64_t n_read;	   /* bytes */
static unsigned int wrong; /* pages that are read though they are not there */

static bool is_there(uint64_t offset)
{
	return full || offset / PAGE % 511 == 0;
}

/* Of each page that is there the first cell has one object of 5 bytes. */
static int cells_read(void *arg, uint64_t offset, void *to, size_t length)
{
	struct mtag_heap_cell cell = {.asked_in = 5, .allocated_in = 8, .objects_in = 1};

	(void)arg;
	memset(to, 0, length);
	if (!offset) {
		memcpy(to, &head, sizeof(head));
		return 0;
	}
	n_read += length;
	for (uint64_t at = 0; at < length; at += sizeof(cell)) {
		wrong += !is_there(offset + at);
		if ((offset + at) % PAGE == 0)
			memcpy((char *)to + at, &cell, sizeof(cell));
	}
	return 0;
}

static int cells_look(void *arg, uint64_t offset, size_t n, uint32_t *pages)
{
	(void)arg;
	if (offset % PAGE || n > MTAG_OWNERS_MAX)
		return -EINVAL;
	for (size_t i = 0; i < n; i++)
		pages[i] = is_there(offset + i * PAGE) ? MTAG_OWNER_PRESENT : 0;
	return 0;
}

static void begin(enum mtag_heap_mode mode, uint64_t cells_at)
{
	head = (struct mtag_heap_head){
		.magic = MTAG_HEAP_MAGIC,
		.version = MTAG_HEAP_VERSION,
		.head_bytes = sizeof(head),
		.area_bytes = SAMPLES_AT + PAGE,
		.mode = mode,
		.wanted = mode,
		.period = 1 << 19,
		.cells_at = cells_at,
		.cell_bytes = sizeof(struct mtag_heap_cell),
		.cell_tags = MTAG_HEAP_TAGS,
		.slots = MTAG_HEAP_SLOTS,
		.slots_used = MTAG_HEAP_SLOTS,
		.samples_at = SAMPLES_AT,
		.sample_bytes = sizeof(struct mtag_heap_sample),
	};
	head.figures.check = mtag_heap_check(&head.figures);
	n_read = wrong = 0;
}

static int sum(size_t n_tags, double *objects)
{
	const struct heap_source source = {
		.read = cells_read, .look = cells_look, .length = SAMPLES_AT + PAGE};
	struct heap_objects read = {0};
	int err = heap_objects_read_sums(&source, n_tags, &read);

	*objects = 0;
	for (size_t i = 0; i < read.n_tags && !err; i++)
		*objects += read.sums[i].objects;
	heap_objects_clear(&read);
	return err;
}

int main(void)
{
	uint64_t there = 0;
	double objects;

	for (uint64_t at = CELLS_AT; at < SAMPLES_AT; at += PAGE)
		there += is_there(at);
	begin(MTAG_HEAP_EXACT, CELLS_AT);
	ok(!sum(MTAG_HEAP_TAGS, &objects) && objects == (double)there,
	   "cells of all slots and tags are added up");
	ok(n_read == there * PAGE && !wrong, "and what is not there is not read");
	begin(MTAG_HEAP_EXACT, CELLS_AT);
	ok(!sum(10, &objects) && n_read <= MTAG_HEAP_SLOTS * 10 * sizeof(struct mtag_heap_cell),
	   "nor are those of tags that there are not");
	begin(MTAG_HEAP_SAMPLED, CELLS_AT);
	ok(!sum(MTAG_HEAP_TAGS, &objects) && n_read <= SLOT_BYTES / 511 + PAGE,
	   "nor any but the first where objects are sampled");
	full = true;
	begin(MTAG_HEAP_EXACT, CELLS_AT);
	ok(sum(MTAG_HEAP_TAGS, &objects) == -EBADMSG && n_read <= UINT64_C(256) << 20,
	   "if all are there that is too much");
	begin(MTAG_HEAP_EXACT, CELLS_AT + 8);
	head.slots = head.slots_used = 1;
	ok(sum(MTAG_HEAP_TAGS, &objects) == -EBADMSG && !n_read, "cells lie as they should");
	return tap_end();
}
