// SPDX-License-Identifier: GPL-2.0
/* mtagctl events: what happens to tracked processes, as it happens. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "cmd/cmd.h"
#include "ctl.h"
#include "fail.h"
#include "format/event.h"
#include "kern.h"
#include "listen.h"
#include "option.h"

/* More than the kernel keeps for a socket. */
#define OLD_MOST 1000000

struct events {
	struct listener *listener;
	struct kern *kern;
	struct fmt fmt;
	bool json;
	bool all;	     /* also those that are tracked already */
	unsigned long count; /* 0: no end */
	unsigned long shown;
};

static bool enough(const struct events *e)
{
	return ferror(e->fmt.out) || (e->count && e->shown >= e->count);
}

static int show(struct events *e, const struct event *event)
{
	uint64_t time_ms;
	int err = 0;

	if (enough(e))
		return CTL_OK;
	time_ms = clock_ns(CLOCK_REALTIME) / 1000000;
	if (e->json)
		err = event_json(&e->fmt, event, time_ms);
	else
		event_text(&e->fmt, event, time_ms);
	fflush(e->fmt.out);
	e->shown++;
	return err ? fail_memory() : CTL_OK;
}

/* Shows those who are tracked now, as if they had just begun. */
static int show_tracked(struct events *e)
{
	_cleanup_(snap_clear) struct snap snap = {0};
	int status = CTL_OK, err = kern_procs(e->kern, &snap);

	if (err < 0)
		return fail_all(e->kern, "list the tracked processes", err);
	if (err == KERN_INCOMPLETE)
		fail_incomplete();
	for (size_t i = 0; i < snap.n_procs && !status; i++) {
		struct event event = {.kind = "track", .pid = snap.procs[i].pid, .caught_up = true};

		snprintf(event.comm, sizeof(event.comm), "%s", snap.procs[i].comm);
		status = show(e, &event);
	}
	return status;
}

/*
 * Events were missed: says so, and who is left. Those that still wait are older than the list, and
 * would contradict it: they count as missed, too.
 */
static int catch_up(struct events *e)
{
	struct event event = {.kind = "overrun"}, old;
	int status = show(e, &event), got = 1;

	/* They may come as fast as they are read. */
	for (unsigned int n = 0; n < OLD_MOST && got && got != -ENOPROTOOPT; n++)
		got = listen_next(e->listener, &old);
	if (got == -ENOPROTOOPT)
		return fail_all(e->kern, "read events", got);
	return status ? status : show_tracked(e);
}

/* Shows all events that have come. */
static int drain(struct events *e)
{
	int status = CTL_OK;

	while (!status && !enough(e)) {
		struct event event;
		int got = listen_next(e->listener, &event);

		if (!got)
			return CTL_OK;
		if (got == -ENOBUFS) {
			status = catch_up(e);
		} else if (got == -ENOMEM) {
			status = fail_memory();
		} else if (got < 0) {
			status = fail_all(e->kern, "read events", got);
		} else {
			status = show(e, &event);
		}
	}
	return status;
}

static int listen_for_events(struct events *e)
{
	struct pollfd wait = {.fd = listen_fd(e->listener), .events = POLLIN};
	int status;

	if (!e->json)
		event_head(&e->fmt);
	fflush(e->fmt.out);
	status = e->all ? show_tracked(e) : CTL_OK;
	while (!status && !enough(e)) {
		if (poll(&wait, 1, -1) < 0 && errno != EINTR)
			break;
		status = drain(e);
	}
	return status;
}

static int events_options(struct ctl *ctl, int argc, char **argv, struct events *e)
{
	static const struct option longs[] = {
		{"all", no_argument, NULL, 'a'},
		{"count", required_argument, NULL, 'n'},
		OPTION_LONGS,
	};
	int opt;

	while ((opt = option_next(ctl, argc, argv, ":an:" OPTION_SHORTS, longs)) >= 0) {
		e->all |= opt == 'a';
		if (opt == 'n' && !option_count("events", optarg, "events", &e->count))
			return OPTION_BAD;
	}
	if (opt == OPTION_DONE && argc != optind) {
		fail_print("events takes no argument; it shows those of all processes");
		return OPTION_BAD;
	}
	return opt;
}

int cmd_events(struct ctl *ctl, int argc, char **argv)
{
	_cleanup_(listen_closep) struct listener *listener = NULL;
	_cleanup_(kern_closep) struct kern *kern = NULL;
	struct events e = {0};
	int err, opt = events_options(ctl, argc, argv, &e);

	if (opt != OPTION_DONE)
		return option_status(opt);
	err = kern_open(&kern);
	if (!err)
		err = listen_open(&listener);
	if (err == -EPERM) {
		fail_print("events needs CAP_SYS_ADMIN: it tells of the processes of all users");
		return CTL_REFUSED;
	}
	if (err)
		return fail_open(err);
	e.kern = kern;
	e.listener = listener;
	e.json = ctl->json;
	fmt_init(&e.fmt, ctl);
	return listen_for_events(&e);
}
