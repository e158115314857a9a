// SPDX-License-Identifier: GPL-2.0
/* mtagctl audit: page tables against counters. */
#include <errno.h>

#include "cmd/cmd.h"
#include "ctl.h"
#include "fail.h"
#include "format/audit.h"
#include "kern.h"
#include "option.h"

/* Lists all tracked processes, except those that have no pid in this pid namespace. */
static int list_pids(struct kern *kern, pid_t **pids, size_t *n)
{
	_cleanup_(snap_clear) struct snap snap = {0};
	int err = kern_procs(kern, &snap);

	if (err < 0)
		return fail_all(kern, "list the tracked processes", err);
	if (err == KERN_INCOMPLETE)
		fail_incomplete();
	*pids = calloc(snap.n_procs + 1, sizeof(**pids));
	if (!*pids)
		return fail_memory();
	*n = 0;
	for (size_t i = 0; i < snap.n_procs; i++)
		if (snap.procs[i].pid > 0)
			(*pids)[(*n)++] = snap.procs[i].pid;
	return CTL_OK;
}

/* Audits @pids into @audits; *@done is the number of those that succeeded. */
static int audit_pids(struct kern *kern, const pid_t *pids, size_t n, bool named,
		      struct audit *audits, size_t *done)
{
	int status = CTL_OK;
	bool drift = false;

	for (size_t i = 0; i < n; i++) {
		int err = kern_audit(kern, pids[i], &audits[*done]);

		if (!err)
			drift |= audits[(*done)++].drift != 0;
		else if (named || (err != -ESRCH && err != -ENOENT))
			status = fail_pid(kern, "audit", pids[i], err);
	}
	return drift ? CTL_DRIFT : status;
}

int cmd_audit(struct ctl *ctl, int argc, char **argv)
{
	_cleanup_(kern_closep) struct kern *kern = NULL;
	_cleanup_(freep) struct audit *audits = NULL;
	_cleanup_(freep) pid_t *named = NULL, *listed = NULL;
	struct fmt fmt;
	size_t n, done = 0;
	int err, status, opt = option_none(ctl, argc, argv);

	if (opt != OPTION_DONE)
		return option_status(opt);
	n = (size_t)(argc - optind);
	status = option_pids((int)n, argv + optind, &named);
	if (status)
		return status;
	err = kern_open(&kern);
	if (err)
		return fail_open(err);
	if (argc == optind)
		status = list_pids(kern, &listed, &n);
	if (status)
		return status;
	audits = calloc(n + 1, sizeof(*audits));
	if (!audits)
		return fail_memory();
	status = audit_pids(kern, listed ? listed : named, n, !listed, audits, &done);
	fmt_init(&fmt, ctl);
	if (!ctl->json)
		audit_text(&fmt, audits, done);
	else if (audit_json(&fmt, audits, done))
		return fail_memory();
	return status;
}
