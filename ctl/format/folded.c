// SPDX-License-Identifier: GPL-2.0
/*
 * Folded stacks: process;tag;part of the tag;function;…, the outermost first, and behind the last blank the resident
 * bytes of this stack alone. The sum of all is the RSS, or with functions the anonymous part of it.
 */
#include <errno.h>
#include <inttypes.h>

#include "ctl.h"
#include "format/chain.h"
#include "format/folded.h"
#include "format/label.h"
#include "utf8.h"

/* A frame: printable, and without what would end it. */
static char *frame_of(const char *name)
{
	char *clean = utf8_clean_export(name);

	for (char *p = clean; p && *p; p++)
		if (*p == ';')
			*p = ':';
	return clean;
}

static int print_tag(const struct fmt *fmt, const char *comm, const struct proc *proc,
		     const struct tag *tag)
{
	uint64_t rss = tag->c[MTAG_C_ANON] + tag->c[MTAG_C_FILE] + tag->c[MTAG_C_SHMEM];
	const struct tag *owner = rss ? chain_tag(proc, tag) : NULL;
	_cleanup_(freep) const struct tag **frames = NULL;
	_cleanup_(freep) char *path = NULL;
	ssize_t n;

	/* Most frames of a deep stack are only on the way to others. */
	if (!rss)
		return 0;
	path = frame_of(owner ? label_of(owner) : "");
	n = chain_frames(proc, tag, &frames);
	if (!path || n < 0)
		return -ENOMEM;
	/* Each component of the path is a frame. */
	for (char *p = path; *p; p++)
		if (*p == '/')
			*p = ';';
	fprintf(fmt->out, "%s-%d%s%s", comm, (int)proc->pid, owner ? ";" : "", path);
	for (ssize_t i = 0; i < n; i++) {
		_cleanup_(freep) char *name = frame_of(frames[i]->name);

		if (!name)
			return -ENOMEM;
		fprintf(fmt->out, ";%s", name);
	}
	fprintf(fmt->out, " %" PRIu64 "\n", rss);
	return 0;
}

int folded_print(const struct fmt *fmt, const struct snap *snap)
{
	for (size_t i = 0; i < snap->n_procs; i++) {
		const struct proc *proc = &snap->procs[i];
		_cleanup_(freep) char *comm = frame_of(proc->comm);
		int err = comm ? 0 : -ENOMEM;

		for (size_t j = 0; j < proc->n_tags && !err; j++)
			err = print_tag(fmt, comm, proc, &proc->tags[proc->order[j]]);
		if (err)
			return err;
	}
	return 0;
}
