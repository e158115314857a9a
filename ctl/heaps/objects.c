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

#define TRIES 3
#define BATCH 4096U /* samples that are read at once */

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
 * Overlapping objects cannot both be alive: the older one was freed, either while we read or unnoticed by the library.
 * Drop it, or one large object would hide everything allocated in its place. Sequence numbers wrap.
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
	}
}

/* What is alive, of counters that were not read at one moment: a little less than nothing is nothing. */
static double alive(uint64_t bytes)
{
	int64_t left = (int64_t)bytes;

	return left > 0 ? (double)left : 0;
}

/* Adds up the cells of all slots, modulo 2^64. */
static int sum_cells(const struct heap_source *source, struct heap_objects *objects)
{
	const struct mtag_heap_head *head = &objects->head;
	size_t n = objects->n_tags < head->cell_tags ? objects->n_tags : head->cell_tags;
	_cleanup_(freep) struct mtag_heap_cell *row = calloc(n, sizeof(*row));
	_cleanup_(freep) struct mtag_heap_cell *all = calloc(n, sizeof(*all));
	int err = row && all ? 0 : -ENOMEM;

	for (uint32_t slot = 0; slot < head->slots_used && !err; slot++) {
		uint64_t at = head->cells_at + (uint64_t)slot * head->cell_tags * sizeof(*row);

		err = source->read(source->arg, at, row, n * sizeof(*row));
		for (size_t i = 0; i < n && !err; i++) {
			all[i].asked_in += row[i].asked_in - row[i].asked_out;
			all[i].allocated_in += row[i].allocated_in - row[i].allocated_out;
			all[i].objects_in += row[i].objects_in - row[i].objects_out;
		}
	}
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
