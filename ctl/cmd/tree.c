// SPDX-License-Identifier: GPL-2.0
/* mtagctl tree: the tags of one process. */
#include "cmd/cmd.h"
#include "ctl.h"
#include "fail.h"
#include "format/tree.h"
#include "kern.h"
#include "option.h"

int cmd_tree(struct ctl *ctl, int argc, char **argv)
{
	_cleanup_(snap_clear) struct snap snap = {0};
	_cleanup_(kern_closep) struct kern *kern = NULL;
	_cleanup_(freep) pid_t *pids = NULL;
	struct fmt fmt;
	int err, opt = option_none(ctl, argc, argv);

	if (opt != OPTION_DONE)
		return option_status(opt);
	if (argc - optind != 1) {
		fail_print("tree takes one process id");
		return CTL_USAGE;
	}
	err = option_pids(1, argv + optind, &pids);
	if (err)
		return err;
	err = kern_open(&kern);
	if (err)
		return fail_open(err);
	err = kern_tags(kern, pids[0], &snap);
	if (err)
		return fail_pid(kern, "read", pids[0], err);
	fmt_init(&fmt, ctl);
	err = ctl->json ? tree_json(&fmt, snap.procs) : tree_text(&fmt, snap.procs);
	return err ? fail_memory() : CTL_OK;
}
