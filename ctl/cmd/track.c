// SPDX-License-Identifier: GPL-2.0
/* mtagctl track and untrack: start and stop tracking running processes. */
#include "cmd/cmd.h"
#include "ctl.h"
#include "fail.h"
#include "kern.h"
#include "option.h"

static int track_pids(struct ctl *ctl, int argc, char **argv, bool on)
{
	_cleanup_(kern_closep) struct kern *kern = NULL;
	_cleanup_(freep) pid_t *pids = NULL;
	int err, status = CTL_OK, opt = option_none(ctl, argc, argv);

	if (opt != OPTION_DONE)
		return option_status(opt);
	if (argc == optind) {
		fail_print("%s needs at least one process id", argv[0]);
		return CTL_USAGE;
	}
	argc -= optind;
	err = option_pids(argc, argv + optind, &pids);
	if (err)
		return err;
	err = kern_open(&kern);
	if (err)
		return fail_open(err);
	for (int i = 0; i < argc; i++) {
		err = kern_track(kern, pids[i], on);
		if (err)
			status = fail_pid(kern, on ? "track" : "untrack", pids[i], err);
	}
	return status;
}

int cmd_track(struct ctl *ctl, int argc, char **argv)
{
	return track_pids(ctl, argc, argv, true);
}

int cmd_untrack(struct ctl *ctl, int argc, char **argv)
{
	return track_pids(ctl, argc, argv, false);
}
