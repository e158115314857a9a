// SPDX-License-Identifier: GPL-2.0
/* Processes that have ended. A reader adds them and finishes the ledger, which is then read-only. */
#include <stdlib.h>
#include <string.h>

#include "past.h"

struct past *ledger_past(struct ledger *ledger, uint64_t id)
{
	struct past *past;

	if (ledger->n && ledger->pasts[ledger->n - 1].id == id)
		return &ledger->pasts[ledger->n - 1];
	if (ledger->n == ledger->room) {
		size_t room = ledger->room ? ledger->room * 2 : 64;

		past = reallocarray(ledger->pasts, room, sizeof(*past));
		if (!past)
			return NULL;
		ledger->pasts = past;
		ledger->room = room;
	}
	past = &ledger->pasts[ledger->n++];
	*past = (struct past){.id = id};
	return past;
}

struct past_tag *past_add_tag(struct past *past, uint16_t id, const char *path)
{
	struct past_tag *tag;

	if (past->n_tags == past->room) {
		size_t room = past->room ? past->room * 2 : 4;

		tag = reallocarray(past->tags, room, sizeof(*tag));
		if (!tag)
			return NULL;
		past->tags = tag;
		past->room = room;
	}
	tag = &past->tags[past->n_tags];
	*tag = (struct past_tag){.id = id, .path = strdup(path)};
	if (!tag->path)
		return NULL;
	past->n_tags++;
	return tag;
}

uint64_t past_rss(const uint64_t c[PAST_NR])
{
	return c[MTAG_C_ANON] + c[MTAG_C_FILE] + c[MTAG_C_SHMEM];
}

static int by_number(uint64_t x, uint64_t y)
{
	return (x < y) - (x > y);
}

static int by_peak(const void *a, const void *b)
{
	const struct past_tag *x = a, *y = b;
	int order = by_number(x->c[MTAG_C_PEAK], y->c[MTAG_C_PEAK]);

	return order ? order : by_number(y->id, x->id);
}

static int by_rss(const void *a, const void *b)
{
	const struct past_tag *x = a, *y = b;
	int order = by_number(past_rss(x->c), past_rss(y->c));

	return order ? order : by_peak(a, b);
}

void ledger_finish(struct ledger *ledger)
{
	for (size_t i = 0; i < ledger->n; i++) {
		struct past *past = &ledger->pasts[i];

		/* What was taken away before the numbers were read still shows in the peaks. */
		if (past->n_tags)
			qsort(past->tags, past->n_tags, sizeof(*past->tags),
			      past->reaped ? by_peak : by_rss);
	}
}

void ledger_clear(struct ledger *ledger)
{
	for (size_t i = 0; i < ledger->n; i++) {
		for (size_t j = 0; j < ledger->pasts[i].n_tags; j++)
			free(ledger->pasts[i].tags[j].path);
		free(ledger->pasts[i].tags);
	}
	free(ledger->pasts);
	*ledger = (struct ledger){0};
}
