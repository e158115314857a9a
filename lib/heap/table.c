// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Samples by address: records in the area, packed so that they touch few pages, and an index of
 * their numbers, hashed with linear probing. The index doubles when it is half full.
 */
#include "table.h"

#include <string.h>
#include <sys/mman.h>

#define FIRST_SIZE  1024
#define PAGE_OF_ALL 4096 /* less than a page of any kernel's is not given back */

/* An index of n slots lies n slots behind the begin: each size has a place of its own. */
static uint32_t *index_of(const struct mtag__table *table)
{
	return table->indices + table->size;
}

static uint32_t home_of(const struct mtag__table *table, uint64_t address)
{
	return (uint32_t)((address >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 40) & (table->size - 1);
}

static struct mtag_heap_sample *record_at(const struct mtag__table *table, uint32_t entry)
{
	return &table->records[entry - 1];
}

/* The slot of the index with this address, or the free one where it belongs. */
static uint32_t find_slot(const struct mtag__table *table, uint64_t address)
{
	uint32_t *index = index_of(table), at = home_of(table, address);

	while (index[at] && record_at(table, index[at])->address != address)
		at = (at + 1) & (table->size - 1);
	return at;
}

/* Closes the gap that slot @at leaves: what stands behind it moves up unless that is past its home. */
static void close_gap(const struct mtag__table *table, uint32_t at)
{
	uint32_t *index = index_of(table), mask = table->size - 1, next = at, home;

	for (;;) {
		next = (next + 1) & mask;
		if (!index[next])
			break;
		home = home_of(table, record_at(table, index[next])->address);
		if (((next - home) & mask) < ((next - at) & mask))
			continue;
		index[at] = index[next];
		at = next;
	}
	index[at] = 0;
}

static void grow(struct mtag__table *table)
{
	uint32_t *old = index_of(table), size = table->size, i;

	table->size = size ? 2 * size : FIRST_SIZE;
	for (i = 0; i < size; i++)
		if (old[i])
			index_of(table)[find_slot(table, record_at(table, old[i])->address)] =
				old[i];
	if (size * sizeof(*old) >= PAGE_OF_ALL)
		madvise(old, size * sizeof(*old), MADV_DONTNEED);
}

/* A record to write to: a free one, or a new one. Returns its number plus one, 0 if there is none. */
static uint32_t get_record(struct mtag__table *table)
{
	uint32_t entry = table->free;

	if (entry) {
		table->free = (uint32_t)record_at(table, entry)->asked;
		return entry;
	}
	if (*table->used == table->max)
		return 0;
	entry = *table->used + 1;
	__atomic_store_n(table->used, entry, __ATOMIC_RELAXED);
	return entry;
}

/* A reader that comes between two stores sees a check that does not match, or a free record. */
static void write_record(struct mtag__table *table, struct mtag_heap_sample *record,
			 const struct mtag_heap_sample *sample)
{
	struct mtag_heap_sample filled = *sample;

	filled.sequence = ++table->sequence;
	filled.check = mtag_heap_check(&filled);
	__atomic_store_n(&record->address, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	memcpy((char *)record + sizeof(record->address), (char *)&filled + sizeof(filled.address),
	       sizeof(filled) - sizeof(filled.address));
	__atomic_store_n(&record->address, filled.address, __ATOMIC_RELEASE);
}

bool mtag__table_add(struct mtag__table *table, const struct mtag_heap_sample *sample,
		     struct mtag_heap_sample *old)
{
	uint32_t at, entry;

	if (2 * table->alive >= table->size && table->size < 2 * table->max)
		grow(table);
	at = find_slot(table, sample->address);
	entry = index_of(table)[at];
	old->address = 0;
	if (entry) {
		*old = *record_at(table, entry);
	} else {
		entry = get_record(table);
		if (!entry)
			return false;
		index_of(table)[at] = entry;
		table->alive++;
	}
	write_record(table, record_at(table, entry), sample);
	return true;
}

bool mtag__table_take(struct mtag__table *table, uint64_t address, struct mtag_heap_sample *sample)
{
	struct mtag_heap_sample *record;
	uint32_t at, entry;

	if (!table->alive)
		return false;
	at = find_slot(table, address);
	entry = index_of(table)[at];
	if (!entry)
		return false;
	close_gap(table, at);
	record = record_at(table, entry);
	*sample = *record;
	__atomic_store_n(&record->address, 0, __ATOMIC_RELAXED);
	record->asked = table->free;
	table->free = entry;
	table->alive--;
	return true;
}

/*
 * Of two records of one address the later one is that of the object which is there. Sequences wrap.
 */
static void mend_record(struct mtag__table *table, uint32_t entry)
{
	struct mtag_heap_sample *record = record_at(table, entry);
	uint32_t at, other;

	if (mtag_heap_sample_good(record)) {
		at = find_slot(table, record->address);
		other = index_of(table)[at];
		if (!other)
			table->alive++;
		if (!other || (int32_t)(record->sequence - record_at(table, other)->sequence) > 0) {
			index_of(table)[at] = entry;
			entry = other;
		}
	}
	if (!entry)
		return;
	record = record_at(table, entry);
	__atomic_store_n(&record->address, 0, __ATOMIC_RELAXED);
	record->asked = table->free;
	table->free = entry;
}

void mtag__table_mend(struct mtag__table *table)
{
	uint32_t entry;

	if (!table->size)
		return;
	memset(index_of(table), 0, table->size * sizeof(uint32_t));
	table->free = 0;
	table->alive = 0;
	for (entry = 1; entry <= *table->used; entry++)
		mend_record(table, entry);
}
