// SPDX-License-Identifier: GPL-2.0
/* The model from the kernel or from a snapshot file, whichever the command line says. */
#include "ctl.h"
#include "fail.h"
#include "kern.h"
#include "offline/read.h"
#include "offline/source.h"
#include "parse.h"

bool source_option(struct source *source, int opt, const char *value)
{
	if (opt == SOURCE_FROM)
		source->from = value;
	if (opt != SOURCE_SAMPLE || !parse_count(value, &source->sample))
		return true;
	fail_print("invalid sample '%s' (a number from 1, counted from the file's beginning)",
		   value);
	return false;
}

static int read_all(struct kern *kern, struct snap *snap)
{
	int err = kern_tags(kern, 0, snap);

	if (err < 0)
		return fail_all(kern, "read the tags", err);
	if (err == KERN_INCOMPLETE)
		fail_incomplete();
	return CTL_OK;
}

static int by_pid(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Moves a process to the end of @snap. */
static int move_proc(struct snap *snap, struct proc *proc)
{
	struct proc *procs = reallocarray(snap->procs, snap->n_procs + 1, sizeof(*procs));

	if (!procs)
		return fail_memory();
	snap->procs = procs;
	procs[snap->n_procs++] = *proc;
	*proc = (struct proc){.pid = proc->pid};
	return CTL_OK;
}

static int read_some(struct kern *kern, const pid_t *pids, size_t n, struct snap *snap)
{
	int status = CTL_OK;

	for (size_t i = 0; i < n; i++) {
		_cleanup_(snap_clear) struct snap one = {0};
		int err;

		if (i && pids[i] == pids[i - 1])
			continue;
		err = kern_tags(kern, pids[i], &one);
		if (err) {
			status = fail_pid(kern, "read", pids[i], err);
			continue;
		}
		err = move_proc(snap, &one.procs[0]);
		if (err)
			return err;
	}
	return status;
}

/* Of all processes of a file, those that are wanted. Both are in the order of process ids. */
static int pick_some(struct snap *all, const pid_t *pids, size_t n, const char *path,
		     struct snap *snap)
{
	int status = CTL_OK, err;

	for (size_t i = 0, at = 0; i < n; i++) {
		if (i && pids[i] == pids[i - 1])
			continue;
		while (at < all->n_procs && all->procs[at].pid < pids[i])
			at++;
		if (at == all->n_procs || all->procs[at].pid != pids[i]) {
			fail_print("no process %d in this sample of %s", (int)pids[i], path);
			status = CTL_REFUSED;
			continue;
		}
		err = move_proc(snap, &all->procs[at]);
		if (err)
			return err;
	}
	return status;
}

static int read_file(struct source *source, const pid_t *pids, size_t n, struct snap *snap)
{
	_cleanup_(snap_clear) struct snap all = {0};
	struct origin origin;
	int status = read_sample(source->from, source->sample, &origin, &all);

	if (status)
		return status;
	source->read = true;
	if (n)
		return pick_some(&all, pids, n, source->from, snap);
	*snap = all;
	all = (struct snap){0};
	return CTL_OK;
}

int source_read(struct source *source, pid_t *pids, size_t n, struct snap *snap)
{
	_cleanup_(kern_closep) struct kern *kern = NULL;
	int err;

	if (source->sample && !source->from) {
		fail_print("--sample chooses a sample of a file; --from names the file");
		return CTL_USAGE;
	}
	if (n)
		qsort(pids, n, sizeof(*pids), by_pid);
	if (source->from)
		return read_file(source, pids, n, snap);
	err = kern_open(&kern);
	if (err)
		return fail_open(err);
	source->read = true;
	return n ? read_some(kern, pids, n, snap) : read_all(kern, snap);
}
