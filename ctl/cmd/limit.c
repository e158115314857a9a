// SPDX-License-Identifier: GPL-2.0
/* mtagctl limit: wait until a tag of a process reaches a size. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "clock.h"
#include "cmd/cmd.h"
#include "ctl.h"
#include "fail.h"
#include "format/event.h"
#include "format/label.h"
#include "kern.h"
#include "option.h"
#include "parse.h"

struct limit {
	struct kern *kern;
	const char *path;
	uint64_t timeout; /* nanoseconds, 0: none */
	int fd;
	struct event event;
	uint16_t tag;
};

static void closep(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

/* Finds the tag, and the name of the process. */
static int find_tag(struct limit *limit)
{
	_cleanup_(snap_clear) struct snap snap = {0};
	const struct tag *found = NULL;
	const struct proc *proc;
	int err = kern_tags(limit->kern, limit->event.pid, &snap);

	if (err)
		return fail_pid(limit->kern, "read", limit->event.pid, err);
	proc = snap.procs;
	for (size_t i = 0; i < proc->n_tags; i++)
		if (!strcmp(proc->tags[i].path, limit->path) ||
		    !strcmp(label_of(&proc->tags[i]), limit->path))
			found = &proc->tags[i];
	if (!found) {
		fail_print("process %d has no tag '%s'; `mtagctl tree %d` shows its tags",
			   (int)limit->event.pid, limit->path, (int)limit->event.pid);
		return CTL_REFUSED;
	}
	limit->tag = found->id;
	snprintf(limit->event.tag, sizeof(limit->event.tag), "%s", found->path);
	snprintf(limit->event.comm, sizeof(limit->event.comm), "%s", proc->comm);
	return CTL_OK;
}

/*
 * Of a process that is gone: the module adds 1 when the tag gets there, and 1 when the process ends. Both may be on
 * their way still.
 */
static bool was_reached(const struct limit *limit)
{
	const struct timespec moment = {.tv_sec = 1};
	struct pollfd wait = {.fd = limit->fd, .events = POLLIN};
	uint64_t sum = 0, n;

	while (sum < 2 && ppoll(&wait, 1, &moment, NULL) > 0 &&
	       read(limit->fd, &n, sizeof(n)) == sizeof(n))
		sum += n;
	return sum > 1;
}

/* Has it been reached? The module tells of the end of the process in the same way. */
static int conclude(const struct ctl *ctl, struct limit *limit)
{
	struct fmt fmt;
	uint64_t time_ms;
	int err = kern_limit(limit->kern, limit->event.pid, limit->tag, 0, limit->fd);
	bool gone = err == -ESRCH || err == -ENOENT;

	if (gone && !was_reached(limit)) {
		fail_print("process %d has ended, or is no longer tracked as it was",
			   (int)limit->event.pid);
		return CTL_OK;
	}
	if (err && !gone)
		return fail_pid(limit->kern, "read", limit->event.pid, err);
	time_ms = clock_ns(CLOCK_REALTIME) / 1000000;
	fmt_init(&fmt, ctl);
	if (!ctl->json)
		event_text(&fmt, &limit->event, time_ms);
	else if (event_json(&fmt, &limit->event, time_ms))
		return fail_memory();
	return CTL_DRIFT;
}

/*
 * Waits for the eventfd, also behind signals that interrupt it, such as a debugger's. Returns 1 when it
 * was signalled, 0 at the timeout, or -errno.
 */
static int await(const struct limit *limit)
{
	struct pollfd wait = {.fd = limit->fd, .events = POLLIN};
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + limit->timeout;

	for (;;) {
		uint64_t now = clock_ns(CLOCK_MONOTONIC), left = now < end ? end - now : 0;
		const struct timespec most = {(time_t)(left / NSEC_PER_SEC),
					      (long)(left % NSEC_PER_SEC)};
		int n = ppoll(&wait, 1, limit->timeout ? &most : NULL, NULL);

		if (n >= 0)
			return n;
		if (errno != EINTR)
			return -errno;
	}
}

static int wait_for_it(const struct ctl *ctl, struct limit *limit)
{
	int err = kern_limit(limit->kern, limit->event.pid, limit->tag, limit->event.limit,
			     limit->fd);

	if (err == -ENOSPC)
		return fail_all(limit->kern, "set the limit", err);
	if (err)
		return fail_pid(limit->kern, "limit", limit->event.pid, err);
	err = await(limit);
	if (err > 0)
		return conclude(ctl, limit);
	if (err)
		return fail_all(limit->kern, "wait for the limit", err);
	fail_print("%s did not reach it in time",
		   *limit->event.tag ? limit->event.tag : "[untagged]");
	return CTL_OK;
}

static int limit_options(struct ctl *ctl, int argc, char **argv, struct limit *limit)
{
	static const struct option longs[] = {
		{"timeout", required_argument, NULL, 't'},
		OPTION_LONGS,
	};
	int opt;

	while ((opt = option_next(ctl, argc, argv, ":t:" OPTION_SHORTS, longs)) >= 0) {
		if (opt == 't' && parse_seconds(optarg, &limit->timeout)) {
			fail_print("limit: invalid timeout '%s' (" PARSE_SECONDS ")", optarg);
			return OPTION_BAD;
		}
	}
	if (opt == OPTION_DONE && argc - optind != 3) {
		fail_print("limit takes a process id, a tag and a size");
		return OPTION_BAD;
	}
	return opt;
}

int cmd_limit(struct ctl *ctl, int argc, char **argv)
{
	_cleanup_(kern_closep) struct kern *kern = NULL;
	_cleanup_(closep) int fd = -1;
	_cleanup_(freep) pid_t *pids = NULL;
	struct limit limit = {.event.kind = "limit"};
	int status, err, opt = limit_options(ctl, argc, argv, &limit);

	if (opt != OPTION_DONE)
		return option_status(opt);
	status = option_pids(1, argv + optind, &pids);
	if (status)
		return status;
	limit.event.pid = pids[0];
	limit.path = argv[optind + 1];
	if (!option_size("limit", argv[optind + 2], &limit.event.limit))
		return CTL_USAGE;
	err = kern_open(&kern);
	if (err)
		return fail_open(err);
	limit.kern = kern;
	status = find_tag(&limit);
	if (status)
		return status;
	limit.fd = fd = eventfd(0, EFD_CLOEXEC);
	if (fd < 0)
		return fail_all(kern, "create an eventfd", -errno);
	return wait_for_it(ctl, &limit);
}
