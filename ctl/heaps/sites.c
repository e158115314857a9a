// SPDX-License-Identifier: GPL-2.0
/*
 * The heap by call stack. A process notes the stack of each sampled object by a number, and may note anything: a number
 * that the kernel has not told it means no stack.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "ctl.h"
#include "heaps/sites.h"

#define ENTRY_MOST 4 /* frames of the C library between the module and the heap view's library */

/**
 * struct excess - of a tag whose bytes are counted: how much more there is than samples tell
 * @variance:	of @asked, as samples tell it
 * @asked:	for each of @variance, so that what is known for sure stays; all of it if there is no variance
 * @objects_variance: likewise
 * @objects:	likewise
 * @allocated:	counted bytes for each sampled one
 */
struct excess {
	double variance, asked, objects_variance, objects, allocated;
};

struct sites {
	const struct heap_objects *objects;
	const struct heap_object **sorted; /* by tag and number */
	size_t n;
	struct excess *excess; /* by tag */
};

static void sites_clear(struct sites *sites)
{
	free(sites->sorted);
	free(sites->excess);
}

bool heap_sites_known(const struct heap_objects *objects)
{
	for (size_t i = 0; i < objects->n_objects; i++)
		if (objects->objects[i].stack)
			return true;
	return false;
}

/* ---- objects ---- */

static int by_site(const void *a, const void *b)
{
	const struct heap_object *x = *(const struct heap_object *const *)a;
	const struct heap_object *y = *(const struct heap_object *const *)b;

	if (x->tag != y->tag)
		return x->tag < y->tag ? -1 : 1;
	return (x->stack > y->stack) - (x->stack < y->stack);
}

static bool same_site(const struct heap_object *x, const struct heap_object *y)
{
	return x->tag == y->tag && x->stack == y->stack;
}

/* When what is @older was allocated, or before. Times are of CLOCK_MONOTONIC. */
static uint64_t limit_of(uint32_t older)
{
	struct timespec now;

	if (!older || clock_gettime(CLOCK_MONOTONIC, &now))
		return UINT64_MAX;
	return now.tv_sec < older
		       ? 0
		       : ((uint64_t)now.tv_sec - older) * NSEC_PER_SEC + (uint64_t)now.tv_nsec;
}

static int sort_objects(struct sites *sites, uint32_t older)
{
	const struct heap_objects *objects = sites->objects;
	uint64_t limit = limit_of(older);

	sites->sorted = calloc(objects->n_objects + 1, sizeof(*sites->sorted));
	if (!sites->sorted)
		return -ENOMEM;
	for (size_t i = 0; i < objects->n_objects; i++)
		if (objects->objects[i].time <= limit)
			sites->sorted[sites->n++] = &objects->objects[i];
	if (sites->n)
		qsort(sites->sorted, sites->n, sizeof(*sites->sorted), by_site);
	return 0;
}

static double ratio(double a, double b)
{
	return b > 0 ? a / b : 0;
}

static double variance_of(const struct heap_object *object, double value)
{
	return object->weight * (object->weight - 1) * value * value;
}

/* Of a tag whose bytes are sampled there is none. */
static int find_excess(struct sites *sites)
{
	const struct heap_objects *objects = sites->objects;
	bool exact = objects->head.mode == MTAG_HEAP_EXACT;

	sites->excess = calloc(objects->n_tags + 1, sizeof(*sites->excess));
	if (!sites->excess)
		return -ENOMEM;
	for (size_t i = 0; i < objects->n_objects && exact; i++) {
		const struct heap_object *object = &objects->objects[i];
		struct excess *of = &sites->excess[object->tag];

		of->asked -= object->weight * (double)object->asked;
		of->objects -= object->weight;
		of->variance += variance_of(object, (double)object->asked);
		of->objects_variance += variance_of(object, 1);
	}
	for (size_t i = 0; i < objects->n_tags; i++) {
		const struct heap_sum *sum = &objects->sums[i];
		struct excess *of = &sites->excess[i];

		of->allocated = exact ? ratio(sum->allocated, sum->sampled) : 1;
		of->asked += exact ? sum->asked : 0;
		of->objects += exact ? sum->objects : 0;
		of->asked /= of->variance > 0 ? of->variance : 1;
		of->objects /= of->objects_variance > 0 ? of->objects_variance : 1;
	}
	return 0;
}

static void sum_object(struct stack_heap *sum, const struct heap_object *object,
		       const struct excess *of)
{
	double asked = (double)object->asked, variance = variance_of(object, asked);

	sum->asked += object->weight * asked + variance * of->asked;
	sum->variance += variance;
	sum->objects += object->weight + variance_of(object, 1) * of->objects;
	sum->resident += object->weight * (double)object->resident * of->allocated;
}

/* ---- stacks ---- */

static int by_number(const void *a, const void *b)
{
	const struct trace *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

/* NULL: it is no stack, or nobody knows which. */
static const struct trace *find_named(const struct traces *traces, uint32_t number)
{
	const struct trace like = {.number = number};

	return traces->n_named ? bsearch(&like, traces->named, traces->n_named,
					 sizeof(*traces->named), by_number)
			       : NULL;
}

static bool is_ours(const struct traces *traces, const struct mtag_stack_frame *frame)
{
	static const char name[] = "libmtag-heap.so";
	const struct trace_image *image = traces_image(traces, frame->image);

	return image && !strncmp(trace_image_name(image), name, strlen(name));
}

/* The innermost frames up to where the program calls malloc(): they are the same of all objects. */
static size_t inner_frames(const struct traces *traces, const struct trace *trace)
{
	size_t i = 0, n;

	while (i < trace->n && i < ENTRY_MOST && !is_ours(traces, &trace->frames[i]))
		i++;
	for (n = i; n < trace->n && is_ours(traces, &trace->frames[n]);)
		n++;
	/* A walk that has not come further shows where it has ended. */
	return n > i && n < trace->n ? n : 0;
}

static int add_trace(struct traces *traces, uint32_t tag, uint32_t number,
		     const struct stack_heap *sum)
{
	const struct trace *named = find_named(traces, number);
	size_t inner = named ? inner_frames(traces, named) : 0;
	struct trace *trace =
		named ? traces_add_like(traces, named, inner) : traces_add(traces, NULL, 0);

	if (!trace)
		return -ENOMEM;
	trace->tag = (uint16_t)tag;
	trace->kind = named ? MTAG_STACK_TAKEN : MTAG_STACK_NONE;
	trace->why = named ? named->why : 0;
	trace->knows_touched = true;
	trace->heap = *sum;
	return 0;
}

/* What is counted of tags without a sample, or all of whose samples stand for themselves alone. */
static int add_unsampled(const struct sites *sites, struct traces *traces)
{
	for (size_t i = 0; i < sites->objects->n_tags; i++) {
		const struct heap_sum *sum = &sites->objects->sums[i];
		const struct excess *of = &sites->excess[i];
		const struct stack_heap heap = {.asked = of->asked,
						.objects = of->objects,
						.resident = sum->sampled > 0 ? 0 : sum->allocated};

		if (of->variance > 0 || !(of->asked > 0))
			continue;
		if (add_trace(traces, (uint32_t)i, 0, &heap))
			return -ENOMEM;
		traces->traces[traces->n - 1].kind = MTAG_STACK_UNSAMPLED;
	}
	return 0;
}

static int add_sites(const struct sites *sites, struct traces *traces)
{
	for (size_t i = 0, end; i < sites->n; i = end) {
		const struct heap_object *first = sites->sorted[i];
		const struct excess *of = &sites->excess[first->tag];
		struct stack_heap sum = {0};

		for (end = i; end < sites->n && same_site(sites->sorted[end], first); end++)
			sum_object(&sum, sites->sorted[end], of);
		if (add_trace(traces, first->tag, first->stack, &sum))
			return -ENOMEM;
	}
	return 0;
}

int heap_sites_add(const struct heap_objects *objects, uint32_t older, struct traces *traces)
{
	_cleanup_(sites_clear) struct sites sites = {.objects = objects};
	int err = sort_objects(&sites, older);

	if (traces->n_named)
		qsort(traces->named, traces->n_named, sizeof(*traces->named), by_number);
	err = err ? err : find_excess(&sites);
	err = err ? err : add_sites(&sites, traces);
	if (!err && !older)
		err = add_unsampled(&sites, traces);
	traces->heap = true;
	return err;
}
