// SPDX-License-Identifier: GPL-2.0
/* mtagctl track and untrack: start and stop tracking running processes. */
#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "ctl.h"
#include "fail.h"
#include "kern.h"
#include "option.h"
#include "parse.h"
#include "stacks/follow.h"
#include "stacks/load.h"

enum { STACKS = 1000 };

static int fail_stacks(struct kern *kern, pid_t pid, int err)
{
	if (err != -EOPNOTSUPP)
		return fail_pid(kern, "take stacks of", pid, err);
	fail_print("the mtag module is older than this mtagctl and cannot take stacks; "
		   "leave --stacks out, or load the new module");
	return CTL_REFUSED;
}

static int start_stacks(struct kern *kern, pid_t pid, uint32_t one_in)
{
	int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), err;

	err = event < 0 ? -errno : kern_stack_start(kern, pid, one_in, event);
	if (!err) {
		load_tracked(pid);
		err = follow(pid, event);
	}
	if (event >= 0)
		close(event);
	return err ? fail_stacks(kern, pid, err) : CTL_OK;
}

/* Returns false after an error message about "--stacks 1/N", in which that is no process. */
static bool are_pids(int n, char *const *words)
{
	uint32_t one_in;

	for (int i = 0; i < n; i++) {
		if (parse_one_in(words[i], &one_in))
			continue;
		fail_print("track: invalid process id '%s' (write --stacks=%s)", words[i],
			   words[i]);
		return false;
	}
	return true;
}

/* @one_in: of so many first touches the stack is taken once; 0: of none. */
static int track_pid(struct kern *kern, pid_t pid, bool on, uint32_t one_in)
{
	int err = kern_track(kern, pid, on);

	if (err)
		return fail_pid(kern, on ? "track" : "untrack", pid, err);
	return one_in ? start_stacks(kern, pid, one_in) : CTL_OK;
}

static int track_pids(int argc, char **argv, bool on, uint32_t one_in)
{
	_cleanup_(kern_closep) struct kern *kern = NULL;
	_cleanup_(freep) pid_t *pids = NULL;
	int err, status = CTL_OK;

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
		err = track_pid(kern, pids[i], on, one_in);
		status = err ? err : status;
	}
	return status;
}

int cmd_track(struct ctl *ctl, int argc, char **argv)
{
	static const struct option longs[] = {
		{"stacks", optional_argument, NULL, STACKS},
		OPTION_LONGS,
	};
	uint32_t one_in = 0;
	int opt;

	while ((opt = option_next(ctl, argc, argv, ":" OPTION_SHORTS, longs)) >= 0)
		if (!option_one_in("track", optarg, &one_in))
			return CTL_USAGE;
	if (opt != OPTION_DONE)
		return option_status(opt);
	if (one_in && !are_pids(argc - optind, argv + optind))
		return CTL_USAGE;
	return track_pids(argc, argv, true, one_in);
}

int cmd_untrack(struct ctl *ctl, int argc, char **argv)
{
	int opt = option_none(ctl, argc, argv);

	return opt == OPTION_DONE ? track_pids(argc, argv, false, 0) : option_status(opt);
}
