// SPDX-License-Identifier: GPL-2.0
/* The heaps of several processes as one. */
#include <math.h>
#include <string.h>

#include "heaps/sum.h"

/* Errors of estimates that have nothing to do with each other. One alone stays as it is, to the byte. */
static void add_error(uint64_t *sum, uint64_t error)
{
	double both = hypot((double)*sum, (double)error);

	if (!*sum || !error)
		*sum += error;
	else
		*sum = both < 9e18 ? (uint64_t)(both + 0.5) : UINT64_C(9000000000000000000);
}

static void add_account(struct heap_account *sum, const struct heap_account *account)
{
	for (int i = 0; i < TERMS; i++)
		sum->bytes[i] += account->bytes[i];
	sum->free_least += account->free_least;
	add_error(&sum->live_error, account->live_error);
	add_error(&sum->guests_error, account->guests_error);
}

void heap_sum_tag(struct heap_tag *sum, const struct heap_tag *tag)
{
	sum->objects += tag->objects;
	sum->asked += tag->asked;
	sum->allocated += tag->allocated;
	sum->resident += tag->resident;
	sum->swapped += tag->swapped;
	sum->untouched += tag->untouched;
	sum->foreign += tag->foreign;
	sum->pages += tag->pages;
	sum->wasted += tag->wasted;
	add_error(&sum->objects_error, tag->objects_error);
	add_error(&sum->error, tag->error);
	add_error(&sum->resident_error, tag->resident_error);
	add_account(&sum->account, &tag->account);
}

void heap_sum_process(struct heap_view *sum, const struct heap_view *view, bool first)
{
	/* What is so of all of them. */
	sum->exact = view->exact && (first || sum->exact);
	sum->knows_retained = view->knows_retained && (first || sum->knows_retained);
	sum->retained = sum->knows_retained ? sum->retained + view->retained : 0;
	if (first)
		memcpy(sum->allocator, view->allocator, sizeof(sum->allocator));
	else if (strcmp(sum->allocator, view->allocator) != 0)
		*sum->allocator = '\0';
	/* Or of any. */
	if (view->instead && !sum->instead)
		memcpy(sum->reason, view->reason, sizeof(sum->reason));
	sum->instead |= view->instead;
	sum->bypassed |= view->bypassed;
	sum->period = view->period > sum->period ? view->period : sum->period;
	sum->age = view->age > sum->age ? view->age : sum->age;
	if (!sum->knows_retained)
		sum->age = 0;
	sum->seen += view->seen;
	sum->lost += view->lost;
	sum->damaged += view->damaged;
	add_account(&sum->account, &view->account);
}
