// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/stacks/stack.c ctl/model.c ctl/parse.c ctl/utf8.c ctl/format/text.c ctl/format/diff.c */
/* sources: ctl/format/json.c ctl/offline/compare.c */
/* mtagctl: what diff finds in a series in which tags come and go, and what that costs. */
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "ctl_tap.h"
#include "offline/compare.h"

/* Names are compared by it: how often says what a series costs, on any machine. */
static unsigned long compared;

int strcmp(const char *a, const char *b)
{
	compared++;
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return (unsigned char)*a - (unsigned char)*b;
}

/* Adds a sample of a process with these tags, each a letter with so many pages. */
static void add(struct series *series, const char *names, const uint64_t *pages)
{
	struct snap snap = {0};
	struct proc *proc = snap_proc(&snap, 1, "c");

	for (size_t i = 0; names[i]; i++) {
		const char name[] = {names[i], '\0'};

		proc_add_tag(proc, (uint16_t)(2 + i), 0, name)->c[MTAG_C_ANON] = pages[i];
	}
	if (snap_finish(&snap) || series_add(series, &snap))
		abort();
	snap_clear(&snap);
}

static bool has(const struct series *series, const char *tag, uint64_t before, uint64_t after,
		unsigned long grew, bool shrank)
{
	for (size_t i = 0; i < series->n; i++) {
		const struct diff *diff = series->diffs[i];

		if (strcmp(diff->tag, tag))
			continue;
		if (diff->before[DIFF_ANON] == before && diff->after[DIFF_ANON] == after &&
		    diff->grew == grew && diff->shrank == shrank)
			return true;
		printf("# %s: %llu, %llu, grew %lu, shrank %d\n", tag,
		       (unsigned long long)diff->before[DIFF_ANON],
		       (unsigned long long)diff->after[DIFF_ANON], diff->grew, diff->shrank);
	}
	return false;
}

static void test_gaps(void)
{
	struct series series = {0};

	add(&series, "abe", (const uint64_t[]){1, 5, 0});
	add(&series, "ac", (const uint64_t[]){2, 1});
	add(&series, "", NULL);
	add(&series, "acd", (const uint64_t[]){4, 2, 7});
	add(&series, "d", (const uint64_t[]){8});
	series_settle(&series);
	ok(series.n == 5 && has(&series, "a", 1, 0, 2, true),
	   "a tag that is missing in samples in the middle and at the end shrank in each first one");
	ok(has(&series, "b", 5, 0, 0, true), "so did one that only the first sample has");
	ok(has(&series, "c", 0, 0, 2, true),
	   "one that came later, and came again, grew both times");
	ok(has(&series, "d", 0, 8, 2, false), "one that came and stayed only grew");
	ok(has(&series, "e", 0, 0, 0, false), "one without a page did not change by going");
	series_keep_grown(&series);
	ok(series.n == 1 && has(&series, "d", 0, 8, 2, false), "and that one is kept");
	series_clear(&series);
}

/* Each sample has tags that no other has, as of programs that put a number into a name. */
static void test_cost(void)
{
	enum { SAMPLES = 400, TAGS = 20 };
	struct series series = {0};
	bool all = true;

	for (unsigned int i = 0; i < SAMPLES; i++) {
		struct snap snap = {0};
		struct proc *proc = snap_proc(&snap, 1, "c");
		unsigned long before;

		for (unsigned int j = 0; j < TAGS; j++) {
			char name[16];

			snprintf(name, sizeof(name), "t%06u", i * TAGS + j);
			proc_add_tag(proc, (uint16_t)(2 + j), 0, name)->c[MTAG_C_ANON] = 4096;
		}
		if (snap_finish(&snap))
			abort();
		before = compared;
		if (series_add(&series, &snap))
			abort();
		/* Two for each of the 2 x 13 steps down into the tree of 8000, and of some 5 that sort. */
		all &= compared - before <= TAGS * 100;
		snap_clear(&snap);
	}
	ok(series.n == SAMPLES * TAGS, "a series has the tags of all samples");
	if (!ok(all, "a sample costs what it has itself, not what those before it had"))
		printf("# %lu comparisons\n", compared);
	series_clear(&series);
}

int main(void)
{
	test_gaps();
	test_cost();
	return tap_end();
}
