/* SPDX-License-Identifier: GPL-2.0 */
/* A heap's area as libmtag-heap would have written it, for the tests of what mtagctl reads from it. */
#ifndef CTL_HEAP_H
#define CTL_HEAP_H

#include <string.h>

#include "ctl.h"
#include "heaps/objects.h"

#define PAGE	PAGE_BYTES
#define BASE	UINT64_C(0x100000000)
#define SAMPLES 8
#define ONE	(UINT64_C(1) << MTAG_HEAP_WEIGHT_SHIFT)

enum { A = 2, B = 3, V = 4 };

static struct {
	struct mtag_heap_head head;
	struct mtag_heap_cell cells[2][8]; /* the first tags of two slots */
	struct mtag_heap_sample samples[SAMPLES];
	int torn; /* so many reads of the first sample get something else */
	int error;
} area;

#define CELLS_AT   4096
#define SLOT_BYTES (UINT64_C(65536) * sizeof(struct mtag_heap_cell))
#define SAMPLES_AT (CELLS_AT + 2 * SLOT_BYTES)
#define LENGTH	   (SAMPLES_AT + 4096)

/* What is not given is 0, as pages are that were never touched. */
static inline int area_read(void *arg, uint64_t offset, void *to, size_t length)
{
	(void)arg;
	memset(to, 0, length);
	if (area.error)
		return area.error;
	if (offset < CELLS_AT) {
		memcpy(to, &area.head, length < sizeof(area.head) ? length : sizeof(area.head));
	} else if (offset < SAMPLES_AT) {
		size_t slot = (offset - CELLS_AT) / SLOT_BYTES;

		memcpy(to, area.cells[slot],
		       length < sizeof(area.cells[0]) ? length : sizeof(area.cells[0]));
	} else {
		uint64_t at = offset - SAMPLES_AT;

		memcpy(to, (char *)area.samples + at,
		       length < sizeof(area.samples) - at ? length : sizeof(area.samples) - at);
		if (!at && area.torn-- > 0)
			((struct mtag_heap_sample *)to)->asked ^= 1;
	}
	return 0;
}

static struct heap_source source = {.read = area_read, .length = LENGTH};

static inline void begin(enum mtag_heap_mode mode)
{
	memset(&area, 0, sizeof(area));
	area.head = (struct mtag_heap_head){
		.magic = MTAG_HEAP_MAGIC,
		.version = MTAG_HEAP_VERSION,
		.head_bytes = sizeof(area.head),
		.area_bytes = LENGTH,
		.mode = mode,
		.wanted = mode,
		.period = 1 << 19,
		.cells_at = CELLS_AT,
		.cell_bytes = sizeof(struct mtag_heap_cell),
		.cell_tags = MTAG_HEAP_TAGS,
		.slots = 2,
		.slots_used = 2,
		.samples_at = SAMPLES_AT,
		.sample_bytes = sizeof(struct mtag_heap_sample),
		.samples_max = SAMPLES,
		.samples_used = SAMPLES,
		.seen = 1,
	};
	area.head.figures.check = mtag_heap_check(&area.head.figures);
}

static inline void sample(int i, uint64_t address, uint64_t bytes, uint64_t weight, uint32_t tag)
{
	area.samples[i] = (struct mtag_heap_sample){.address = address,
						    .asked = bytes,
						    .allocated = bytes,
						    .weight = weight,
						    .tag = tag};
	area.samples[i].check = mtag_heap_check(&area.samples[i]);
}

#endif
