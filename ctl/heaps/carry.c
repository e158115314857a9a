// SPDX-License-Identifier: GPL-2.0
/* What was known of the pages of a heap, beside newer sums. */
#include <errno.h>

#include "ctl.h"
#include "heaps/carry.h"

static struct heap_tag next_tag(const struct heap_view *now, size_t *i,
				const struct heap_view *before, size_t *j)
{
	bool in_now = *i < now->n, in_before = *j < before->n;
	struct heap_tag tag = {0};

	/* Both ascend. */
	if (in_now && in_before && now->tags[*i].id != before->tags[*j].id) {
		in_now = now->tags[*i].id < before->tags[*j].id;
		in_before = !in_now;
	}
	if (in_now)
		tag = now->tags[(*i)++];
	if (!in_before)
		return tag;
	tag.id = before->tags[*j].id;
	tag.wasted = before->tags[(*j)++].wasted;
	return tag;
}

int heap_carry(struct heap_view *now, const struct heap_view *before)
{
	struct heap_tag *tags = calloc(now->n + before->n + 1, sizeof(*tags));
	size_t n = 0, i = 0, j = 0;

	if (!tags)
		return -ENOMEM;
	while (i < now->n || j < before->n)
		tags[n++] = next_tag(now, &i, before, &j);
	free(now->tags);
	now->tags = tags;
	now->n = n;
	now->wasted_before = true;
	return 0;
}
