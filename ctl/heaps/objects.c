// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the area of a heap view, by copies that are not atomic, of a process that goes on, and that may have written
 * anything there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "heaps/objects.h"
#include "uapi/linux/mtag.h"

#define TRIES 3
#define BATCH 4096U /* samples that are read at once */
/*
 * Of cells that are there no more bytes are read: it would be too much for who reads all processes
 * again and again.
 */
#define CELLS_MOST (UINT64_C(256) << 20)

void heap_objects_clear(struct heap_objects *objects)
{
	free(objects->objects);
	free(objects->sums);
	*objects = (struct heap_objects){0};
}

static int read_head(const struct heap_source *source, struct mtag_heap_head *head)
{
	int err = source->length < sizeof(*head) ? -EBADMSG : 0;

	for (int i = 0; i < TRIES && !err; i++) {
		err = source->read(source->arg, 0, head, sizeof(*head));
		if (!err && mtag_heap_head_good(head, source->length)) {
			if (head->figures.check == mtag_heap_check(&head->figures))
				break;
			/* The next try may find it whole. */
			head->figures = (struct mtag_heap_figures){0};
		} else if (!err && i + 1 == TRIES) {
			err = -EBADMSG;
		}
	}
	head->allocator[sizeof(head->allocator) - 1] = '\0';
	head->reason[sizeof(head->reason) - 1] = '\0';
	return err;
}

/* ---- samples ---- */

/* A sample that was being written is read again. False if it is none, or stays torn. */
static bool settled(const struct heap_source *source, uint64_t at, struct mtag_heap_sample *sample,
		    struct heap_objects *objects)
{
	for (int i = 0; sample->address && !mtag_heap_sample_good(sample); i++) {
		if (i == TRIES || source->read(source->arg, at, sample, sizeof(*sample))) {
			objects->skipped++;
			objects->torn++;
			return false;
		}
	}
	return sample->address;
}

static void add_object(struct heap_objects *objects, const struct mtag_heap_sample *sample)
{
	/* An object that ends behind all addresses is cut, for lack of anything better. */
	uint64_t room = UINT64_MAX - sample->address;

	objects->objects[objects->n_objects++] = (struct heap_object){
		.address = sample->address,
		.end = sample->address + (sample->allocated < room ? sample->allocated : room),
		.asked = sample->asked,
		.weight = (double)sample->weight / (double)(UINT64_C(1) << MTAG_HEAP_WEIGHT_SHIFT),
		.tag = sample->tag < objects->n_tags ? sample->tag : 0,
		.stack = sample->stack,
		.time = sample->time,
		.sequence = sample->sequence,
	};
}

static int read_samples(const struct heap_source *source, struct heap_objects *objects)
{
	const struct mtag_heap_head *head = &objects->head;
	_cleanup_(freep) struct mtag_heap_sample *batch = calloc(BATCH, sizeof(*batch));
	int err = 0;

	objects->objects = calloc((size_t)head->samples_used + 1, sizeof(*objects->objects));
	if (!batch || !objects->objects)
		return -ENOMEM;
	for (uint32_t done = 0; done < head->samples_used && !err; done += BATCH) {
		uint32_t left = head->samples_used - done, n = left < BATCH ? left : BATCH;
		uint64_t at = head->samples_at + (uint64_t)done * sizeof(*batch);

		err = source->read(source->arg, at, batch, n * sizeof(*batch));
		for (uint32_t i = 0; i < n && !err; i++)
			if (settled(source, at + i * sizeof(*batch), &batch[i], objects))
				add_object(objects, &batch[i]);
	}
	return err;
}

static int by_address(const void *a, const void *b)
{
	const struct heap_object *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/*
 * Overlapping objects cannot both be alive: the older one was freed, either while we read or
 * unnoticed by the library. Drop it, or one large object would hide everything allocated in its
 * place. Sequence numbers wrap.
 */
static void drop_overlaps(struct heap_objects *objects)
{
	struct heap_object *kept = objects->objects;
	size_t n = 0;

	qsort(objects->objects, objects->n_objects, sizeof(*objects->objects), by_address);
	for (size_t i = 0; i < objects->n_objects; i++) {
		const struct heap_object object = objects->objects[i];

		while (n && object.address < kept[n - 1].end &&
		       (int32_t)(object.sequence - kept[n - 1].sequence) > 0)
			n--;
		if (!n || object.address >= kept[n - 1].end)
			kept[n++] = object;
	}
	objects->skipped += objects->n_objects - n;
	objects->n_objects = n;
}

/* ---- sums ---- */

static void sum_samples(struct heap_objects *objects)
{
	bool exact = objects->head.mode == MTAG_HEAP_EXACT;

	for (size_t i = 0; i < objects->n_objects; i++) {
		const struct heap_object *object = &objects->objects[i];
		struct heap_sum *sum = &objects->sums[object->tag];
		double asked = (double)object->asked,
		       allocated = (double)(object->end - object->address);

		sum->sampled += object->weight * allocated;
		if (exact)
			continue;
		sum->asked += object->weight * asked;
		sum->allocated += object->weight * allocated;
		sum->objects += object->weight;
		sum->variance += object->weight * (object->weight - 1) * asked * asked;
		sum->objects_variance += object->weight * (object->weight - 1);
		if (sum->heaviest < object->weight)
			sum->heaviest = object->weight;
	}
}

/* What is alive, of counters that were not read at one moment: a little less than nothing is nothing. */
static double alive(uint64_t bytes)
{
	int64_t left = (int64_t)bytes;

	return left > 0 ? (double)left : 0;
}

/**
 * struct adding - adding up cells
 * @row:	room for those of a slot
 * @all:	the sums
 * @n:		tags
 * @left:	bytes that may still be read
 * @pages:	room for MTAG_OWNERS_MAX
 */
struct adding {
	const struct heap_source *source;
	struct mtag_heap_cell *row, *all;
	size_t n;
	uint64_t left;
	uint32_t *pages;
};

/* Adds the cells of a slot at @at, from one to another. */
static int add_cells(struct adding *adding, uint64_t at, size_t from, size_t to)
{
	struct mtag_heap_cell *row = adding->row, *all = adding->all;
	size_t bytes = (to - from) * sizeof(*row);
	int err;

	if (bytes > adding->left)
		return -EBADMSG;
	adding->left -= bytes;
	err = adding->source->read(adding->source->arg, at + from * sizeof(*row), row + from,
				   bytes);
	for (size_t i = from; i < to && !err; i++) {
		all[i].asked_in += row[i].asked_in - row[i].asked_out;
		all[i].allocated_in += row[i].allocated_in - row[i].allocated_out;
		all[i].objects_in += row[i].objects_in - row[i].objects_out;
	}
	return err;
}

/* Which pages from that of @offset on are there. */
static int look_at(struct adding *adding, uint64_t offset, size_t n)
{
	const struct heap_source *source = adding->source;

	if (source->look)
		return source->look(source->arg, offset & ~(PAGE_BYTES - 1), n, adding->pages);
	for (size_t i = 0; i < n; i++)
		adding->pages[i] = MTAG_OWNER_PRESENT;
	return 0;
}

/* The first cell behind @i that does not lie on the same page. No cell lies on two. */
static size_t next_page(uint64_t at, size_t i, size_t to)
{
	const size_t size = sizeof(struct mtag_heap_cell);
	size_t next = i + (size_t)((PAGE_BYTES - (at + i * size) % PAGE_BYTES) / size);

	return next < to ? next : to;
}

/* Cells of a slot that lie in at most MTAG_OWNERS_MAX pages; what is not there is zeros. */
static int add_there(struct adding *adding, uint64_t at, size_t from, size_t to)
{
	const size_t size = sizeof(struct mtag_heap_cell);
	uint64_t first = (at + from * size) / PAGE_BYTES;
	size_t n = (size_t)((at + to * size - 1) / PAGE_BYTES - first + 1), begun = from;
	int err = look_at(adding, at + from * size, n);

	for (size_t i = from, page = 0; i < to && !err; page++) {
		size_t next = next_page(at, i, to);
		bool there = adding->pages[page] & (MTAG_OWNER_PRESENT | MTAG_OWNER_SWAP);

		if (i > begun && !there)
			err = add_cells(adding, at, begun, i);
		begun = there ? begun : next;
		i = next;
	}
	return err || begun == to ? err : add_cells(adding, at, begun, to);
}

static int add_slot(struct adding *adding, uint64_t at)
{
	const size_t most = (MTAG_OWNERS_MAX - 1) * PAGE_BYTES / sizeof(struct mtag_heap_cell);
	int err = 0;

	for (size_t from = 0; from < adding->n && !err; from += most)
		err = add_there(adding, at, from,
				from + most < adding->n ? from + most : adding->n);
	return err;
}

/* Adds up the cells of all slots, modulo 2^64. Where objects are sampled there is one. */
static int add_slots(struct adding *adding, const struct mtag_heap_head *head)
{
	uint32_t slots = head->slots_used;
	int err = head->cells_at % sizeof(*adding->row) ? -EBADMSG : 0;

	if (head->mode == MTAG_HEAP_SAMPLED && slots > 1)
		slots = 1;
	for (uint32_t slot = 0; slot < slots && !err; slot++)
		err = add_slot(adding, head->cells_at + (uint64_t)slot * head->cell_tags *
								sizeof(*adding->row));
	return err;
}

static int sum_cells(const struct heap_source *source, struct heap_objects *objects)
{
	const struct mtag_heap_head *head = &objects->head;
	size_t n = objects->n_tags < head->cell_tags ? objects->n_tags : head->cell_tags;
	_cleanup_(freep) struct mtag_heap_cell *row = calloc(n, sizeof(*row));
	_cleanup_(freep) struct mtag_heap_cell *all = calloc(n, sizeof(*all));
	_cleanup_(freep) uint32_t *pages = calloc(MTAG_OWNERS_MAX, sizeof(*pages));
	struct adding adding = {source, row, all, n, CELLS_MOST, pages};
	int err = row && all && pages ? add_slots(&adding, head) : -ENOMEM;

	for (size_t i = 0; i < n && !err; i++) {
		objects->sums[i].asked = alive(all[i].asked_in);
		objects->sums[i].allocated = alive(all[i].allocated_in);
		objects->sums[i].objects = alive(all[i].objects_in);
	}
	return err;
}

static int begin(const struct heap_source *source, size_t n_tags, struct heap_objects *objects)
{
	int err = read_head(source, &objects->head);

	if (err)
		return err;
	objects->n_tags = n_tags ? n_tags : 1;
	objects->sums = calloc(objects->n_tags, sizeof(*objects->sums));
	return objects->sums ? 0 : -ENOMEM;
}

int heap_objects_read(const struct heap_source *source, size_t n_tags, struct heap_objects *objects)
{
	int err = begin(source, n_tags, objects);

	if (!err)
		err = read_samples(source, objects);
	if (err)
		return err;
	drop_overlaps(objects);
	sum_samples(objects);
	return objects->head.mode == MTAG_HEAP_EXACT ? sum_cells(source, objects) : 0;
}

int heap_objects_read_sums(const struct heap_source *source, size_t n_tags,
			   struct heap_objects *objects)
{
	int err = begin(source, n_tags, objects);

	return err ? err : sum_cells(source, objects);
}
