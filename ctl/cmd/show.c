// SPDX-License-Identifier: GPL-2.0
/* mtagctl show: the tags of some processes, or of all. */
#include "cmd/cmd.h"
#include "ctl.h"
#include "fail.h"
#include "format/show.h"
#include "kern.h"
#include "option.h"

static int fetch_all(struct ctl *ctl, struct kern *kern, struct snap *snap)
{
	int err = kern_tags(kern, 0, snap);

	if (err < 0)
		return fail_all(kern, "read the tags", err);
	if (err == KERN_INCOMPLETE)
		fail_incomplete();
	if (!ctl->json && !snap->n_procs)
		fail_print("no tracked process is visible to you");
	return CTL_OK;
}

static int by_pid(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Moves the one process of @from to the end of @snap. */
static int move_proc(struct snap *snap, struct snap *from)
{
	struct proc *procs = reallocarray(snap->procs, snap->n_procs + 1, sizeof(*procs));

	if (!procs)
		return fail_memory();
	snap->procs = procs;
	procs[snap->n_procs++] = from->procs[0];
	from->n_procs = 0;
	return CTL_OK;
}

/* Processes that cannot be read are reported and left out. */
static int fetch_some(struct kern *kern, pid_t *pids, size_t n, struct snap *snap)
{
	int status = CTL_OK;

	qsort(pids, n, sizeof(*pids), by_pid);
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
		err = move_proc(snap, &one);
		if (err)
			return err;
	}
	return status;
}

int cmd_show(struct ctl *ctl, int argc, char **argv)
{
	_cleanup_(snap_clear) struct snap snap = {0};
	_cleanup_(kern_closep) struct kern *kern = NULL;
	_cleanup_(freep) pid_t *pids = NULL;
	struct fmt fmt;
	int err, status, opt = option_none(ctl, argc, argv);

	if (opt != OPTION_DONE)
		return option_status(opt);
	argc -= optind;
	status = option_pids(argc, argv + optind, &pids);
	if (status)
		return status;
	err = kern_open(&kern);
	if (err)
		return fail_open(err);
	status = argc ? fetch_some(kern, pids, (size_t)argc, &snap) : fetch_all(ctl, kern, &snap);
	fmt_init(&fmt, ctl);
	if (!ctl->json)
		show_text(&fmt, &snap);
	else if (show_json(&fmt, &snap))
		return fail_memory();
	return status;
}
