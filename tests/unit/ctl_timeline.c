// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/stacks/stack.c ctl/model.c ctl/parse.c ctl/utf8.c ctl/picture/timeline.c */
/* mtagctl: the bytes of tags that come and go, over a series of samples. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ctl.h"
#include "ctl_tap.h"
#include "picture/timeline.h"

#define MANY  20000
#define A_FEW 4

static uint64_t bytes_at(const struct line *line, size_t sample)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < line->n_points && line->points[i].sample <= sample; i++)
		bytes = line->points[i].bytes;
	return bytes;
}

/* A sample with the tags whose @sizes are not negative. */
static void add(struct timeline *timeline, const int *sizes, size_t n)
{
	struct snap snap = {0};
	struct proc *proc = snap_proc(&snap, 1, "make");
	char name[2] = "a";

	for (size_t i = 0; i < n; i++, name[0]++)
		if (sizes[i] >= 0)
			proc_add_tag(proc, (uint16_t)(2 + i), 0, name)->c[MTAG_C_ANON] =
				(uint64_t)sizes[i];
	if (snap_finish(&snap) || timeline_add(timeline, timeline->n_samples, &snap))
		abort();
	snap_clear(&snap);
}

static void test_points(void)
{
	static const int sizes[][3] = {
		{5, -1, 0}, {5, 7, -1}, {-1, 7, -1}, {-1, -1, 3},
		{6, 7, 3},  {0, 7, -1}, {-1, 8, -1}, {4, -1, -1},
	};
	static const size_t points[] = {5, 5, 2};
	struct timeline timeline = {0};
	bool values = true, changes = true;

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		add(&timeline, sizes[i], 3);
	if (timeline_rank(&timeline, 1))
		abort();
	for (size_t tag = 0; tag < 3; tag++) {
		const char name[2] = {(char)('a' + tag), '\0'};
		const struct line *line = timeline_find(&timeline, "make", name);

		changes &= line->n_points == points[tag];
		for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
			values &= bytes_at(line, i) ==
				  (sizes[i][tag] > 0 ? (uint64_t)sizes[i][tag] : 0);
	}
	ok(values, "a tag has no bytes in samples without it, and before and behind these its own");
	ok(changes, "a line has points where that changes, and no others");
	timeline_clear(&timeline);
}

/* Seconds of this process that as many tags take, none in two of @samples. */
static double time_of(size_t samples)
{
	struct timeline timeline = {0};
	size_t each = (size_t)MANY * A_FEW / samples, n = 0;
	clock_t begun, spent = 0;

	for (size_t i = 0; i < samples; i++) {
		struct snap snap = {0};
		struct proc *proc = snap_proc(&snap, 1, "make");

		for (size_t tag = 0; tag < each; tag++) {
			char name[32];

			snprintf(name, sizeof(name), "%zu", n++);
			proc_add_tag(proc, (uint16_t)(2 + tag), 0, name)->c[MTAG_C_ANON] = 1;
		}
		if (snap_finish(&snap))
			abort();
		begun = clock();
		if (timeline_add(&timeline, i, &snap))
			abort();
		spent += clock() - begun;
		snap_clear(&snap);
	}
	begun = clock();
	if (timeline_rank(&timeline, 1))
		abort();
	spent += clock() - begun;
	timeline_clear(&timeline);
	return (double)spent / CLOCKS_PER_SEC;
}

/* Were all tags looked at again for each sample, it would take twenty times as long. */
static void test_time(void)
{
	double few = time_of(A_FEW), many = time_of(MANY);

	printf("# %.3f s in %d samples, %.3f s in %d\n", few, A_FEW, many, MANY);
	ok(many < 8 * few, "tags that come and go take no longer for being in many samples");
}

int main(void)
{
	test_points();
	test_time();
	return tap_end();
}
