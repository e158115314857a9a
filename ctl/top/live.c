// SPDX-License-Identifier: GPL-2.0
/* Runs top on a terminal: refreshes in time, does what keys mean, and ends at once when told to. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "clock.h"
#include "ctl.h"
#include "fail.h"
#include "stop.h"
#include "top/draw.h"
#include "top/live.h"

/**
 * struct live - top on a terminal
 * @waiting:	the signals that are blocked but while it waits
 * @next:	when to refresh, by the monotonic clock
 * @count:	refreshes until it ends, 0: no end
 */
struct live {
	struct feed *feed;
	struct view *view;
	struct fmt *fmt;
	struct screen *screen;
	sigset_t waiting;
	uint64_t next;
	unsigned long count;
};

static void fit_terminal(struct live *live)
{
	struct winsize size = {0};

	resized = 0;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col || !size.ws_row)
		size = (struct winsize){.ws_col = 80, .ws_row = 24};
	live->fmt->width = size.ws_col;
	live->fmt->height = size.ws_row;
	screen_resize(live->screen, size.ws_col, size.ws_row);
	live->view->page = draw_page(live->fmt);
	view_settle(live->view, &live->feed->rows, live->feed->rows.n);
}

/* Does what is needed, and all that it includes. Returns 0 or -errno. */
static int satisfy(struct live *live, enum view_need need)
{
	struct feed *feed = live->feed;
	struct view *view = live->view;
	const struct choice choice = view_choice(view);
	size_t row = view_row(view, &feed->rows);
	int err = 0;

	if (need == VIEW_REFRESH) {
		err = feed_refresh(feed, &choice, &row);
		live->next = feed->now.ns + view->delay;
	} else if (need == VIEW_BUILD) {
		err = feed_rebuild(feed, &choice, &row);
	}
	if (need < VIEW_LIST || err)
		return err;
	err = rows_list(&feed->rows, view->sort, view->inverted);
	view_settle(view, &feed->rows, row);
	return err;
}

/* Does what the keys mean that were pressed. Returns 1 to end, 0 or -errno. */
static int take_keys(struct live *live)
{
	uint64_t delay = live->view->delay;
	int key, err = 0;

	while (!err && screen_key(live->screen, &key)) {
		enum view_need need = view_key(live->view, &live->feed->rows, key);

		if (need == VIEW_QUIT)
			return 1;
		err = satisfy(live, need);
	}
	if (live->view->delay != delay)
		live->next = live->feed->now.ns + live->view->delay;
	return err;
}

/* Waits for a key, a signal, or the time to refresh. Returns false when the terminal is gone. */
static bool wait_for_event(const struct live *live)
{
	struct pollfd terminal = {.fd = STDIN_FILENO, .events = POLLIN};
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	uint64_t left = live->next > now ? live->next - now : 0;
	const struct timespec timeout = {(time_t)(left / NSEC_PER_SEC),
					 (long)(left % NSEC_PER_SEC)};

	if (ppoll(&terminal, 1, live->view->paused ? NULL : &timeout, &live->waiting) <= 0)
		return true;
	return !(terminal.revents & (POLLHUP | POLLERR | POLLNVAL));
}

/* Returns 1 at the end, or -errno. */
static int run(struct live *live)
{
	int err = satisfy(live, VIEW_REFRESH);

	while (!err && !stopped) {
		if (resized)
			fit_terminal(live);
		draw(live->screen, live->fmt, live->view, live->feed);
		if (!wait_for_event(live))
			return 1;
		err = take_keys(live);
		if (err || live->view->paused || clock_ns(CLOCK_MONOTONIC) < live->next)
			continue;
		if (live->feed->refreshes == live->count)
			return 1;
		err = satisfy(live, VIEW_REFRESH);
	}
	return err ? err : 1;
}

int live_fail(const struct feed *feed, int err)
{
	return err == -ENOMEM ? fail_memory() : fail_all(feed->kern, "read the tags", err);
}

int live_run(struct feed *feed, struct view *view, struct fmt *fmt, unsigned long count)
{
	struct live live = {.feed = feed, .view = view, .fmt = fmt, .count = count};
	int err;

	err = stop_begin(&live.waiting, screen_restore);
	if (err)
		return fail_memory();
	live.screen = screen_open(fmt->colour);
	if (!live.screen) {
		fail_print("cannot use this terminal");
		return CTL_REFUSED;
	}
	fit_terminal(&live);
	err = run(&live);
	screen_close(live.screen);
	return err < 0 ? live_fail(feed, err) : CTL_OK;
}
