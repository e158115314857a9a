// SPDX-License-Identifier: GPL-2.0
/* The cgroups of processes, from /proc. */
#include <stdio.h>
#include <string.h>

#include "cgroup.h"
#include "ctl.h"
#include "probe.h"

/* A line for each hierarchy; that of version 2 has number 0 and no names of controllers. */
static char *find_path(char *text)
{
	for (char *line = text, *next; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (!strncmp(line, "0::/", 4))
			return line + 3;
	}
	return NULL;
}

int cgroup_read(struct snap *snap)
{
	for (size_t i = 0; i < snap->n_procs; i++) {
		struct proc *proc = &snap->procs[i];
		_cleanup_(freep) char *text = NULL;
		char name[32], *path;
		int err;

		snprintf(name, sizeof(name), "/proc/%d/cgroup", (int)proc->pid);
		text = probe_read(name);
		path = text ? find_path(text) : NULL;
		err = path ? proc_set_cgroup(proc, path) : 0;
		if (err)
			return err;
	}
	return 0;
}
