// SPDX-License-Identifier: GPL-2.0
/* Groups, sums, filters and sorts the pairs of processes and tags of two moments. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "ctl.h"
#include "format/label.h"
#include "top/rows.h"

static const struct {
	const char *name;
	unsigned int levels;
	enum row_kind kinds[ROWS_LEVELS];
} groupings[BY_N] = {
	[BY_PROCESS] = {"process", 2, {ROW_PROCESS, ROW_TAG}},
	[BY_TAG] = {"tag", 2, {ROW_TAG, ROW_PROCESS}},
	[BY_CGROUP] = {"cgroup", 3, {ROW_CGROUP, ROW_TAG, ROW_PROCESS}},
};

static const char *const sort_names[SORT_N] = {
	"pid", "name", "tag", "rss", "delta", "asked", "anon", "file", "shmem", "swap", "peak",
};

const char rows_sort_names[] = "pid, name, tag, rss, delta, asked, anon, file, shmem, swap or peak";

unsigned int rows_kinds(enum rows_by by, const enum row_kind **kinds)
{
	*kinds = groupings[by].kinds;
	return groupings[by].levels;
}

const char *rows_sort_name(enum rows_sort sort)
{
	return sort_names[sort];
}

enum rows_sort rows_find_sort(const char *name)
{
	size_t len = strlen(name);
	enum rows_sort sort = 0;

	/* "a" was "anon" before there was "asked". */
	while (sort < SORT_N && (len < (sort == SORT_ASKED ? 2 : 1) ||
				 strncasecmp(sort_names[sort], name, len) != 0))
		sort++;
	return sort;
}

bool rows_sort_is_name(enum rows_sort sort)
{
	return sort <= SORT_TAG;
}

const char *rows_by_name(enum rows_by by)
{
	return groupings[by].name;
}

enum rows_by rows_find_by(const char *name)
{
	enum rows_by by = 0;

	while (by < BY_N && strcmp(groupings[by].name, name) != 0)
		by++;
	return by;
}

/* ---- pairs, in the order of what names them ---- */

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* The untagged first, then [ksm], which a program may have given to a tag of its own, too. */
static int compare_tags(enum rows_by by, const struct tag *a, const struct tag *b)
{
	uint16_t x = a->id, y = b->id;

	/* Across processes an id means nothing but for these two. */
	if (by != BY_PROCESS) {
		x = x > MTAG_ID_KSM ? MTAG_ID_KSM + 1 : x;
		y = y > MTAG_ID_KSM ? MTAG_ID_KSM + 1 : y;
	}
	return x != y ? compare_numbers(x, y) : strcmp(a->path, b->path);
}

static int compare_level(enum rows_by by, unsigned int level, const struct pair *a,
			 const struct pair *b)
{
	switch (groupings[by].kinds[level]) {
	case ROW_PROCESS:
		return compare_numbers((uint64_t)a->proc->pid, (uint64_t)b->proc->pid);
	case ROW_TAG:
		return compare_tags(by, a->tag, b->tag);
	default:
		return strcmp(a->cgroup, b->cgroup);
	}
}

static int compare_pairs(const void *a, const void *b, void *arg)
{
	const enum rows_by *by = arg;
	const struct pair *x = a, *y = b;

	for (unsigned int level = 0; level < groupings[*by].levels; level++) {
		int order = compare_level(*by, level, x, y);

		if (order)
			return order;
	}
	return y->now - x->now;
}

static uint64_t asked_of(const struct pair *pair)
{
	const struct heap_tag *heap = heap_find(pair->proc->heap, pair->tag->id);

	return heap ? heap->asked : 0;
}

static bool is_chosen(const struct choice *choice, const struct pair *pair)
{
	const char *filter = choice->filter;
	char pid[16];

	if (!choice->empty && !tag_rss(pair->tag) && !pair->tag->c[MTAG_C_SWAP] && !asked_of(pair))
		return false;
	snprintf(pid, sizeof(pid), "%d", (int)pair->proc->pid);
	return !*filter || strstr(pid, filter) || strcasestr(pair->proc->comm, filter) ||
	       strcasestr(label_of(pair->tag), filter) ||
	       (choice->by == BY_CGROUP && strcasestr(pair->cgroup, filter));
}

static size_t count_tags(const struct moment *moment)
{
	size_t n = 0;

	for (size_t i = 0; moment && i < moment->snap.n_procs; i++)
		n += moment->snap.procs[i].n_tags;
	return n;
}

/* Appends the pairs that are chosen of a moment. */
static void add_pairs(struct rows *rows, const struct choice *choice, const struct moment *moment,
		      bool now, struct pair *pairs, size_t *n)
{
	for (size_t i = 0; moment && i < moment->snap.n_procs; i++) {
		const struct proc *proc = &moment->snap.procs[i];
		size_t start = *n;

		for (size_t j = 0; j < proc->n_tags; j++) {
			struct pair pair = {proc, &proc->tags[j], proc_cgroup(proc), now};

			if (!tag_is_shown(pair.tag))
				continue;
			rows->pairs += now;
			if (is_chosen(choice, &pair))
				pairs[(*n)++] = pair;
		}
		rows->procs += now;
		rows->procs_left += now && *n > start;
	}
}

/* ---- sums ---- */

static void add_to(struct row *row, const struct pair *pair)
{
	static const struct {
		enum rows_sort to;
		int from;
	} sums[] = {
		{SORT_ANON, MTAG_C_ANON},
		{SORT_FILE, MTAG_C_FILE},
		{SORT_SHMEM, MTAG_C_SHMEM},
		{SORT_SWAP, MTAG_C_SWAP},
	};
	uint64_t rss = tag_rss(pair->tag);

	if (!pair->now) {
		row->before += rss;
		return;
	}
	if (!row->pairs)
		row->key = *pair; /* that of one that has ended does not stay in memory as long */
	if (!row->pairs || rss > tag_rss(row->largest.tag))
		row->largest = *pair;
	row->pairs++;
	row->v[SORT_RSS] += rss;
	row->v[SORT_ASKED] += asked_of(pair);
	row->heaps |= pair->proc->heap != NULL;
	for (size_t i = 0; i < ARRAY_SIZE(sums); i++)
		row->v[sums[i].to] += pair->tag->c[sums[i].from];
	if (pair->tag->c[MTAG_C_PEAK] > row->v[SORT_PEAK])
		row->v[SORT_PEAK] = pair->tag->c[MTAG_C_PEAK];
}

static struct row *new_row(struct rows *rows, unsigned int level, const struct pair *pair)
{
	if (rows->n == rows->room) {
		size_t room = rows->room ? rows->room * 2 : 64;
		struct row *row = reallocarray(rows->row, room, sizeof(*row));

		if (!row)
			return NULL;
		rows->row = row;
		rows->room = room;
	}
	rows->row[rows->n] = (struct row){
		.key = *pair,
		.kind = groupings[rows->by].kinds[level],
		.level = level,
	};
	return &rows->row[rows->n++];
}

/*
 * Makes the rows of sorted pairs: one at each level from the first at which a pair differs from the
 * last one.
 */
static int sum_up(struct rows *rows, const struct pair *pairs, size_t n)
{
	unsigned int levels = groupings[rows->by].levels;
	size_t at[ROWS_LEVELS] = {0};

	for (size_t i = 0; i < n; i++) {
		unsigned int level = 0;

		while (i && level < levels &&
		       !compare_level(rows->by, level, &pairs[i - 1], &pairs[i]))
			level++;
		for (; level < levels; level++) {
			if (!new_row(rows, level, &pairs[i]))
				return -ENOMEM;
			at[level] = rows->n - 1;
		}
		for (level = 0; level < levels; level++)
			add_to(&rows->row[at[level]], &pairs[i]);
		add_to(&rows->total, &pairs[i]);
	}
	return 0;
}

/* Says of each row where those below it end, and how many children have not ended. */
static void link_rows(struct rows *rows)
{
	size_t end[ROWS_LEVELS + 1];
	size_t children[ROWS_LEVELS + 1] = {0};

	for (size_t i = 0; i <= ROWS_LEVELS; i++)
		end[i] = rows->n;
	for (size_t i = rows->n; i-- > 0;) {
		struct row *row = &rows->row[i];

		row->end = end[row->level];
		row->children = children[row->level + 1];
		children[row->level + 1] = 0;
		children[row->level] += row->pairs > 0;
		for (size_t level = row->level; level <= ROWS_LEVELS; level++)
			end[level] = i;
	}
	rows->total.children = children[0];
}

int rows_build(struct rows *rows, const struct choice *choice, const struct moment *now,
	       const struct moment *before)
{
	_cleanup_(freep) struct pair *pairs =
		calloc(count_tags(now) + count_tags(before) + 1, sizeof(*pairs));
	enum rows_by by = choice->by;
	size_t n = 0;

	*rows = (struct rows){.by = by, .ns = before ? now->ns - before->ns : 0};
	if (!pairs)
		return -ENOMEM;
	add_pairs(rows, choice, now, true, pairs, &n);
	add_pairs(rows, choice, before, false, pairs, &n);
	if (n)
		qsort_r(pairs, n, sizeof(*pairs), compare_pairs, &by);
	if (sum_up(rows, pairs, n))
		return -ENOMEM;
	link_rows(rows);
	return 0;
}

void rows_clear(struct rows *rows)
{
	free(rows->row);
	free(rows->list);
	*rows = (struct rows){0};
}

/* ---- open and closed ---- */

/* The order in which rows stand: by their names, and a row before those below it. */
static int compare_rows(enum rows_by by, const struct row *a, const struct row *b)
{
	unsigned int common = a->level < b->level ? a->level : b->level;

	for (unsigned int level = 0; level <= common; level++) {
		int order = compare_level(by, level, &a->key, &b->key);

		if (order)
			return order;
	}
	return (int)a->level - (int)b->level;
}

size_t rows_carry(struct rows *rows, const struct rows *old, size_t wanted, bool open)
{
	size_t found = rows->n, i = 0, j = 0;

	rows_open_all(rows, open);
	while (i < rows->n && j < old->n) {
		int order;

		/* Those that had ended name what is no longer in memory. */
		if (!old->row[j].pairs) {
			j++;
			continue;
		}
		order = compare_rows(rows->by, &rows->row[i], &old->row[j]);
		if (!order) {
			rows->row[i].open = old->row[j].open;
			if (j == wanted && rows->row[i].pairs)
				found = i;
		}
		i += order <= 0;
		j += order >= 0;
	}
	return found;
}

void rows_open_all(struct rows *rows, bool open)
{
	for (size_t i = 0; i < rows->n; i++)
		rows->row[i].open = open;
}

/* ---- the list ---- */

bool rows_may_open(const struct row *row)
{
	return row->children && row->pairs > 1;
}

int64_t rows_delta(const struct rows *rows, const struct row *row)
{
	return rows->ns ? (int64_t)(row->v[SORT_RSS] - row->before) : 0;
}

int64_t rows_rate(const struct rows *rows, const struct row *row)
{
	double rate = 0;

	if (rows->ns)
		rate = (double)rows_delta(rows, row) * 1e9 / (double)rows->ns;
	if (rate >= 0x1p63)
		return INT64_MAX;
	return rate <= -0x1p63 ? INT64_MIN : (int64_t)rate;
}

struct order {
	const struct rows *rows;
	enum rows_sort sort;
	bool inverted;
};

/*
 * By name from A, by number from the largest. Siblings are of one kind; most have one of the names
 * only.
 */
static int compare_column(const struct order *order, const struct row *a, const struct row *b)
{
	int64_t x, y;

	switch (order->sort) {
	case SORT_PID:
		return a->kind == ROW_PROCESS ? a->key.proc->pid - b->key.proc->pid : 0;
	case SORT_NAME:
		if (a->kind == ROW_CGROUP)
			return strcmp(a->key.cgroup, b->key.cgroup);
		return a->kind == ROW_PROCESS ? strcmp(a->key.proc->comm, b->key.proc->comm) : 0;
	case SORT_TAG:
		return a->kind == ROW_TAG ? strcmp(a->key.tag->path, b->key.tag->path) : 0;
	case SORT_DELTA:
		x = rows_delta(order->rows, a);
		y = rows_delta(order->rows, b);
		return (y > x) - (y < x);
	default:
		return compare_numbers(b->v[order->sort], a->v[order->sort]);
	}
}

static int compare_listed(const void *a, const void *b, void *arg)
{
	const struct order *order = arg;
	size_t i = *(const size_t *)a, j = *(const size_t *)b;
	int way = compare_column(order, &order->rows->row[i], &order->rows->row[j]);

	if (way)
		return order->inverted ? -way : way;
	return (i > j) - (i < j);
}

/*
 * Lists siblings from @first until @end with what is open below them. @scratch has room for all
 * rows.
 */
static void list_siblings(struct rows *rows, const struct order *order, size_t first, size_t end,
			  size_t *scratch)
{
	size_t n = 0;

	for (size_t i = first; i < end; i = rows->row[i].end)
		if (rows->row[i].pairs)
			scratch[n++] = i;
	if (n)
		qsort_r(scratch, n, sizeof(*scratch), compare_listed, (void *)order);
	for (size_t k = 0; k < n; k++) {
		size_t i = scratch[k];

		rows->list[rows->n_list++] = i;
		if (rows->row[i].open && rows_may_open(&rows->row[i]))
			list_siblings(rows, order, i + 1, rows->row[i].end, scratch + n);
	}
}

int rows_list(struct rows *rows, enum rows_sort sort, bool inverted)
{
	_cleanup_(freep) size_t *scratch = calloc(rows->n + 1, sizeof(*scratch));
	struct order order = {rows, sort, inverted};

	if (!rows->list)
		rows->list = calloc(rows->n + 1, sizeof(*rows->list));
	if (!scratch || !rows->list)
		return -ENOMEM;
	rows->n_list = 0;
	list_siblings(rows, &order, 0, rows->n, scratch);
	return 0;
}
