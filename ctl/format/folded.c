// SPDX-License-Identifier: GPL-2.0
/*
 * Folded stacks: frames with ; between them, the outermost first, and behind the last blank the value
 * of this stack alone. The sum of all is the RSS.
 */
#include <errno.h>
#include <inttypes.h>

#include "ctl.h"
#include "format/folded.h"
#include "format/label.h"
#include "utf8.h"

/* The parts of a tag. Swap is not resident, so that it is only there if it is asked for. */
static const struct part {
	const char *name;
	int counter;
	bool stats;
} parts[] = {
	{"anon", MTAG_C_ANON, false},
	{"file", MTAG_C_FILE, false},
	{"shmem", MTAG_C_SHMEM, false},
	{"swap", MTAG_C_SWAP, true},
};

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
	_cleanup_(freep) char *name = frame_of(label_of(tag));

	if (!name)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (tag->c[parts[i].counter] && (fmt->stats || !parts[i].stats))
			fprintf(fmt->out, "%s-%d;%s;%s %" PRIu64 "\n", comm, (int)proc->pid, name,
				parts[i].name, tag->c[parts[i].counter]);
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
