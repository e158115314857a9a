// SPDX-License-Identifier: GPL-2.0
/*
 * Folded stacks: process;tag;part of the tag, the outermost first, and behind the last blank the resident bytes
 * of this stack alone. The sum of all is the RSS.
 */
#include <errno.h>
#include <inttypes.h>

#include "ctl.h"
#include "format/folded.h"
#include "format/label.h"
#include "utf8.h"

/* A frame: printable, and without what would end it. */
static char *frame_of(const char *name)
{
	char *clean = utf8_clean(name, true);

	for (char *p = clean; p && *p; p++)
		if (*p == ';')
			*p = ':';
	return clean;
}

static int print_tag(const struct fmt *fmt, const char *comm, const struct proc *proc,
		     const struct tag *tag)
{
	uint64_t rss = tag->c[MTAG_C_ANON] + tag->c[MTAG_C_FILE] + tag->c[MTAG_C_SHMEM];
	_cleanup_(freep) char *frames = frame_of(label_of(tag));

	if (!frames)
		return -ENOMEM;
	/* Each component of the path is a frame. */
	for (char *p = frames; *p; p++)
		if (*p == '/')
			*p = ';';
	if (rss)
		fprintf(fmt->out, "%s-%d;%s %" PRIu64 "\n", comm, (int)proc->pid, frames, rss);
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
