// SPDX-License-Identifier: GPL-2.0
/*
 * Which anonymous memory is the allocator's: by the objects in it, and by what glibc notes at the
 * beginning of each heap. And which is stacks: the kernel may have made one mapping of a stack and
 * what lies above it, so that of a mapping with objects in it only the surroundings of a stack
 * pointer are a stack.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "heaps/parts.h"

/* glibc's heaps but that at the break begin at such an address, and have no more bytes. */
#define GLIBC_HEAP (UINT64_C(64) << 20)
/*
 * So many pages are looked at for that, for a terabyte of heaps; more are a process's that wants to
 * be a burden.
 */
#define LOOKS_MOST (1U << 14)

/**
 * struct search - the state of one
 * @n_heaps:	spans that are glibc's heaps; they come first
 * @looks:	pages that may still be looked at
 */
struct search {
	const struct heap_parts *parts;
	struct heap_spans *spans;
	size_t n_heaps;
	unsigned int looks;
};

void heap_spans_clear(struct heap_spans *spans)
{
	free(spans->spans);
	*spans = (struct heap_spans){0};
}

static int add_span(struct heap_spans *spans, uint64_t start, uint64_t end, enum heap_kind kind)
{
	struct heap_span *more =
		array_grow(spans->spans, spans->n, &spans->room, sizeof(*spans->spans));

	if (!more)
		return -ENOMEM;
	spans->spans = more;
	spans->spans[spans->n++] = (struct heap_span){start, end, kind};
	return 0;
}

static uint64_t page_down(uint64_t address)
{
	return address & ~(PAGE_BYTES - 1);
}

static uint64_t page_up(uint64_t address)
{
	return page_down(address + PAGE_BYTES - 1);
}

/* ---- glibc's heaps ---- */

/**
 * struct note - how glibc's struct heap_info begins, at the beginning of each heap
 * @arena:	address of the arena that has it, which is in its first heap, behind the note
 * @previous:	the heap that the arena had before; 0: none
 * @size:	bytes in use
 * @writable:	bytes that ever were
 */
struct note {
	uint64_t arena;
	uint64_t previous;
	uint64_t size;
	uint64_t writable;
};

enum answer { NO, YES, UNKNOWN };

/*
 * Only from a page that is there: to read must not bring one in. NO: nobody ever wrote one;
 * UNKNOWN: it cannot be read.
 */
static enum answer read_note(struct search *search, uint64_t heap, struct note *note)
{
	const struct heap_pages *pages = &search->parts->pages;
	const struct heap_memory *memory = &search->parts->memory;
	uint32_t page = 0;

	if (!search->looks)
		return NO;
	search->looks--;
	if (pages->look(pages->arg, heap, heap + PAGE_BYTES, &page) || page & MTAG_OWNER_SWAP)
		return UNKNOWN;
	if (!(page & MTAG_OWNER_PRESENT))
		return NO;
	return memory->read && !memory->read(memory->arg, heap, note, sizeof(*note)) ? YES
										     : UNKNOWN;
}

/*
 * Does the heap at this address say, too, that it is of the arena? So does one that cannot be read.
 */
static bool agrees(struct search *search, uint64_t heap, uint64_t arena)
{
	struct note note;
	enum answer answer = read_note(search, heap, &note);

	return answer == UNKNOWN || (answer == YES && note.arena == arena);
}

static bool is_note(struct search *search, uint64_t heap, const struct note *note)
{
	uint64_t first = note->arena & ~(GLIBC_HEAP - 1), behind = note->arena - first;

	if (!note->size || note->size > note->writable || note->writable > GLIBC_HEAP ||
	    (note->size | note->writable) % PAGE_BYTES || behind < sizeof(*note) ||
	    behind >= PAGE_BYTES || behind % 16 || note->previous % GLIBC_HEAP)
		return false;
	if (first == heap)
		return !note->previous;
	return note->previous && note->previous != heap && agrees(search, first, note->arena) &&
	       agrees(search, note->previous, note->arena);
}

/* Without a note, what has the shape of one. */
static bool is_heap(struct search *search, const struct heap_map *map, uint64_t start)
{
	struct note note;
	enum answer answer = read_note(search, start, &note);

	if (answer == UNKNOWN)
		return start == map->start && map->end - map->start <= GLIBC_HEAP;
	return answer == YES && is_note(search, start, &note);
}

/* Heaps that lie side by side, or behind other memory, can be one mapping. */
static int find_heaps(struct search *search, const struct heap_map *map)
{
	uint64_t at = (map->start + GLIBC_HEAP - 1) & ~(GLIBC_HEAP - 1);
	int err = 0;

	for (; at < map->end && !err; at += GLIBC_HEAP) {
		uint64_t left = map->end - at;

		if (is_heap(search, map, at))
			err = add_span(search->spans, at,
				       at + (left < GLIBC_HEAP ? left : GLIBC_HEAP), HEAP_MALLOC);
	}
	return err;
}

/* ---- stacks ---- */

/**
 * struct room - what is around a stack pointer, and known to be no stack
 * @below:	the end of it; 0: nothing, in this mapping
 * @above:	where it begins
 * @taken:	the stack pointer is in it: a stack that was allocated
 */
struct room {
	uint64_t below;
	uint64_t above;
	bool taken;
};

static void leave_out(struct room *room, uint64_t pointer, uint64_t start, uint64_t end)
{
	if (end <= pointer)
		room->below = end > room->below ? end : room->below;
	else if (start > pointer)
		room->above = start < room->above ? start : room->above;
	else
		room->taken = true;
}

/* The first object that does not end before @address. */
static size_t object_at(const struct heap_objects *objects, uint64_t address)
{
	size_t low = 0, high = objects->n_objects;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (objects->objects[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Likewise of glibc's heaps. */
static size_t heap_at(const struct search *search, uint64_t address)
{
	size_t low = 0, high = search->n_heaps;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (search->spans->spans[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The nearest objects and heaps of a mapping on both sides. */
static struct room room_of(const struct search *search, const struct heap_map *map,
			   uint64_t pointer)
{
	const struct heap_objects *objects = search->parts->objects;
	struct room room = {.above = map->end};
	size_t object = object_at(objects, pointer), heap = heap_at(search, pointer);

	for (size_t i = object ? object - 1 : 0; i < objects->n_objects && i <= object; i++)
		if (objects->objects[i].end > map->start)
			leave_out(&room, pointer, objects->objects[i].address,
				  objects->objects[i].end);
	for (size_t i = heap ? heap - 1 : 0; i < search->n_heaps && i <= heap; i++)
		if (search->spans->spans[i].end > map->start)
			leave_out(&room, pointer, search->spans->spans[i].start,
				  search->spans->spans[i].end);
	return room;
}

/*
 * A stack ends at what is known to be none, which lies above it in the same mapping. It begins with
 * the mapping, as stacks have a guard below them; or with the page of its pointer, if something
 * else is below. What is not known, as no object of it was sampled, is taken for a part of the
 * stack.
 */
static int find_stack(const struct search *search, uint64_t pointer)
{
	struct heap_map *map = heap_maps_find(search->parts->maps, pointer);
	struct room room;
	uint64_t start, end;

	if (!map || map->kind != HEAP_OTHER)
		return 0;
	room = room_of(search, map, pointer);
	if (room.taken)
		return 0;
	if (!room.below && room.above == map->end) {
		map->kind = HEAP_STACK;
		return 0;
	}
	start = room.below ? page_down(pointer) : map->start;
	if (page_up(room.below) > start)
		start = page_up(room.below);
	end = page_down(room.above);
	return start < end ? add_span(search->spans, start, end, HEAP_STACK) : 0;
}

static int by_start(const void *a, const void *b)
{
	const struct heap_span *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Two stack pointers may have led to the same stack, or one to a part of it. */
static void sort_spans(struct heap_spans *spans)
{
	size_t n = 0;

	if (spans->n)
		qsort(spans->spans, spans->n, sizeof(*spans->spans), by_start);
	for (size_t i = 0; i < spans->n; i++) {
		struct heap_span span = spans->spans[i];

		if (n && span.start < spans->spans[n - 1].end)
			span.start = spans->spans[n - 1].end;
		if (span.start < span.end)
			spans->spans[n++] = span;
	}
	spans->n = n;
}

/* ---- all of it ---- */

static bool may_be_heap(const struct heap_map *map)
{
	return (map->kind == HEAP_OTHER || map->kind == HEAP_SHARED) &&
	       map->end - map->start <= HEAP_MOST;
}

static void find_by_objects(const struct heap_parts *parts)
{
	const struct heap_objects *objects = parts->objects;

	for (size_t i = 0; i < objects->n_objects; i++) {
		struct heap_map *map = heap_maps_find(parts->maps, objects->objects[i].address);

		if (map && may_be_heap(map))
			map->kind = HEAP_MALLOC;
	}
}

int heap_parts_find(const struct heap_parts *parts, struct heap_spans *spans)
{
	struct search search = {.parts = parts, .spans = spans, .looks = LOOKS_MOST};
	bool glibc = !strcmp(parts->objects->head.allocator, "glibc");
	int err = 0;

	for (size_t i = 0; glibc && i < parts->maps->n && !err; i++) {
		const struct heap_map *map = &parts->maps->maps[i];

		if (map->kind == HEAP_OTHER && map->rss)
			err = find_heaps(&search, map);
	}
	search.n_heaps = spans->n;
	for (size_t i = 0; i < parts->maps->n_stacks && !err; i++)
		err = find_stack(&search, parts->maps->stacks[i]);
	sort_spans(spans);
	find_by_objects(parts);
	return err;
}
