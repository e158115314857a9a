/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What libmtag-heap keeps in the memory of its process, and mtagctl reads there.
 *
 * The area is one private anonymous mapping, which the library registers with the module. A reader
 * gets pieces of it by copies that are not atomic, while the process goes on: it must take nothing
 * in it for granted. mtag_heap_head_good() tells whether the head can be used at all; samples and
 * the allocator's figures carry a check, and what does not match is read again or left out.
 *
 *	head      a page
 *	cells     @slots times @cell_tags cells: slot s, tag t at index s * @cell_tags + t
 *	samples   @samples_max records, in no order, with gaps
 *	…         the library's own
 *
 * All but the head is sparse. A reader takes the cells of the tags that the module lists, of the
 * first @slots_used slots, and the first @samples_used records.
 *
 * A forked child has a copy of the area, at the same address, and goes on with it.
 */
#ifndef MTAG_LIB_HEAP_AREA_H
#define MTAG_LIB_HEAP_AREA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MTAG_HEAP_MAGIC	    UINT64_C(0x706165486761746d) /* "mtagHeap" */
#define MTAG_HEAP_VERSION   1

#define MTAG_HEAP_TAGS	    65536     /* cells of a slot: all that a 16-bit tag can be */
#define MTAG_HEAP_SLOTS	    1024      /* at most */
#define MTAG_HEAP_SAMPLES   (1 << 20) /* at most */
#define MTAG_HEAP_AREA_MAX  (UINT64_C(1) << 33)
#define MTAG_HEAP_HEAD_SIZE 4096

enum mtag_heap_mode {
	MTAG_HEAP_SAMPLED = 1, /* what is alive: the sum over samples. Cells have estimates */
	MTAG_HEAP_EXACT = 2,   /* what is alive: the sum over cells. Samples say where it is */
};

/**
 * struct mtag_heap_cell - what threads did under one tag, since the process began
 * @asked_in: bytes asked of the allocator
 * @allocated_in: bytes that these could have used, malloc_usable_size()
 * @objects_in: allocations
 * @asked_out: the same of what was freed; by its owner's tag, in the slot of the thread that freed
 * @allocated_out:
 * @objects_out:
 *
 * What is alive of a tag is in - out, summed over all slots modulo 2^64; of one slot it may be
 * negative. Threads that ended leave their counts in the slot, and the next thread goes on there.
 *
 * Slot 0 is that of all threads that have none. If the mode is MTAG_HEAP_SAMPLED it is the only
 * one, and its numbers are estimates.
 */
struct mtag_heap_cell {
	uint64_t asked_in;
	uint64_t allocated_in;
	uint64_t objects_in;
	uint64_t asked_out;
	uint64_t allocated_out;
	uint64_t objects_out;
	uint64_t reserved[2];
};

/**
 * struct mtag_heap_sample - an object that is alive, and was sampled
 * @address: of the object, as the program knows it; 0: this record is free
 * @asked: bytes
 * @allocated: bytes, malloc_usable_size(), at least @asked
 * @time: nanoseconds of the clock of @clock
 * @weight: so many objects it stands for, times 2^MTAG_HEAP_WEIGHT_SHIFT; never less than one
 * @tag: the tag that owns it, 16 bits
 * @stack: the number of the stack that allocated it first, as MTAG_IOC_HEAP told it; 0: no stacks
 *	were taken; MTAG_HEAP_NO_STACK: there was no room for it
 * @sequence: differs between two objects in the same record
 * @check: mtag_heap_check()
 *
 * The chance p that an object is sampled is 1 - exp(-(@asked + 32) / @period), and its weight is 1 / p;
 * realloc() changes the weight so that sums stay right on average.
 * An estimate of any sum over objects is the sum over samples of weight times value; its variance
 * that of weight * (weight - 1) times value squared.
 */
struct mtag_heap_sample {
	uint64_t address;
	uint64_t asked;
	uint64_t allocated;
	uint64_t time;
	uint64_t weight;
	uint64_t reserved;
	uint32_t tag;
	uint32_t stack;
	uint32_t sequence;
	uint32_t check;
};

#define MTAG_HEAP_WEIGHT_SHIFT 32

/**
 * struct mtag_heap_figures - what the allocator says of itself
 * @time: when it was asked; 0: never, and all others are 0
 * @mapped: bytes that it has from the kernel, touched or not
 * @used: bytes within allocations, by its own count
 * @retained: bytes that it keeps for later: free, and not given back to the kernel
 * @metadata: bytes that it needs for itself
 * @cost: nanoseconds that it worked to answer
 * @known: MTAG_HEAP_KNOWS_*: which of these it tells; the others are 0
 * @sequence: differs between two answers
 * @check: mtag_heap_check()
 */
struct mtag_heap_figures {
	uint64_t time;
	uint64_t mapped;
	uint64_t used;
	uint64_t retained;
	uint64_t metadata;
	uint64_t cost;
	uint64_t known;
	uint32_t sequence;
	uint32_t check;
};

#define MTAG_HEAP_KNOWS_MAPPED	 0x1
#define MTAG_HEAP_KNOWS_USED	 0x2
#define MTAG_HEAP_KNOWS_RETAINED 0x4
#define MTAG_HEAP_KNOWS_METADATA 0x8

/*
 * The program has a malloc() of its own before the library's: its objects come by only if it calls
 * that in turn.
 */
#define MTAG_HEAP_BYPASSED 0x1

/**
 * struct mtag_heap_head - the first page of the area
 * @magic: MTAG_HEAP_MAGIC; written last
 * @version: MTAG_HEAP_VERSION; of another one nothing behind @head_bytes is known
 * @head_bytes: sizeof(struct mtag_heap_head)
 * @area_bytes: as registered
 * @mode: enum mtag_heap_mode
 * @wanted: the mode that was asked for; if it is another one, @reason says why
 * @period: the mean distance of samples, bytes
 * @begun: when the library was loaded, nanoseconds of @clock
 * @clock: of times in the area: CLOCK_MONOTONIC
 * @pid: the process, in its own pid namespace
 * @cells_at: where the cells begin, bytes from the head
 * @cell_bytes: sizeof(struct mtag_heap_cell)
 * @cell_tags: cells of a slot
 * @slots: slots that there is room for
 * @slots_used: so many were ever used
 * @samples_at: where the samples begin, bytes from the head
 * @sample_bytes: sizeof(struct mtag_heap_sample)
 * @samples_max: records that there is room for
 * @samples_used: so many were ever used
 * @flags: MTAG_HEAP_BYPASSED
 * @samples_lost: objects that should have been sampled, and were not: estimates are too low
 * @seen: allocations of which the library took notice: 0: none has come its way
 * @damaged: if the mode is exact: objects that were freed with their note of size and owner
 *	overwritten; cells have them as alive for ever
 * @allocator: its name: "glibc", "jemalloc", "tcmalloc", "mimalloc", or the file that has it;
 *	text ends at the first NUL or the end of the field, and may hold anything
 * @reason: why the mode is not the one that was asked for, a sentence; may be empty
 * @figures: what the allocator said of itself
 */
struct mtag_heap_head {
	uint64_t magic;
	uint32_t version;
	uint32_t head_bytes;
	uint64_t area_bytes;
	uint32_t mode;
	uint32_t wanted;
	uint64_t period;
	uint64_t begun;
	uint32_t clock;
	uint32_t pid;
	uint64_t cells_at;
	uint32_t cell_bytes;
	uint32_t cell_tags;
	uint32_t slots;
	uint32_t slots_used;
	uint64_t samples_at;
	uint32_t sample_bytes;
	uint32_t samples_max;
	uint32_t samples_used;
	uint32_t flags;
	uint64_t samples_lost;
	uint64_t seen;
	uint64_t damaged;
	char allocator[64];
	char reason[128];
	struct mtag_heap_figures figures;
};

_Static_assert(sizeof(struct mtag_heap_cell) == 64, "the layout is a contract");
_Static_assert(sizeof(struct mtag_heap_sample) == 64, "the layout is a contract");
_Static_assert(sizeof(struct mtag_heap_figures) == 64, "the layout is a contract");
_Static_assert(sizeof(struct mtag_heap_head) == 384, "the layout is a contract");

/* The check of a sample or of figures: of all that stands before @check, its last member. */
static inline uint32_t mtag_heap_check(const void *record)
{
	const unsigned char *at = (const unsigned char *)record;
	uint64_t sum = UINT64_C(0x9e3779b97f4a7c15), word;
	unsigned i;

	for (i = 0; i < 8; i++) {
		__builtin_memcpy(&word, at + 8 * i, 8);
		if (i == 7)
			word &= UINT64_C(0xffffffff);
		sum = (sum ^ word) * UINT64_C(0xff51afd7ed558ccd);
		sum ^= sum >> 32;
	}
	return (uint32_t)sum;
}

/* A part of the area: @n elements of @bytes from @at on. */
static inline bool mtag_heap_part_good(uint64_t area, uint64_t at, uint64_t n, uint64_t bytes)
{
	return at >= MTAG_HEAP_HEAD_SIZE && at % 8 == 0 && at <= area && n * bytes <= area - at;
}

/* Is this copy of a head, of an area registered with @length bytes, one that can be relied on? */
static inline bool mtag_heap_head_good(const struct mtag_heap_head *head, uint64_t length)
{
	return head->magic == MTAG_HEAP_MAGIC && head->version == MTAG_HEAP_VERSION &&
	       head->head_bytes == sizeof(*head) && head->area_bytes == length &&
	       length <= MTAG_HEAP_AREA_MAX &&
	       (head->mode == MTAG_HEAP_SAMPLED || head->mode == MTAG_HEAP_EXACT) && head->period &&
	       head->cell_bytes == sizeof(struct mtag_heap_cell) &&
	       head->sample_bytes == sizeof(struct mtag_heap_sample) &&
	       head->cell_tags == MTAG_HEAP_TAGS && head->slots && head->slots <= MTAG_HEAP_SLOTS &&
	       head->slots_used <= head->slots && head->samples_max <= MTAG_HEAP_SAMPLES &&
	       head->samples_used <= head->samples_max &&
	       mtag_heap_part_good(length, head->cells_at, (uint64_t)head->slots * head->cell_tags,
				   head->cell_bytes) &&
	       mtag_heap_part_good(length, head->samples_at, head->samples_max, head->sample_bytes);
}

/* Is this copy of a record that of one object, complete? The caller has seen that it is not free. */
static inline bool mtag_heap_sample_good(const struct mtag_heap_sample *sample)
{
	return sample->address && sample->check == mtag_heap_check(sample) &&
	       sample->tag < MTAG_HEAP_TAGS && sample->asked <= sample->allocated &&
	       sample->weight >= UINT64_C(1) << MTAG_HEAP_WEIGHT_SHIFT;
}

#endif
