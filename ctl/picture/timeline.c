// SPDX-License-Identifier: GPL-2.0
/*
 * The bytes of each tag over time. Only changes are kept, so that the memory needed is bounded by what
 * was read, however many tags come and go.
 */
#include <errno.h>
#include <search.h>
#include <string.h>

#include "ctl.h"
#include "format/label.h"
#include "picture/timeline.h"

static int by_name(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	int order = strcmp(x->comm, y->comm);

	return order ? order : strcmp(x->path, y->path);
}

static void line_free(struct line *line)
{
	free(line->comm);
	free(line->path);
	free(line->label);
	free(line->points);
	free(line);
}

static struct line *add_line(struct timeline *t, const char *comm, const char *path)
{
	struct line **lines = array_grow(t->lines, t->n_lines, &t->lines_room, sizeof(*lines));
	struct line *line = calloc(1, sizeof(*line));

	t->lines = lines ? lines : t->lines;
	if (line) {
		line->comm = strdup(comm);
		line->path = strdup(path);
	}
	if (!lines || !line || !line->comm || !line->path || !tsearch(line, &t->root, by_name)) {
		if (line)
			line_free(line);
		return NULL;
	}
	t->lines[t->n_lines++] = line;
	return line;
}

static struct line *find_line(const struct timeline *t, const char *comm, const char *path)
{
	struct line key = {.comm = (char *)comm, .path = (char *)path};
	struct line **found = tfind(&key, &t->root, by_name);

	return found ? *found : NULL;
}

const struct line *timeline_find(const struct timeline *t, const char *comm, const char *path)
{
	return find_line(t, comm, path);
}

static uint64_t last_bytes(const struct line *line)
{
	return line->n_points ? line->points[line->n_points - 1].bytes : 0;
}

static int add_point(struct line *line, size_t sample, uint64_t bytes)
{
	struct point *points =
		array_grow(line->points, line->n_points, &line->room, sizeof(*points));

	if (!points)
		return -ENOMEM;
	line->points = points;
	points[line->n_points++] = (struct point){sample, bytes};
	return 0;
}

/* The samples since the one that last had it, before @sample: it was 0 in them. */
static int add_absent(struct line *line, size_t sample)
{
	if (!last_bytes(line) || line->seen + 1 >= sample)
		return 0;
	return add_point(line, line->seen + 1, 0);
}

/* Adds @bytes to what the line has in @sample. */
static int add_bytes(struct line *line, size_t sample, uint64_t bytes)
{
	bool again = line->n_points && line->seen == sample;
	struct point *last;
	uint64_t before;

	if (add_absent(line, sample))
		return -ENOMEM;
	last = line->n_points ? &line->points[line->n_points - 1] : NULL;
	before = last_bytes(line);
	line->seen = sample;
	if (again)
		bytes += before;
	if (bytes > line->most)
		line->most = bytes;
	if (bytes == before)
		return 0;
	if (last && last->sample == sample) {
		last->bytes = bytes;
		return 0;
	}
	return add_point(line, sample, bytes);
}

static int add_proc(struct timeline *t, const struct proc *proc)
{
	size_t sample = t->n_samples - 1;

	for (size_t i = 0; i < proc->n_tags; i++) {
		const struct tag *tag = &proc->tags[i];
		struct line *line;

		if (!tag_is_shown(tag))
			continue;
		line = find_line(t, proc->comm, tag->path);
		if (!line)
			line = add_line(t, proc->comm, tag->path);
		if (!line || add_bytes(line, sample, tag_rss(tag)))
			return -ENOMEM;
	}
	return 0;
}

int timeline_add(struct timeline *t, uint64_t time_ms, const struct snap *snap)
{
	uint64_t *times = array_grow(t->times, t->n_samples, &t->times_room, sizeof(*times));

	if (!times)
		return -ENOMEM;
	t->times = times;
	if (t->n_samples && times[t->n_samples - 1] > time_ms)
		return -EINVAL;
	times[t->n_samples++] = time_ms;
	for (size_t i = 0; i < snap->n_procs; i++)
		if (add_proc(t, &snap->procs[i]))
			return -ENOMEM;
	return 0;
}

static int by_most(const void *a, const void *b)
{
	const struct line *x = *(struct line *const *)a, *y = *(struct line *const *)b;

	if (x->most != y->most)
		return x->most > y->most ? -1 : 1;
	return by_name(x, y);
}

static bool one_comm(const struct timeline *t)
{
	for (size_t i = 1; i < t->n_lines; i++)
		if (strcmp(t->lines[i]->comm, t->lines[0]->comm) != 0)
			return false;
	return true;
}

int timeline_rank(struct timeline *t, unsigned int hues)
{
	bool alone = one_comm(t);

	for (size_t i = 0; i < t->n_lines; i++)
		if (add_absent(t->lines[i], t->n_samples))
			return -ENOMEM;
	if (t->n_lines)
		qsort(t->lines, t->n_lines, sizeof(struct line *), by_most);
	for (unsigned int i = 0; i < hues && i < t->n_lines && t->lines[i]->most; i++) {
		struct line *line = t->lines[i];
		const char *path = *line->path ? line->path : LABEL_UNTAGGED;

		line->hue = i + 1;
		if (asprintf(&line->label, "%s%s%s", alone ? "" : line->comm, alone ? "" : " ",
			     path) >= 0)
			continue;
		line->label = NULL;
		return -ENOMEM;
	}
	return 0;
}

static void keep(void *node)
{
	(void)node;
}

void timeline_clear(struct timeline *t)
{
	tdestroy(t->root, keep);
	for (size_t i = 0; i < t->n_lines; i++)
		line_free(t->lines[i]);
	free(t->lines);
	free(t->times);
	*t = (struct timeline){0};
}
