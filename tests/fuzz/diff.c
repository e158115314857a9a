// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/stacks/stack.c ctl/model.c ctl/parse.c ctl/fail.c ctl/utf8.c ctl/format/text.c ctl/format/json.c */
/* sources: ctl/format/label.c ctl/format/heap.c ctl/format/show.c ctl/format/stack.c ctl/format/snapshot.c ctl/offline/line.c ctl/offline/read.c */
/* sources: ctl/format/diff.c ctl/offline/compare.c */
/*
 * What diff finds in a series of samples is what the plainest possible search finds: the numbers of each tag, or stack,
 * in the first and the last sample, and how often it grew. What is printed of it is harmless. An input is a
 * snapshot file.
 */
#include <errno.h>

#include "format/diff.h"
#include "offline/compare.h"
#include "sample.h"

#define SAMPLES 8

/* Are these the functions of the stack, a line each? */
static bool is_stack(const struct stack *stack, const char *text)
{
	if (stack->kind != MTAG_STACK_TAKEN)
		return !strcmp(text, stack_kind(stack));
	for (size_t i = 0; i < stack->n; i++) {
		char *name = frame_name(stack->frames[i]);
		bool same = (!i || *text++ == '\n') && !strncmp(text, name, strlen(name));

		text += strlen(name);
		free(name);
		if (!same)
			return false;
	}
	return !*text;
}

static void look_up_stacks(const struct proc *proc, const struct diff *of, uint64_t *values)
{
	for (size_t i = 0; proc->stacks && i < proc->stacks->n; i++) {
		const struct stack *stack = &proc->stacks->stacks[i];
		const struct tag *tag = proc_find_tag(proc, stack->tag);

		if (!tag || strcmp(tag->path, of->tag) != 0 || !is_stack(stack, of->stack))
			continue;
		values[DIFF_ANON] += stack->anon;
		values[DIFF_SWAP] += stack->swap;
	}
}

/* The sum over the processes of a name of the tags with a path, or of the stacks beneath it. */
static void look_up(const struct snap *snap, const struct diff *of, uint64_t *values)
{
	static const int counters[] = {MTAG_C_ANON, MTAG_C_FILE, MTAG_C_SHMEM, MTAG_C_SWAP};

	memset(values, 0, DIFF_NR * sizeof(*values));
	for (size_t i = 0; i < snap->n_procs; i++) {
		const struct proc *proc = &snap->procs[i];

		if (strcmp(proc->comm, of->comm) != 0)
			continue;
		if (of->stack)
			look_up_stacks(proc, of, values);
		for (size_t j = 0; j < proc->n_tags && !of->stack; j++)
			if (!strcmp(proc->tags[j].path, of->tag))
				for (size_t part = 0; part < DIFF_NR; part++)
					values[part] += proc->tags[j].c[counters[part]];
	}
}

/* Likewise of their heaps, which are known if all of these processes have one; and so if there is none of them. */
static struct diff_heap look_up_heap(const struct snap *snap, const struct diff *of)
{
	struct diff_heap sum = {.known = true};

	for (size_t i = 0; i < snap->n_procs; i++) {
		const struct proc *proc = &snap->procs[i];

		for (size_t j = 0; j < proc->n_tags; j++) {
			const struct heap_tag *tag = heap_find(proc->heap, proc->tags[j].id);

			if (strcmp(proc->comm, of->comm) != 0 ||
			    strcmp(proc->tags[j].path, of->tag) != 0)
				continue;
			sum.known &= proc->heap != NULL;
			sum.asked += tag ? tag->asked : 0;
			sum.objects += tag ? tag->objects : 0;
			sum.wasted += tag ? tag->wasted : 0;
		}
	}
	return sum.known ? sum : (struct diff_heap){0};
}

static bool same_heap(const struct diff_heap *a, const struct diff_heap *b)
{
	return a->known == b->known && a->asked == b->asked && a->objects == b->objects &&
	       a->wasted == b->wasted;
}

static bool changed(const struct diff *diff)
{
	return memcmp(diff->before, diff->after, sizeof(diff->before)) != 0 ||
	       (diff_has_heap(diff) && !same_heap(&diff->heap_before, &diff->heap_after));
}

static void check_heap(const struct snap *snaps, size_t n, const struct diff *diff)
{
	struct diff_heap first = look_up_heap(&snaps[0], diff),
			 last = look_up_heap(&snaps[n - 1], diff);

	must(same_heap(&first, &diff->heap_before) && same_heap(&last, &diff->heap_after));
}

static void check_diff(const struct snap *snaps, size_t n, const struct diff *diff)
{
	uint64_t values[DIFF_NR], before, held = 0;
	unsigned long grew = 0;
	bool shrank = false;

	for (size_t i = 0; i < n; i++) {
		look_up(&snaps[i], diff, values);
		before = held;
		held = diff_held(values);
		if (!i)
			must(!memcmp(values, diff->before, sizeof(values)));
		grew += i && held > before;
		shrank |= i && held < before;
	}
	must(!memcmp(values, diff->after, sizeof(values)));
	must(grew == diff->grew && shrank == diff->shrank);
}

static void print(const struct series *series, const struct growth *growth)
{
	static const struct fmt fmts[] = {
		{.width = 80}, {.width = 10, .utf8 = true}, {.pretty = true}};
	const struct diffs all = {series->diffs, series->n, 0, growth};

	for (size_t i = 0; i < ARRAY_SIZE(fmts); i++) {
		struct fmt fmt = fmts[i];
		char *text;
		size_t size, lines = 0;

		fmt.out = open_memstream(&text, &size);
		if (i < 2)
			diff_text(&fmt, &all);
		else
			must(!diff_json(&fmt, &all));
		fclose(fmt.out);
		for (char *p = text; (p = strchr(p, '\n')); p++)
			lines++;
		if (i < 2) {
			must_be_harmless(text, size, TEXT);
			must(series->by_stack || lines == series->n + (growth ? 1 : 2));
		} else {
			must_be_json(text, size);
		}
		free(text);
	}
}

static bool has_stacks(const struct snap *snap)
{
	for (size_t i = 0; i < snap->n_procs; i++)
		if (snap->procs[i].stacks && snap->procs[i].stacks->n)
			return true;
	return false;
}

/* The tags or stacks of all samples, each with its numbers; then what is kept of them, printed. */
static void check(const struct snap *snaps, size_t n, bool growth, bool by_stack)
{
	const struct growth steps = {n - 1, n * 1000};
	struct series series = {.by_stack = by_stack};
	size_t tags, kept = 0;

	for (size_t i = 0; i < n; i++) {
		int err = series_add(&series, &snaps[i]);

		/* Of a name that was sampled at different rates. */
		must(err == (by_stack && !has_stacks(&snaps[i]) ? -ENODATA : 0) ||
		     (by_stack && err == -EDOM));
		if (err) {
			series_clear(&series);
			return;
		}
	}
	series_settle(&series);
	tags = series.n;
	for (size_t i = 0; i < tags; i++) {
		const struct diff *diff = series.diffs[i];

		check_diff(snaps, n, diff);
		if (!by_stack)
			check_heap(snaps, n, diff);
		kept += growth ? !diff->shrank && diff->grew > 1 : changed(diff);
	}
	if (growth)
		series_keep_grown(&series);
	else
		series_keep_changed(&series);
	must(series.n == kept);
	print(&series, growth ? &steps : NULL);
	series_clear(&series);
}

static void make_all(struct input *in, struct snap *snaps, size_t *n)
{
	for (*n = 0; *n < 1 + in_below(in, SAMPLES); (*n)++)
		sample_make(in, &snaps[*n]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct snap snaps[SAMPLES] = {0};
	struct input in = {data, size};
	struct reader *reader;
	struct origin origin;
	size_t n = 0;

	if (fuzz_built) {
		make_all(&in, snaps, &n);
	} else {
		reader = sample_start(data, size);
		while (n < SAMPLES && sample_next(reader, &origin, &snaps[n]) == READ_SAMPLE)
			n++;
		if (n < SAMPLES)
			snap_clear(&snaps[n]);
		reader_close(reader);
	}
	if (n) {
		for (int how = 0; how < 4; how++)
			check(snaps, n, how & 1, how & 2);
	}
	for (size_t i = 0; i < n; i++)
		snap_clear(&snaps[i]);
	return 0;
}

static size_t make(struct input *in, uint8_t *buf, size_t size)
{
	struct origin origin = {.time_ms = 1};
	struct snap snaps[SAMPLES] = {0};
	size_t n, used = 0;

	make_all(in, snaps, &n);
	for (size_t i = 0; i < n; i++) {
		size_t length;
		char *text = sample_print(&origin, &snaps[i], &length);

		if (used + length <= size) {
			memcpy(buf + used, text, length);
			used += length;
		}
		free(text);
		snap_clear(&snaps[i]);
	}
	return used;
}

/* A hash without a number that is another one in each process. */
FUZZ_BEGIN(make, json_global_set_string_hash(JSON_C_STR_HASH_PERLLIKE))
