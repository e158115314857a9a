// SPDX-License-Identifier: GPL-2.0
/* Keeps the last samples of each tag of a process, and prints them as bars. */
#include <errno.h>
#include <string.h>

#include "ctl.h"
#include "format/spark.h"

#define LEVELS 8

static void push(struct spark *spark, uint64_t rss)
{
	if (spark->n == SPARK_MOST)
		memmove(spark->rss, spark->rss + 1, --spark->n * sizeof(*spark->rss));
	spark->rss[spark->n++] = rss;
}

/* The history of the tag that had the same id, unless exec gave that to another one. */
static const struct spark *find(const struct sparks *sparks, const struct proc *before,
				const struct tag *tag)
{
	const struct tag *old = before ? proc_find_tag(before, tag->id) : NULL;

	return old && !strcmp(old->path, tag->path) ? &sparks->tags[old - before->tags] : NULL;
}

int spark_add(struct sparks *sparks, const struct proc *now, const struct proc *before)
{
	struct spark *tags = calloc(now->n_tags + 1, sizeof(*tags));

	if (!tags)
		return -ENOMEM;
	for (size_t i = 0; i < now->n_tags; i++) {
		const struct spark *old = find(sparks, before, &now->tags[i]);

		if (old)
			tags[i] = *old;
		push(&tags[i], tag_rss(&now->tags[i]));
	}
	free(sparks->tags);
	sparks->tags = tags;
	push(&sparks->total, now->rss);
	return 0;
}

void spark_clear(struct sparks *sparks)
{
	free(sparks->tags);
	*sparks = (struct sparks){0};
}

void spark_print(const struct fmt *fmt, const struct spark *spark, unsigned int width)
{
	static const char *const blocks[LEVELS] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char *const ascii[LEVELS] = {"_", ".", ":", "-", "=", "+", "*", "#"};
	unsigned int n = spark->n < width ? spark->n : width;
	const uint64_t *rss = spark->rss + spark->n - n;
	uint64_t least = UINT64_MAX, most = 0;

	for (unsigned int i = 0; i < n; i++) {
		least = rss[i] < least ? rss[i] : least;
		most = rss[i] > most ? rss[i] : most;
	}
	if (n && most - least < least / 8)
		most = least + least / 8;
	for (unsigned int i = 0; i < n; i++) {
		double part = most > least ? (double)(rss[i] - least) / (double)(most - least) : 0;
		unsigned int level = (unsigned int)(part * (LEVELS - 1) + 0.5);

		fputs(fmt->utf8 ? blocks[level] : ascii[level], fmt->out);
	}
}
