// SPDX-License-Identifier: GPL-2.0
/*
 * Compares samples. What a sample has is looked up in a tree by its names, and nothing else is
 * touched: however many names come and go, a sample costs what it has itself.
 */
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <string.h>

#include "ctl.h"
#include "offline/compare.h"

/* A tag of one process of a sample, or a stack beneath it, which it owns. */
struct item {
	const char *comm, *tag;
	char *stack;
	uint64_t values[DIFF_NR];
	struct diff_heap heap;
};

static int by_name(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int order = strcmp(x->comm, y->comm);

	order = order ? order : strcmp(x->tag, y->tag);
	return order || !x->stack || !y->stack ? order : strcmp(x->stack, y->stack);
}

struct items {
	struct item *items;
	size_t n;
};

static void items_clear(struct items *items)
{
	for (size_t i = 0; i < items->n; i++)
		free(items->items[i].stack);
	free(items->items);
}

static struct diff_heap heap_of(const struct heap_view *view, uint16_t id)
{
	const struct heap_tag *tag = heap_find(view, id);

	if (!tag)
		return (struct diff_heap){.known = view};
	return (struct diff_heap){
		.known = true,
		.asked = tag->asked,
		.variance = (double)tag->error * (double)tag->error,
		.objects = tag->objects,
		.wasted = tag->wasted,
		.guests = tag->account.bytes[TERM_GUESTS],
	};
}

static int list_tags(const struct snap *snap, struct items *items)
{
	static const int counters[DIFF_NR] = {MTAG_C_ANON, MTAG_C_FILE, MTAG_C_SHMEM, MTAG_C_SWAP};
	size_t n = 0;

	for (size_t i = 0; i < snap->n_procs; i++)
		n += snap->procs[i].n_tags;
	items->items = calloc(n + 1, sizeof(*items->items));
	if (!items->items)
		return -ENOMEM;

	for (size_t i = 0; i < snap->n_procs; i++) {
		for (size_t j = 0; j < snap->procs[i].n_tags; j++) {
			const struct tag *tag = &snap->procs[i].tags[j];
			struct item *item = &items->items[items->n++];

			*item = (struct item){.comm = snap->procs[i].comm,
					      .tag = tag->path,
					      .heap = heap_of(snap->procs[i].heap, tag->id)};
			for (size_t part = 0; part < DIFF_NR; part++)
				item->values[part] = tag->c[counters[part]];
		}
	}
	return 0;
}

/* What a stack is called, in any process and build: its functions, outermost first, a line each. NULL without memory. */
static char *stack_key(const struct stack *stack)
{
	char *key = NULL;
	size_t length;
	FILE *out = open_memstream(&key, &length);
	bool good = out;

	if (good && stack->kind != MTAG_STACK_TAKEN)
		fputs(stack_kind(stack), out);
	for (size_t i = 0; i < stack->n && good; i++) {
		_cleanup_(freep) char *name = frame_name(stack->frames[i]);

		good = name && fprintf(out, "%s%s", i ? "\n" : "", name) >= 0;
	}
	if (out && !fclose(out) && good)
		return key;
	free(key);
	return NULL;
}

static int add_stacks(const struct proc *proc, struct items *items)
{
	for (size_t i = 0; proc->stacks && i < proc->stacks->n; i++) {
		const struct stack *stack = &proc->stacks->stacks[i];
		const struct tag *tag = proc_find_tag(proc, stack->tag);
		struct item *item = &items->items[items->n];

		if (!tag)
			continue;
		*item = (struct item){
			.comm = proc->comm, .tag = tag->path, .stack = stack_key(stack)};
		if (!item->stack)
			return -ENOMEM;
		item->values[DIFF_ANON] = stack->anon;
		item->values[DIFF_SWAP] = stack->swap;
		items->n++;
	}
	return 0;
}

static int list_stacks(const struct snap *snap, struct items *items)
{
	size_t n = 0;
	int err = 0;

	for (size_t i = 0; i < snap->n_procs; i++)
		n += snap->procs[i].stacks ? snap->procs[i].stacks->n : 0;
	if (!n)
		return -ENODATA;
	items->items = calloc(n + 1, sizeof(*items->items));
	if (!items->items)
		return -ENOMEM;
	for (size_t i = 0; i < snap->n_procs && !err; i++)
		err = add_stacks(&snap->procs[i], items);
	return err;
}

static void add_heap(struct diff_heap *to, const struct diff_heap *heap)
{
	if (!to->known || !heap->known) {
		*to = (struct diff_heap){0};
		return;
	}
	to->asked += heap->asked;
	to->objects += heap->objects;
	to->wasted += heap->wasted;
	to->guests += heap->guests;
	to->variance += heap->variance;
}

/* Processes of the same name are one, and so are stacks of the same functions. */
static void merge(struct items *items)
{
	struct item *kept = items->items;
	size_t n = 0;

	if (items->n)
		qsort(items->items, items->n, sizeof(*items->items), by_name);
	for (size_t i = 0; i < items->n; i++) {
		struct item *item = &items->items[i];

		if (!n || by_name(&kept[n - 1], item)) {
			kept[n++] = *item;
			continue;
		}
		for (size_t part = 0; part < DIFF_NR; part++)
			kept[n - 1].values[part] += item->values[part];
		add_heap(&kept[n - 1].heap, &item->heap);
		free(item->stack);
	}
	items->n = n;
}

/* ---- the rates of stacks ---- */

/* At which rate the stacks of the processes of a name are sampled. */
struct rate {
	uint32_t one_in;
	char comm[];
};

static int by_comm(const void *a, const void *b)
{
	const struct rate *x = a, *y = b;

	return strcmp(x->comm, y->comm);
}

/* Bytes of stacks that were sampled at different rates mean different things. 0, -ENOMEM or -EDOM. */
static int same_rate(struct series *series, const struct proc *proc)
{
	size_t size = sizeof(struct rate) + strlen(proc->comm) + 1;
	_cleanup_(freep) struct rate *rate = NULL;
	struct rate **found;

	/* Nobody said. */
	if (!proc->stacks || !proc->stacks->n || !proc->stacks->one_in)
		return 0;
	rate = malloc(size);
	if (!rate)
		return -ENOMEM;
	rate->one_in = proc->stacks->one_in;
	strcpy(rate->comm, proc->comm);
	found = tsearch(rate, &series->rates, by_comm);
	if (!found)
		return -ENOMEM;
	if (*found == rate) {
		series->size += size;
		rate = NULL;
		return 0;
	}
	if ((*found)->one_in == rate->one_in)
		return 0;
	snprintf(series->odd, sizeof(series->odd), "%s", proc->comm);
	return -EDOM;
}

static int same_rates(struct series *series, const struct snap *snap)
{
	int err = 0;

	for (size_t i = 0; i < snap->n_procs && !err; i++)
		err = same_rate(series, &snap->procs[i]);
	return err;
}

/* ---- the series ---- */

static int by_names(const void *a, const void *b)
{
	const struct diff *x = a, *y = b;
	int order = strcmp(x->comm, y->comm);

	order = order ? order : strcmp(x->tag, y->tag);
	return order || !x->stack || !y->stack ? order : strcmp(x->stack, y->stack);
}

static void step(struct diff *diff, const struct item *item, bool first)
{
	uint64_t before = diff_held(diff->after), after = diff_held(item->values);

	if (first) {
		memcpy(diff->before, item->values, sizeof(diff->before));
		diff->heap_before = item->heap;
	}
	diff->heap_after = item->heap;
	diff->grew += !first && after > before;
	diff->shrank |= !first && after < before;
	memcpy(diff->after, item->values, sizeof(diff->after));
}

/* The samples since the one that last had it, up to @sample: it was 0 in them, which is one step. */
static void step_absent(struct diff *diff, unsigned long sample)
{
	static const struct item nothing = {.heap.known = true};

	if (diff->seen >= sample)
		return;
	step(diff, &nothing, false);
	diff->seen = sample;
}

static void diff_free(struct diff *diff)
{
	free(diff->comm);
	free(diff->tag);
	free(diff->stack);
	free(diff);
}

static size_t size_of(const struct item *item)
{
	return sizeof(struct diff) + strlen(item->comm) + strlen(item->tag) +
	       (item->stack ? strlen(item->stack) : 0);
}

/*
 * A tag or stack, which is moved, that the samples before did not have; it was 0 in them. NULL
 * without memory.
 */
static struct diff *begin(struct series *series, struct item *item)
{
	struct diff **diffs = array_grow(series->diffs, series->n, &series->room, sizeof(*diffs));
	struct diff *diff = calloc(1, sizeof(*diff));

	series->diffs = diffs ? diffs : series->diffs;
	if (diff) {
		*diff = (struct diff){.comm = strdup(item->comm),
				      .tag = strdup(item->tag),
				      .stack = item->stack,
				      .heap_before.known = !item->stack,
				      .seen = series->samples};
		item->stack = NULL;
	}
	if (!diffs || !diff || !diff->comm || !diff->tag ||
	    !tsearch(diff, &series->root, by_names)) {
		if (diff)
			diff_free(diff);
		return NULL;
	}
	series->diffs[series->n++] = diff;
	return diff;
}

static int add_item(struct series *series, struct item *item)
{
	const struct diff key = {
		.comm = (char *)item->comm, .tag = (char *)item->tag, .stack = item->stack};
	struct diff **found = tfind(&key, &series->root, by_names), *diff = found ? *found : NULL;

	if (!diff) {
		series->size += size_of(item);
		if (series->size > SERIES_MOST)
			return -E2BIG;
		diff = begin(series, item);
		if (!diff)
			return -ENOMEM;
	}
	step_absent(diff, series->samples - 1);
	step(diff, item, series->samples == 1);
	diff->seen = series->samples;
	return 0;
}

int series_add(struct series *series, const struct snap *snap)
{
	_cleanup_(items_clear) struct items items = {0};
	int err = series->by_stack ? list_stacks(snap, &items) : list_tags(snap, &items);

	if (!err && series->by_stack)
		err = same_rates(series, snap);
	if (err)
		return err;
	merge(&items);
	series->samples++;
	for (size_t i = 0; i < items.n && !err; i++)
		err = add_item(series, &items.items[i]);
	return err;
}

void series_settle(struct series *series)
{
	for (size_t i = 0; i < series->n; i++)
		step_absent(series->diffs[i], series->samples);
}

static void keep_all(void *node)
{
	(void)node;
}

void series_clear(struct series *series)
{
	tdestroy(series->root, keep_all);
	tdestroy(series->rates, free);
	for (size_t i = 0; i < series->n; i++)
		diff_free(series->diffs[i]);
	free(series->diffs);
	*series = (struct series){0};
}

static void keep(struct series *series, bool (*wanted)(const struct diff *),
		 int (*order)(const void *, const void *))
{
	size_t n = 0;

	series_settle(series);
	tdestroy(series->root, keep_all);
	series->root = NULL;
	for (size_t i = 0; i < series->n; i++) {
		if (wanted(series->diffs[i]))
			series->diffs[n++] = series->diffs[i];
		else
			diff_free(series->diffs[i]);
	}
	series->n = n;
	if (n)
		qsort(series->diffs, n, sizeof(*series->diffs), order);
}

static int by_delta(const struct diff *x, const struct diff *y, int64_t a, int64_t b)
{
	if (a != b)
		return a > b ? -1 : 1;
	return by_names(x, y);
}

static int by_change(const void *a, const void *b)
{
	const struct diff *x = *(struct diff *const *)a, *y = *(struct diff *const *)b;

	return by_delta(x, y, (int64_t)(diff_rss(x->after) - diff_rss(x->before)),
			(int64_t)(diff_rss(y->after) - diff_rss(y->before)));
}

static int by_growth(const void *a, const void *b)
{
	const struct diff *x = *(struct diff *const *)a, *y = *(struct diff *const *)b;

	return by_delta(x, y, (int64_t)(diff_held(x->after) - diff_held(x->before)),
			(int64_t)(diff_held(y->after) - diff_held(y->before)));
}

static bool changed(const struct diff *diff)
{
	const struct diff_heap *before = &diff->heap_before, *after = &diff->heap_after;

	if (memcmp(diff->before, diff->after, sizeof(diff->before)) != 0)
		return true;
	return diff_has_heap(diff) &&
	       (before->asked != after->asked || before->objects != after->objects ||
		before->wasted != after->wasted);
}

static bool grown(const struct diff *diff)
{
	return !diff->shrank && diff->grew > 1;
}

void series_keep_changed(struct series *series)
{
	keep(series, changed, by_change);
}

void series_keep_grown(struct series *series)
{
	keep(series, grown, by_growth);
}
