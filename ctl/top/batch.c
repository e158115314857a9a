// SPDX-License-Identifier: GPL-2.0
/* Prints all rows of top, as text or as JSON. */
#include <errno.h>

#include "ctl.h"
#include "format/heap.h"
#include "format/label.h"
#include "format/show.h"
#include "top/batch.h"
#include "top/table.h"

unsigned long batch_count(const struct fmt *fmt, bool json, unsigned long count)
{
	return count || (json && fmt->terminal) ? count : 1;
}

void batch_text(const struct fmt *fmt, const struct rows *rows)
{
	struct table table;

	table_layout(&table, fmt, rows, false);
	table_head(&table, fmt, rows->by);
	fputc('\n', fmt->out);
	for (size_t i = 0; i < rows->n_list; i++) {
		table_row(&table, fmt, rows, &rows->row[rows->list[i]]);
		fputc('\n', fmt->out);
	}
	table_total(&table, fmt, rows);
	fputc('\n', fmt->out);
}

/* There is no peak: tags peak at different times. */
static void add_sums(struct json_object *object, const struct row *row)
{
	static const struct {
		const char *key;
		enum rows_sort sort;
	} sums[] = {
		{"rss_bytes", SORT_RSS},     {"anon_bytes", SORT_ANON}, {"file_bytes", SORT_FILE},
		{"shmem_bytes", SORT_SHMEM}, {"swap_bytes", SORT_SWAP},
	};

	json_add_u64(object, "processes", row->kind == ROW_TAG ? row->children : 1);
	for (size_t i = 0; i < ARRAY_SIZE(sums); i++)
		json_add_u64(object, sums[i].key, row->v[sums[i].sort]);
	if (row->heaps)
		json_add_u64(object, "asked_bytes", row->v[SORT_ASKED]);
}

static unsigned int tag_level(const struct rows *rows)
{
	const enum row_kind *kinds;
	unsigned int level = 0;

	rows_kinds(rows->by, &kinds);
	while (kinds[level] != ROW_TAG)
		level++;
	return level;
}

/*
 * What is listed as row number @at, if it is the row of a tag or stands for one: then that of the only tag below it
 * that has not ended. Otherwise NULL.
 */
static const struct row *tag_row(const struct rows *rows, size_t at)
{
	const struct row *row = &rows->row[at];
	unsigned int level = tag_level(rows);

	if (row->level < level && rows_may_open(row))
		return NULL;
	for (size_t i = at; i < row->end; i++)
		if (rows->row[i].level == level && rows->row[i].pairs)
			return &rows->row[i];
	return NULL;
}

int batch_json(const struct fmt *fmt, const struct rows *rows, uint64_t time_ms)
{
	_cleanup_(json_putp) struct json_object *array = json_object_new_array();

	if (!array)
		return -ENOMEM;
	for (size_t i = 0; i < rows->n_list; i++) {
		const struct row *row = tag_row(rows, rows->list[i]);
		struct json_object *object;

		if (!row)
			continue;
		object = json_add_object(array);
		if (time_ms)
			json_add_u64(object, "time_ms", time_ms);
		if (rows->by == BY_CGROUP)
			json_add_string(object, "cgroup", row->key.cgroup);
		if (rows->by == BY_PROCESS) {
			label_json(object, row->key.proc, row->key.tag);
			show_add_counters(object, row->key.tag, fmt->stats);
			heap_add_sums(object, row->key.proc->heap, row->key.tag->id);
		} else {
			json_add_string(object, "tag", row->key.tag->path);
			add_sums(object, row);
		}
		json_add_i64(object, "rss_delta_bytes", rows_delta(rows, row));
	}
	return json_print(fmt, array);
}
