// SPDX-License-Identifier: GPL-2.0
/* What a tag or a frame of a stack is in, from the outermost. */
#include <errno.h>
#include <string.h>

#include "ctl.h"
#include "format/chain.h"
#include "format/label.h"

static const struct tag *parent_of(const struct proc *proc, const struct tag *tag)
{
	return tag->parent < 0 ? NULL : &proc->tags[tag->parent];
}

const struct tag *chain_tag(const struct proc *proc, const struct tag *tag)
{
	while (tag && tag->frame)
		tag = parent_of(proc, tag);
	return tag;
}

ssize_t chain_frames(const struct proc *proc, const struct tag *tag, const struct tag ***frames)
{
	size_t n = 0, i;

	for (const struct tag *at = tag; at && at->frame; at = parent_of(proc, at))
		n++;
	*frames = calloc(n + 1, sizeof(struct tag *));
	if (!*frames)
		return -ENOMEM;
	for (i = n; i-- > 0; tag = parent_of(proc, tag))
		(*frames)[i] = tag;
	return (ssize_t)n;
}

char *chain_text(const struct proc *proc, const struct tag *tag)
{
	const struct tag *owner = chain_tag(proc, tag);
	_cleanup_(freep) const struct tag **frames = NULL;
	ssize_t n = chain_frames(proc, tag, &frames);
	size_t length = 0;
	char *text = NULL;
	FILE *out = n < 0 ? NULL : open_memstream(&text, &length);

	if (!out)
		return NULL;
	fputs(owner ? label_of(owner) : "", out);
	for (ssize_t i = 0; i < n; i++)
		fprintf(out, "%s%s", i ? "; " : owner ? ": " : "", frames[i]->name);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}
