// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/stacks/stack.c ctl/model.c ctl/parse.c ctl/fail.c ctl/utf8.c ctl/option.c ctl/format/fmt.c ctl/format/text.c */
/* sources: ctl/format/json.c ctl/format/label.c ctl/format/event.c */
/* mtagctl limit: what ends its wait, against a kernel that answers as it is told. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#include "ctl.h"
#include "ctl_tap.h"
#include "kern.h"

/* What the calls of ppoll() return, one after the other: 1, 0, or -errno; and the last one for ever. */
static int answers[4];
static unsigned int n_waits;
static int after; /* what kern_limit() says when it is asked what came */
static long long now;

static int fake_wait(const struct timespec *left)
{
	int answer = answers[n_waits < 3 ? n_waits : 3];

	n_waits++;
	now += 400000000;
	if (answer >= 0)
		return answer;
	if (left && !left->tv_sec && !left->tv_nsec)
		return 0;
	errno = -answer;
	return -1;
}

static int fake_clock(clockid_t clock, struct timespec *at)
{
	(void)clock;
	*at = (struct timespec){now / 1000000000, now % 1000000000};
	return 0;
}

#define ppoll(fds, n, left, mask) ((void)(fds), fake_wait(left))
#define clock_gettime(clock, at)  fake_clock(clock, at)
#include "../../ctl/cmd/limit.c"

int kern_open(struct kern **kern)
{
	*kern = NULL;
	return 0;
}

void kern_close(struct kern *kern)
{
	(void)kern;
}

const char *kern_why(const struct kern *kern)
{
	(void)kern;
	return "";
}

int kern_tags(struct kern *kern, pid_t pid, struct snap *snap)
{
	struct proc *proc = snap_proc(snap, pid, "p");

	(void)kern;
	proc_add_tag(proc, 2, 0, "a");
	return snap_finish(snap);
}

int kern_limit(struct kern *kern, pid_t pid, uint16_t tag, uint64_t bytes, int fd)
{
	(void)kern;
	(void)pid;
	(void)tag;
	(void)fd;
	return bytes ? 0 : after;
}

/* The exit status of mtagctl limit 1 TAG 4K, or with a timeout of a second. What it prints goes to @said. */
static int run(const char *tag, bool timeout, char *said, size_t size)
{
	char *argv[] = {strdup("limit"), strdup("1"),	strdup(tag),
			strdup("4K"),	 strdup("-t1"), NULL};
	FILE *real_out = stdout, *real_err = stderr;
	struct ctl ctl = {0};
	int status;

	memset(said, 0, size);
	stderr = fmemopen(said, size, "w");
	stdout = fopen("/dev/null", "w");
	optind = 0;
	n_waits = 0;
	status = cmd_limit(&ctl, timeout ? 5 : 4, argv);
	fclose(stdout);
	fclose(stderr);
	stdout = real_out;
	stderr = real_err;
	for (size_t i = 0; argv[i]; i++)
		free(argv[i]);
	return status;
}

int main(void)
{
	char said[256];

	ok(run("b", false, said, sizeof(said)) == CTL_REFUSED &&
		   strstr(said, "process 1 has no tag 'b'"),
	   "a tag that is not there is no wrong command line: the status is 2");
	answers[0] = 1;
	ok(run("a", false, said, sizeof(said)) == CTL_DRIFT, "a limit that is reached is 3");
	after = -ESRCH;
	ok(run("a", false, said, sizeof(said)) == CTL_OK && strstr(said, "has ended"),
	   "a process that ends before is 0");
	after = 0;
	memcpy(answers, ((int[]){-EINTR, -EINTR, 1, 1}), sizeof(answers));
	ok(run("a", false, said, sizeof(said)) == CTL_DRIFT && n_waits == 3,
	   "a signal does not end the wait");
	ok(run("a", true, said, sizeof(said)) == CTL_DRIFT, "nor does it with a timeout");
	memcpy(answers, ((int[]){-EINTR, -EINTR, -EINTR, -EINTR}), sizeof(answers));
	ok(run("a", true, said, sizeof(said)) == CTL_OK && n_waits == 4 &&
		   strstr(said, "did not reach it in time"),
	   "however many come, the timeout is as long as it was");
	answers[0] = -ENOMEM;
	ok(run("a", true, said, sizeof(said)) == CTL_REFUSED &&
		   strstr(said, "cannot wait for the limit"),
	   "another error is not taken for the timeout");
	return tap_end();
}
