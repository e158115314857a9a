// SPDX-License-Identifier: GPL-2.0
/*
 * Compares samples. Both a sample and the series are sorted by the names of process and tag, so that
 * adding one is a merge.
 */
#include <errno.h>
#include <string.h>

#include "ctl.h"
#include "offline/compare.h"

/* A tag of one process of a sample. */
struct item {
	const char *comm, *tag;
	uint64_t values[DIFF_NR];
};

static int by_name(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int order = strcmp(x->comm, y->comm);

	return order ? order : strcmp(x->tag, y->tag);
}

static size_t list_items(const struct snap *snap, struct item *items)
{
	static const int counters[DIFF_NR] = {MTAG_C_ANON, MTAG_C_FILE, MTAG_C_SHMEM, MTAG_C_SWAP};
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < snap->n_procs; i++) {
		for (size_t j = 0; j < snap->procs[i].n_tags; j++) {
			const struct tag *tag = &snap->procs[i].tags[j];
			struct item *item = &items[n++];

			*item = (struct item){snap->procs[i].comm, tag->path, {0}};
			for (size_t part = 0; part < DIFF_NR; part++)
				item->values[part] = tag->c[counters[part]];
		}
	}
	if (n)
		qsort(items, n, sizeof(*items), by_name);
	/* Processes of the same name are one. */
	for (size_t i = 0; i < n; i++) {
		if (!kept || by_name(&items[kept - 1], &items[i])) {
			items[kept++] = items[i];
			continue;
		}
		for (size_t part = 0; part < DIFF_NR; part++)
			items[kept - 1].values[part] += items[i].values[part];
	}
	return kept;
}

static void step(struct diff *diff, const uint64_t *values, bool first)
{
	uint64_t before = diff_held(diff->after), after = diff_held(values);

	if (first)
		memcpy(diff->before, values, sizeof(diff->before));
	diff->grew += !first && after > before;
	diff->shrank |= !first && after < before;
	memcpy(diff->after, values, sizeof(diff->after));
}

/* A tag that the samples before did not have; it was 0 in them. */
static int begin(struct diff *diff, const struct item *item, bool first)
{
	*diff = (struct diff){.comm = strdup(item->comm), .tag = strdup(item->tag)};
	step(diff, item->values, first);
	return diff->comm && diff->tag ? 0 : -ENOMEM;
}

int series_add(struct series *series, const struct snap *snap)
{
	static const uint64_t nothing[DIFF_NR];
	_cleanup_(freep) struct item *items = NULL;
	bool first = !series->samples++;
	struct series next = {.size = series->size, .samples = series->samples};
	size_t n = 0, at = 0, old = 0;
	int err = 0;

	for (size_t i = 0; i < snap->n_procs; i++)
		n += snap->procs[i].n_tags;
	items = calloc(n + 1, sizeof(*items));
	next.diffs = calloc(series->n + n + 1, sizeof(*next.diffs));
	if (!items || !next.diffs) {
		free(next.diffs);
		return -ENOMEM;
	}
	n = list_items(snap, items);
	while ((at < n || old < series->n) && !err) {
		struct diff *diff = &next.diffs[next.n++];
		struct diff *known = old < series->n ? &series->diffs[old] : NULL;
		struct item key = {known ? known->comm : NULL, known ? known->tag : NULL, {0}};
		int order = !known ? -1 : at == n ? 1 : by_name(&items[at], &key);

		if (order < 0) {
			next.size += sizeof(*diff) + strlen(items[at].comm) + strlen(items[at].tag);
			err = next.size > SERIES_MOST ? -E2BIG : begin(diff, &items[at++], first);
			continue;
		}
		*diff = *known;
		*known = (struct diff){0};
		old++;
		step(diff, order ? nothing : items[at].values, first);
		at += !order;
	}
	series_clear(series);
	*series = next;
	return err;
}

static void diff_clear(struct diff *diff)
{
	free(diff->comm);
	free(diff->tag);
}

void series_clear(struct series *series)
{
	for (size_t i = 0; i < series->n; i++)
		diff_clear(&series->diffs[i]);
	free(series->diffs);
	*series = (struct series){0};
}

static void keep(struct series *series, bool (*wanted)(const struct diff *),
		 int (*order)(const void *, const void *))
{
	size_t n = 0;

	for (size_t i = 0; i < series->n; i++) {
		if (wanted(&series->diffs[i]))
			series->diffs[n++] = series->diffs[i];
		else
			diff_clear(&series->diffs[i]);
	}
	series->n = n;
	if (n)
		qsort(series->diffs, n, sizeof(*series->diffs), order);
}

static int by_delta(const struct diff *x, const struct diff *y, int64_t a, int64_t b)
{
	int order = strcmp(x->comm, y->comm);

	if (a != b)
		return a > b ? -1 : 1;
	return order ? order : strcmp(x->tag, y->tag);
}

static int by_change(const void *a, const void *b)
{
	const struct diff *x = a, *y = b;

	return by_delta(x, y, (int64_t)(diff_rss(x->after) - diff_rss(x->before)),
			(int64_t)(diff_rss(y->after) - diff_rss(y->before)));
}

static int by_growth(const void *a, const void *b)
{
	const struct diff *x = a, *y = b;

	return by_delta(x, y, (int64_t)(diff_held(x->after) - diff_held(x->before)),
			(int64_t)(diff_held(y->after) - diff_held(y->before)));
}

static bool changed(const struct diff *diff)
{
	return memcmp(diff->before, diff->after, sizeof(diff->before)) != 0;
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
