/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MTAG_LIB_HEAP_TABLE_H
#define MTAG_LIB_HEAP_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "area.h"

/* Bytes that a table needs behind the records: its indices, of all sizes that it may grow through. */
#define MTAG__TABLE_INDEX_BYTES(max) ((uint64_t)(max)*4 * sizeof(uint32_t))

/**
 * struct mtag__table - the samples, by address
 * @records: those of the area
 * @used: the head's @samples_used
 * @max: room for so many, a power of two
 * @indices: MTAG__TABLE_INDEX_BYTES(@max) of zeros
 * @free: the first of the list of free records, plus one; 0: none. They are linked by @asked
 * @alive: records with an object
 * @size: slots of the current index, a power of two; 0 at first
 * @sequence: of the record written last
 *
 * No function here locks, allocates or makes a system call, except to give back an index that was
 * outgrown. All are for one thread at a time.
 */
struct mtag__table {
	struct mtag_heap_sample *records;
	uint32_t *used;
	uint32_t max;
	uint32_t *indices;
	uint32_t free;
	uint32_t alive;
	uint32_t size;
	uint32_t sequence;
};

/*
 * Adds a sample. One that is there under the same address goes, into @old; if there is none, @old's address
 * is 0. Returns false if there is no room.
 */
bool mtag__table_add(struct mtag__table *table, const struct mtag_heap_sample *sample,
		     struct mtag_heap_sample *old);

/* Takes a sample out, into @sample. Returns false if there is none of this address. */
bool mtag__table_take(struct mtag__table *table, uint64_t address, struct mtag_heap_sample *sample);

/*
 * Makes a table whole again that another thread was changing, which does not exist any more: by its
 * records. Those that were only half written are gone.
 */
void mtag__table_mend(struct mtag__table *table);

#endif
