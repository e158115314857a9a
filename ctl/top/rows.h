/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rows that top shows: pairs of a process and a tag, grouped, summed, filtered and sorted.
 * Nothing here reads or prints.
 */
#ifndef MTAGCTL_TOP_ROWS_H
#define MTAGCTL_TOP_ROWS_H

#include "top/moment.h"

/* What the rows are: processes with their tags, tags with their processes, or groups with both. */
enum rows_by { BY_PROCESS, BY_TAG, BY_CGROUP, BY_N };
enum row_kind { ROW_PROCESS, ROW_TAG, ROW_CGROUP };

/* What they can be sorted by, in the order of the columns. */
enum rows_sort {
	SORT_PID,
	SORT_NAME,
	SORT_TAG,
	SORT_RSS,
	SORT_DELTA,
	SORT_ASKED,
	SORT_ANON,
	SORT_FILE,
	SORT_SHMEM,
	SORT_SWAP,
	SORT_PEAK,
	SORT_N,
};
#define ROWS_LEVELS 3

/**
 * struct choice - which rows there are to be
 * @by:		what they are
 * @filter:	unless empty, only pairs in whose process id, name, tag or group it occurs, in
 *		whatever case
 * @empty:	also pairs that have no memory, resident, swapped, or of other tags' pages
 * @open:	rows that appear are open
 */
struct choice {
	enum rows_by by;
	const char *filter;
	bool empty;
	bool open;
};

/* A process and one of its tags. @cgroup: "" if it is unknown. @now: in the newer moment, not in the one before. */
struct pair {
	const struct proc *proc;
	const struct tag *tag;
	const char *cgroup;
	bool now;
};

/**
 * struct row - the sum over some pairs, which have the same process, tag or group
 * @key:	one of the pairs; what @kind and the kinds of the rows above name in it is the same
 *		in all
 * @kind:	what the row is
 * @level:	how deep it is
 * @end:	index of the first row that is not below this one; its children begin behind it
 * @pairs:	how many pairs it sums; 0: all have ended
 * @children:	rows directly below it that have not ended
 * @largest:	the pair of these with the largest RSS
 * @v:		sums, by enum rows_sort; of SORT_PEAK the largest
 * @heaps:	the heap of one of its processes is known; else there is no SORT_ASKED
 * @before:	RSS at the moment before, also of what has ended since
 * @open:	the rows below it are listed
 */
struct row {
	struct pair key;
	enum row_kind kind;
	unsigned int level;
	size_t end;
	size_t pairs;
	size_t children;
	struct pair largest;
	uint64_t v[SORT_N];
	bool heaps;
	uint64_t before;
	bool open;
};

/**
 * struct rows - all rows of two moments
 * @row:	a row precedes those below it; siblings are in the order of what names them
 * @total:	the sum over all
 * @procs:	processes of the newer moment, and
 * @procs_left:	those of which a pair was chosen; likewise @pairs, while total.pairs were chosen
 * @ns:		between the moments, 0 if there is only one
 * @list:	indices of the rows to show, in their order; by rows_list()
 */
struct rows {
	enum rows_by by;
	struct row *row;
	size_t n, room;
	struct row total;
	size_t procs, procs_left, pairs;
	uint64_t ns;
	size_t *list;
	size_t n_list;
};

/*
 * Builds the chosen rows of @now, with the changes since @before, which may be NULL. Sums are of
 * the chosen pairs. Both moments must outlive the rows. Returns 0 or -ENOMEM.
 */
int rows_build(struct rows *rows, const struct choice *choice, const struct moment *now,
	       const struct moment *before);
void rows_clear(struct rows *rows);

/*
 * Opens and closes rows as they are in @old, and others if @open. Returns the row that was @wanted
 * in @old, or rows->n if that has ended. Both were built by the same.
 */
size_t rows_carry(struct rows *rows, const struct rows *old, size_t wanted, bool open);
void rows_open_all(struct rows *rows, bool open);

/*
 * Lists the rows that are not below a closed one, nor below one of a single pair, which says it
 * all. Numbers are sorted largest first, names from A; @inverted, the other way round. Rows that
 * are equal keep their order. Returns 0 or -ENOMEM.
 */
int rows_list(struct rows *rows, enum rows_sort sort, bool inverted);

/* Whether there is anything to list below it. */
bool rows_may_open(const struct row *row);
/* The growth of RSS a second; 0 if there is one moment only. */
int64_t rows_rate(const struct rows *rows, const struct row *row);
int64_t rows_delta(const struct rows *rows, const struct row *row);
/* The kinds of rows, from level 0; returns how many there are. */
unsigned int rows_kinds(enum rows_by by, const enum row_kind **kinds);

/*
 * The column's name for -s and in headings. rows_find_sort() takes its beginning, too, where an 'a' is
 * "anon"; SORT_N: none.
 */
const char *rows_sort_name(enum rows_sort sort);
enum rows_sort rows_find_sort(const char *name);
extern const char rows_sort_names[];
bool rows_sort_is_name(enum rows_sort sort);
const char *rows_by_name(enum rows_by by);
/* BY_N: none. */
enum rows_by rows_find_by(const char *name);

#endif
