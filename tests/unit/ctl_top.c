// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/stacks/stack.c ctl/model.c ctl/parse.c ctl/utf8.c ctl/format/text.c ctl/format/json.c ctl/format/label.c */
/* sources: ctl/top/rows.c ctl/top/table.c ctl/top/batch.c ctl/format/show.c ctl/format/heap.c */
/* mtagctl top: its rows against sums that are made in another way, and the lines of its table. */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "ctl_tap.h"
#include "ctl_top.h"
#include "top/batch.h"
#include "top/table.h"
#include "utf8.h"

/* ---- sums ---- */

static bool same_name(enum row_kind kind, const struct pair *a, const struct pair *b)
{
	bool own = a->tag->id <= MTAG_ID_KSM || b->tag->id <= MTAG_ID_KSM;

	if (kind == ROW_PROCESS)
		return a->proc->pid == b->proc->pid;
	if (kind == ROW_CGROUP)
		return !strcmp(a->cgroup, b->cgroup);
	return !strcmp(a->tag->path, b->tag->path) && (!own || a->tag->id == b->tag->id);
}

/* What a row should be, by a look at each pair of a moment. Returns the number of pairs. */
static size_t sum_of(const struct moment *moment, enum rows_by by, const struct row *row,
		     uint64_t sum[MTAG_C_NR])
{
	const enum row_kind *kinds;
	size_t n = 0;

	rows_kinds(by, &kinds);
	memset(sum, 0, MTAG_C_NR * sizeof(*sum));
	for (size_t i = 0; i < moment->snap.n_procs; i++) {
		for (size_t j = 0; j < moment->snap.procs[i].n_tags; j++) {
			struct pair pair = {.proc = &moment->snap.procs[i],
					    .tag = &moment->snap.procs[i].tags[j],
					    .cgroup = proc_cgroup(&moment->snap.procs[i])};
			bool same = tag_is_shown(pair.tag);

			for (unsigned int level = 0; level <= row->level && same; level++)
				same = same_name(kinds[level], &row->key, &pair);
			if (same && by == BY_PROCESS && row->level)
				same = pair.tag->id == row->key.tag->id;
			n += same;
			for (unsigned int c = 0; c < MTAG_C_NR && same; c++)
				sum[c] += pair.tag->c[c];
		}
	}
	return n;
}

static bool row_is_right(const struct rows *rows, const struct row *row, const struct moment *now,
			 const struct moment *before)
{
	uint64_t sum[MTAG_C_NR], old[MTAG_C_NR];
	size_t n = sum_of(now, rows->by, row, sum);

	sum_of(before, rows->by, row, old);
	return row->pairs == n &&
	       row->v[SORT_RSS] == sum[MTAG_C_ANON] + sum[MTAG_C_FILE] + sum[MTAG_C_SHMEM] &&
	       row->v[SORT_ANON] == sum[MTAG_C_ANON] && row->v[SORT_FILE] == sum[MTAG_C_FILE] &&
	       row->v[SORT_SHMEM] == sum[MTAG_C_SHMEM] && row->v[SORT_SWAP] == sum[MTAG_C_SWAP] &&
	       row->before == old[MTAG_C_ANON] + old[MTAG_C_FILE] + old[MTAG_C_SHMEM];
}

/* Each row, and that no pair is missing: the rows of each level are as much as the total. */
static void sums(enum rows_by by, const struct moment *now, const struct moment *before)
{
	size_t wrong = 0, pairs[ROWS_LEVELS] = {0};
	const enum row_kind *kinds;
	unsigned int levels = rows_kinds(by, &kinds);
	char title[100];
	struct rows rows;

	build(&rows, by, "", now, before);
	for (size_t i = 0; i < rows.n; i++) {
		const struct row *row = &rows.row[i];

		/* What ended is not listed; its names were compared above it. */
		wrong += row->pairs && !row_is_right(&rows, row, now, before);
		pairs[row->level] += row->pairs;
	}
	snprintf(title, sizeof(title), "by %s: each row is the sum of its pairs", rows_by_name(by));
	ok(rows.n && !wrong, title);
	for (unsigned int level = 0; level < levels; level++) {
		snprintf(title, sizeof(title), "by %s: level %u has every pair once",
			 rows_by_name(by), level);
		ok(pairs[level] == rows.pairs && rows.total.pairs == rows.pairs, title);
	}
	rows_clear(&rows);
}

/* What has ended is gone from the list, but was part of the sum before. */
static void ends(const struct moment *now, const struct moment *before)
{
	struct rows rows;
	uint64_t then = 0;

	build(&rows, BY_PROCESS, "", now, before);
	rows_list(&rows, SORT_PID, false);
	ok(rows.n_list == now->snap.n_procs, "processes that ended are not listed");
	for (size_t i = 0; i < before->snap.n_procs; i++)
		then += before->snap.procs[i].rss;
	ok(rows.total.before == then, "but are in the change of the total");
	ok(rows_rate(&rows, &rows.total) == (int64_t)(rows.total.v[SORT_RSS] - then) / 2,
	   "which is given for one second");
	rows_clear(&rows);
}

/* Counters that no kernel sends, in no time. */
static void overflows(void)
{
	struct rows rows = {.ns = 1};
	struct row row = {.v[SORT_RSS] = INT64_MAX};

	ok(rows_rate(&rows, &row) == INT64_MAX, "a rate that is too large is the largest");
	row = (struct row){.before = INT64_MAX};
	ok(rows_rate(&rows, &row) == INT64_MIN, "likewise one that is too small");
}

/* ---- order ---- */

static void orders(const struct moment *now, const struct moment *before)
{
	bool good = true, stable = true;
	struct rows rows;

	build(&rows, BY_TAG, "", now, before);
	for (enum rows_sort sort = SORT_RSS; sort < SORT_N; sort++) {
		rows_list(&rows, sort, false);
		good &= in_order(&rows, sort, false);
		rows_list(&rows, sort, true);
		good &= in_order(&rows, sort, true);
	}
	ok(good && rows.n_list, "each number sorts the rows, both ways");
	rows_clear(&rows);
	build(&rows, BY_PROCESS, "", now, NULL);
	rows_list(&rows, SORT_DELTA, false);
	for (size_t i = 1; i < rows.n_list; i++)
		stable &= rows.list[i - 1] < rows.list[i];
	rows_list(&rows, SORT_DELTA, true);
	for (size_t i = 1; i < rows.n_list; i++)
		stable &= rows.list[i - 1] < rows.list[i];
	ok(stable, "rows that are equal keep their order, both ways");
	rows_list(&rows, SORT_NAME, false);
	for (size_t i = 1; i < rows.n_list; i++)
		stable &= strcmp(rows.row[rows.list[i - 1]].key.proc->comm,
				 rows.row[rows.list[i]].key.proc->comm) <= 0;
	ok(stable, "names sort from A");
	rows_clear(&rows);
}

/* ---- filters ---- */

static void filter(const struct moment *now, const char *text, size_t procs, size_t pairs,
		   const char *name)
{
	struct rows rows;

	build(&rows, BY_PROCESS, text, now, NULL);
	if (!ok(rows.procs_left == procs && rows.total.pairs == pairs, name))
		printf("# %zu processes, %zu pairs\n", rows.procs_left, rows.total.pairs);
	rows_clear(&rows);
}

/* Without those that have nothing, and those of one pair as one row. */
static void leaves_out(void)
{
	struct moment one = {.ns = 1};
	struct proc *proc = snap_proc(&one.snap, 7, "seven");
	struct rows rows;

	proc_add_tag(proc, 0, 0, "");
	proc_add_tag(proc, 2, 0, "resident")->c[MTAG_C_FILE] = PAGE;
	proc_add_tag(proc, 3, 0, "swapped")->c[MTAG_C_SWAP] = PAGE;
	proc = snap_proc(&one.snap, 8, "eight");
	proc_add_tag(proc, 0, 0, "")->c[MTAG_C_ANON] = PAGE;
	proc_add_tag(proc, 2, 0, "peaked")->c[MTAG_C_PEAK] = PAGE;
	snap_finish(&one.snap);
	rows_build(&rows, &(struct choice){BY_PROCESS, "", false, true}, &one, NULL);
	rows_open_all(&rows, true);
	rows_list(&rows, SORT_PID, false);
	ok(rows.total.pairs == 3 && rows.pairs == 5, "what has no memory can be left out");
	ok(rows.n_list == 4, "a process of which one tag is left is one row");
	rows_clear(&rows);
	snap_clear(&one.snap);
}

/* Of two processes one has a heap view, and in it one tag that has objects, on pages of others. */
static void heaps(void)
{
	struct fmt fmt = {.width = 80};
	struct moment one = {.ns = 1};
	struct proc *proc = snap_proc(&one.snap, 7, "seven");
	struct table table;
	struct rows rows;
	char buf[32];

	proc_add_tag(proc, 0, 0, "")->c[MTAG_C_ANON] = 2 * PAGE;
	proc_add_tag(proc, 2, 0, "guest");
	proc_heap(proc)->tags = calloc(1, sizeof(struct heap_tag));
	proc->heap->tags[proc->heap->n++] = (struct heap_tag){.id = 2, .asked = 4096};
	proc = snap_proc(&one.snap, 8, "eight");
	proc_add_tag(proc, 0, 0, "")->c[MTAG_C_ANON] = 9 * PAGE;
	snap_finish(&one.snap);
	rows_build(&rows, &(struct choice){BY_PROCESS, "", false, true}, &one, NULL);
	rows_list(&rows, SORT_ASKED, false);
	ok(rows.total.v[SORT_ASKED] == 4096 && rows.row[rows.list[0]].key.proc->pid == 7,
	   "what is asked of the allocator is summed, and sorts");
	ok(rows.total.pairs == 3, "a tag that has it on pages of others is not empty");
	table_layout(&table, &fmt, &rows, false);
	ok(table.width[SORT_ASKED] && table.first + fmt.width - table.last >= 36,
	   "there is a column for it, and room for names");
	ok(!strcmp(table_number(&table, &rows, &rows.row[rows.list[0]], SORT_ASKED, buf), "4.0K") &&
		   !strcmp(table_number(&table, &rows, &rows.row[rows.list[1]], SORT_ASKED, buf),
			   "-"),
	   "whoever has no heap view has no number");
	rows_clear(&rows);
	heap_view_clear(one.snap.procs[0].heap);
	free(one.snap.procs[0].heap);
	one.snap.procs[0].heap = NULL;
	rows_build(&rows, &(struct choice){BY_PROCESS, "", false, true}, &one, NULL);
	table_layout(&table, &fmt, &rows, false);
	ok(!table.width[SORT_ASKED] && table.width[SORT_PEAK],
	   "nor is there a column if nobody has");
	ok(rows_find_sort("a") == SORT_ANON && rows_find_sort("as") == SORT_ASKED,
	   "-s a is what it was");
	rows_clear(&rows);
	snap_clear(&one.snap);
}

static void filters(const struct moment *now)
{
	/* 40 processes with 12 tags; those with an odd index have an empty [ksm]. */
	filter(now, "", 40, 460, "no filter leaves all but what is empty of [ksm]");
	filter(now, "CACHE", 40, 80, "a filter finds a part of a tag, in whatever case");
	filter(now, "db/cache/b", 40, 40, "also of the path");
	filter(now, "redis", 16, 184, "a part of the name of a process leaves all of its tags");
	filter(now, "4000", 1, 11, "so does a process id");
	filter(now, "untagged", 40, 40, "memory without a tag is found by what it is called");
	filter(now, "nowhere", 0, 0, "what is nowhere leaves nothing");
}

/* ---- the next moment ---- */

static void carries(const struct moment *now, const struct moment *before)
{
	struct rows old, rows;
	size_t row, i = 7 * TAGS, open = 0;
	pid_t pid;

	build(&old, BY_PROCESS, "", before, NULL);
	while (old.row[i].level)
		i++;
	old.row[i].open = true;
	pid = old.row[i].key.proc->pid;
	build(&rows, BY_PROCESS, "", now, before);
	row = rows_carry(&rows, &old, i, false);
	ok(row < rows.n && rows.row[row].key.proc->pid == pid && rows.row[row].open,
	   "an unfolded process is so at the next refresh, too");
	for (i = 0; i < rows.n; i++)
		open += rows.row[i].open;
	ok(open == 1, "and no other");
	ok(rows_carry(&rows, &old, 0, true) == rows.n && rows.row[rows.n - 1].open,
	   "a selected row that has ended is none; one that is new is unfolded if all are");
	rows_clear(&rows);
	rows_clear(&old);
}

/* ---- the table ---- */

/* Each line has exactly @width columns at most, and the numbers of all stand below each other. */
static bool lines_fit(const struct rows *rows, bool utf8, unsigned int width, bool kib)
{
	struct fmt fmt = {.utf8 = utf8, .width = width};
	struct table table;
	bool good = true;

	table_layout(&table, &fmt, rows, kib);
	table.marks = true;
	for (size_t i = 0; i < rows->n_list + 2; i++) {
		char *text;
		size_t size;

		fmt.out = open_memstream(&text, &size);
		if (i == rows->n_list)
			table_head(&table, &fmt, rows->by);
		else if (i > rows->n_list)
			table_total(&table, &fmt, rows);
		else
			table_row(&table, &fmt, rows, &rows->row[rows->list[i]]);
		fclose(fmt.out);
		if (utf8_width(text) > width || (!utf8 && !utf8_is_printable(text, size)))
			good = false;
		if (!good)
			printf("# %u: %s\n", width, text);
		free(text);
	}
	return good;
}

static void tables(const struct moment *now, const struct moment *before)
{
	static const unsigned int widths[] = {40, 60, 80, 81, 100, 160, 1000};
	bool good = true;

	for (enum rows_by by = 0; by < BY_N; by++) {
		struct rows rows;

		build(&rows, by, "", now, before);
		rows_open_all(&rows, true);
		rows_list(&rows, SORT_RSS, false);
		for (size_t i = 0; i < ARRAY_SIZE(widths); i++)
			for (unsigned int way = 0; way < 4; way++)
				good &= lines_fit(&rows, way & 1, widths[i], way & 2);
		rows_clear(&rows);
	}
	ok(good, "no line is wider than the terminal");
}

/* ---- JSON ---- */

/* A process without tags, or with one of 100 pages. */
static void make_one(struct moment *moment, bool tagged, unsigned int when)
{
	struct proc *proc = snap_proc(&moment->snap, 100, "one");

	proc_add_tag(proc, 0, 0, "")->c[MTAG_C_ANON] = 10 * 4096;
	if (tagged)
		proc_add_tag(proc, 2, 0, "cache")->c[MTAG_C_ANON] = 100 * 4096;
	moment->ns = when * 1000000000ULL;
	snap_finish(&moment->snap);
}

/* The line of a process that has one tag is that tag's: others, which went, are not in its change. */
static void batches(void)
{
	struct moment now = {0}, before = {0};
	struct rows rows = {0};
	char *text = NULL;
	size_t size;
	struct fmt fmt = {.out = open_memstream(&text, &size)};

	make_one(&before, true, 1);
	make_one(&now, false, 2);
	build(&rows, BY_PROCESS, "", &now, &before);
	rows_list(&rows, SORT_RSS, false);
	batch_json(&fmt, &rows, 0);
	fclose(fmt.out);
	ok(strstr(text, "\"rss_bytes\":40960,") && strstr(text, "\"rss_delta_bytes\":0"),
	   "a tag's change is that of its own bytes");
	free(text);
	rows_clear(&rows);
	fmt.out = open_memstream(&text, &size);
	build(&rows, BY_CGROUP, "", &now, &before);
	rows_list(&rows, SORT_RSS, false);
	batch_json(&fmt, &rows, 0);
	fclose(fmt.out);
	ok(strstr(text, "\"cgroup\":\"\","), "an unknown control group is empty");
	free(text);
	rows_clear(&rows);
	end(&now);
	end(&before);
}

static void counts(void)
{
	static const struct fmt pipe = {.terminal = false}, terminal = {.terminal = true};

	ok(batch_count(&pipe, false, 0) == 1 && batch_count(&pipe, true, 0) == 1,
	   "into a pipe goes one batch, as text and as JSON");
	ok(batch_count(&pipe, false, 3) == 3 && batch_count(&pipe, true, 3) == 3 &&
		   batch_count(&terminal, true, 3) == 3,
	   "or as many as are wanted");
	ok(!batch_count(&terminal, true, 0), "on a terminal JSON has no end");
	ok(batch_count(&terminal, false, 0) == 1, "but a table is one");
}

int main(void)
{
	struct moment now, before;

	setlocale(LC_CTYPE, "C.UTF-8");
	make(&before, 0, 35, TAGS - 1, 0);
	make(&now, 5, PROCS, TAGS, 1);
	for (enum rows_by by = 0; by < BY_N; by++)
		sums(by, &now, &before);
	ends(&now, &before);
	overflows();
	heaps();
	orders(&now, &before);
	carries(&now, &before);
	tables(&now, &before);
	batches();
	counts();
	end(&now);
	make(&now, 0, PROCS, TAGS, 1);
	filters(&now);
	leaves_out();
	end(&now);
	end(&before);
	return tap_end();
}
