// SPDX-License-Identifier: LGPL-2.1-or-later
/* What the process itself may ask. */
#include "usage.h"

#include <errno.h>

#include "view.h"

/* Other threads go on meanwhile: sums are of no one moment. */
static void add_cell(struct mtag_heap_cell *sum, const struct mtag_heap_cell *cell)
{
	sum->asked_out += __atomic_load_n(&cell->asked_out, __ATOMIC_ACQUIRE);
	sum->allocated_out += __atomic_load_n(&cell->allocated_out, __ATOMIC_ACQUIRE);
	sum->objects_out += __atomic_load_n(&cell->objects_out, __ATOMIC_ACQUIRE);
	sum->asked_in += __atomic_load_n(&cell->asked_in, __ATOMIC_ACQUIRE);
	sum->allocated_in += __atomic_load_n(&cell->allocated_in, __ATOMIC_ACQUIRE);
	sum->objects_in += __atomic_load_n(&cell->objects_in, __ATOMIC_ACQUIRE);
}

__attribute__((visibility("default"))) int mtag_heap_usage(uint32_t tag, struct mtag_heap_cell *sum)
{
	uint32_t slot, slots;

	*sum = (struct mtag_heap_cell){0};
	if (!mtag__view.mode || tag >= MTAG_HEAP_TAGS)
		return -ENOENT;
	slots = __atomic_load_n(&mtag__view.head->slots_used, __ATOMIC_ACQUIRE);
	for (slot = 0; slot < slots; slot++)
		add_cell(sum, mtag__view.cells + (uint64_t)slot * MTAG_HEAP_TAGS + tag);
	return 0;
}
