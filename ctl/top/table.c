// SPDX-License-Identifier: GPL-2.0
/* Lays out the table of top, and prints its lines. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ctl.h"
#include "format/label.h"
#include "format/text.h"
#include "top/table.h"
#include "utf8.h"

#define MARK	   2  /* before the names of a row: whether it is open */
#define INDENT	   2  /* for each level */
#define COMM	   15 /* the longest name of a process */
#define NUMBER	   6  /* "99.9M" and a blank */
#define NAMES_MIN  24 /* both columns of names: rather than less, there are fewer numbers */
#define NAMES_GOOD 36 /* what one number more, of heaps, is not worth */
#define FIRST_MOST 48
#define TAG_LEAST  13 /* "[untagged] +9" */
#define PROC_LEAST 16

/* From the one that is missed last. */
static const enum rows_sort by_importance[] = {SORT_RSS,  SORT_DELTA, SORT_ASKED, SORT_ANON,
					       SORT_SWAP, SORT_FILE,  SORT_SHMEM, SORT_PEAK};

static unsigned int digits(uint64_t n)
{
	unsigned int d = 1;

	while (n >= 10) {
		n /= 10;
		d++;
	}
	return d;
}

static uint64_t largest_number(const struct rows *rows, const struct row *row)
{
	int64_t rate = rows_rate(rows, row);
	uint64_t most = rate < 0 ? 0 - (uint64_t)rate : (uint64_t)rate;

	for (enum rows_sort sort = SORT_RSS; sort < SORT_N; sort++)
		if (row->v[sort] > most)
			most = row->v[sort];
	return most;
}

/* A change in a short time is a rate that may be larger than all that there is. */
static unsigned int number_width(const struct rows *rows, bool kib)
{
	uint64_t most = kib ? largest_number(rows, &rows->total) : 0;
	unsigned int width;

	for (size_t i = 0; kib && i < rows->n; i++)
		if (largest_number(rows, &rows->row[i]) > most)
			most = largest_number(rows, &rows->row[i]);
	width = digits(most / 1024) + 1;
	return width > NUMBER ? width : NUMBER;
}

static int pid_width(const struct rows *rows)
{
	unsigned int width = digits(99999);

	for (size_t i = 0; i < rows->n; i++)
		if (rows->row[i].kind == ROW_PROCESS &&
		    digits((uint64_t)rows->row[i].key.proc->pid) > width)
			width = digits((uint64_t)rows->row[i].key.proc->pid);
	return (int)width;
}

/* Of what the numbers leave; the last column gets the rest. */
static unsigned int first_width(const struct table *table, enum rows_by by, unsigned int names)
{
	unsigned int most =
		by == BY_PROCESS ? MARK + (unsigned int)table->pid_width + 1 + COMM : FIRST_MOST;
	unsigned int least = by == BY_PROCESS ? TAG_LEAST : PROC_LEAST;
	unsigned int room = names > 2 * least ? names - least : names / 2;

	return most < room ? most : room;
}

void table_layout(struct table *table, const struct fmt *fmt, const struct rows *rows, bool kib)
{
	unsigned int width = number_width(rows, kib), left = fmt->width, at;

	*table = (struct table){.pid_width = pid_width(rows), .kib = kib};
	for (size_t i = 0; i < ARRAY_SIZE(by_importance); i++) {
		unsigned int need = width + (by_importance[i] == SORT_DELTA);
		unsigned int names =
			rows->total.heaps && by_importance[i] == SORT_PEAK ? NAMES_GOOD : NAMES_MIN;

		if (by_importance[i] == SORT_ASKED && !rows->total.heaps)
			continue;
		if (left < names + need)
			break;
		left -= need;
		table->width[by_importance[i]] = need;
	}
	table->first = first_width(table, rows->by, left);
	at = table->first;
	for (enum rows_sort sort = SORT_RSS; sort < SORT_N; sort++) {
		table->at[sort] = at;
		at += table->width[sort];
	}
	table->last = at + 1;
}

const char *table_heading(const struct fmt *fmt, enum rows_sort sort)
{
	static const char *const headings[SORT_N] = {
		"PID",	"NAME", "TAG",	 "RSS",	 "RSS/s", "ASKED",
		"ANON", "FILE", "SHMEM", "SWAP", "PEAK",
	};

	return sort == SORT_DELTA && fmt->utf8 ? "ΔRSS/s" : headings[sort];
}

void table_head(const struct table *table, const struct fmt *fmt, enum rows_by by)
{
	static const char *const tags[BY_N] = {"", "TAG", "CGROUP  TAG"};
	char process[32], first[40];

	snprintf(process, sizeof(process), "%*s NAME", table->pid_width, "PID");
	snprintf(first, sizeof(first), "%*s%s", MARK, "", by == BY_PROCESS ? process : tags[by]);
	text_cell(fmt, first, table->first, CUT_END);
	for (enum rows_sort sort = SORT_RSS; sort < SORT_N; sort++)
		if (table->width[sort])
			text_right(fmt, (int)table->width[sort], table_heading(fmt, sort));
	fputc(' ', fmt->out);
	text_cell(fmt, by == BY_PROCESS ? "TAG" : process, fmt->width - table->last, CUT_END);
}

const char *table_number(const struct table *table, const struct rows *rows, const struct row *row,
			 enum rows_sort sort, char buf[32])
{
	int64_t rate = rows_rate(rows, row), kib = rate / 1024;

	/* Tags peak at different times; and not all processes have a heap view. */
	if ((sort == SORT_PEAK && row->pairs != 1) || (sort == SORT_ASKED && !row->heaps))
		return strcpy(buf, "-");
	if (sort == SORT_DELTA && table->kib)
		snprintf(buf, 32, kib ? "%+" PRId64 : "%" PRId64, kib);
	else if (sort == SORT_DELTA)
		text_brief_change(buf, rate);
	else if (table->kib)
		snprintf(buf, 32, "%" PRIu64, row->v[sort] / 1024);
	else
		text_brief(buf, row->v[sort]);
	return buf;
}

static void print_numbers(const struct table *table, const struct fmt *fmt, const struct rows *rows,
			  const struct row *row)
{
	char buf[32];

	for (enum rows_sort sort = SORT_RSS; sort < SORT_N; sort++)
		if (table->width[sort])
			text_right(fmt, (int)table->width[sort],
				   table_number(table, rows, row, sort, buf));
}

/* What a row is called; the caller frees it. */
static char *name_of(const struct table *table, enum row_kind kind, const struct pair *pair)
{
	char *name = NULL;

	if (kind == ROW_TAG)
		return strdup(label_of(pair->tag));
	if (kind == ROW_CGROUP)
		return strdup(*pair->cgroup ? pair->cgroup : "?");
	if (asprintf(&name, "%*d %s", table->pid_width, (int)pair->proc->pid, pair->proc->comm) < 0)
		return NULL;
	return name;
}

/* The end of a path says more than its beginning. */
static enum cut cut_of(enum row_kind kind)
{
	return kind == ROW_PROCESS ? CUT_END : CUT_BEGINNING;
}

static void print_first(const struct table *table, const struct fmt *fmt, const struct row *row,
			bool deepest)
{
	_cleanup_(freep) char *name = name_of(table, row->kind, &row->key);
	bool open = row->open;
	const char *mark = fmt->utf8 ? open ? "▾" : "▸" : open ? "-" : "+";
	unsigned int before = MARK + row->level * INDENT;

	if (deepest || before >= table->first) {
		fprintf(fmt->out, "%*s", (int)table->first, "");
		return;
	}
	fprintf(fmt->out, "%*s%s ", (int)row->level * INDENT, "",
		table->marks && rows_may_open(row) ? mark : " ");
	text_cell(fmt, name ? name : "?", table->first - before, cut_of(row->kind));
}

/* The name of a deepest row; of a closed one its largest, and how many more there are. */
static void print_last(const struct table *table, const struct fmt *fmt, const struct rows *rows,
		       const struct row *row)
{
	const enum row_kind *kinds;
	unsigned int levels = rows_kinds(rows->by, &kinds), room, width;
	bool deepest = row->level + 1 == levels;
	_cleanup_(freep) char *name =
		name_of(table, kinds[levels - 1], deepest ? &row->key : &row->largest);
	_cleanup_(freep) char *clean = utf8_clean(name ? name : "?", fmt->utf8);
	char more[32] = "";

	if (fmt->width <= table->last || (row->open && rows_may_open(row)))
		return;
	if (row->pairs > 1)
		snprintf(more, sizeof(more), " +%zu", row->pairs - 1);
	fputc(' ', fmt->out);
	room = fmt->width - table->last;
	room -= room > strlen(more) ? (unsigned int)strlen(more) : room;
	width = clean ? utf8_width(clean) : 1;
	if (room)
		text_cell(fmt, name ? name : "?", width < room ? width : room,
			  cut_of(kinds[levels - 1]));
	fputs(more, fmt->out);
}

void table_row(const struct table *table, const struct fmt *fmt, const struct rows *rows,
	       const struct row *row)
{
	const enum row_kind *kinds;

	print_first(table, fmt, row, row->level + 1 == rows_kinds(rows->by, &kinds));
	print_numbers(table, fmt, rows, row);
	print_last(table, fmt, rows, row);
}

bool table_span(const struct table *table, enum rows_by by, enum rows_sort sort, unsigned int *at,
		unsigned int *width)
{
	unsigned int process = by == BY_PROCESS ? MARK : table->last;
	unsigned int pid = (unsigned int)table->pid_width;

	if (!rows_sort_is_name(sort)) {
		*at = table->at[sort];
		*width = table->width[sort];
	} else if (sort == SORT_TAG) {
		*at = by == BY_PROCESS ? table->last : MARK;
		*width = by == BY_CGROUP ? sizeof("CGROUP  TAG") - 1 : sizeof("TAG") - 1;
	} else {
		*at = sort == SORT_PID ? process : process + pid + 1;
		*width = sort == SORT_PID ? pid : sizeof("NAME") - 1;
	}
	return *width;
}

void table_total(const struct table *table, const struct fmt *fmt, const struct rows *rows)
{
	fprintf(fmt->out, "%*s", MARK, "");
	text_cell(fmt, "total", table->first - MARK, CUT_END);
	print_numbers(table, fmt, rows, &rows->total);
}
