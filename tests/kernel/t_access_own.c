// SPDX-License-Identifier: GPL-2.0
/*
 * A program that its own user may not read is asked for by itself, by a socket that the user opened before: as by its
 * standard input. The truth is what that user is let read of /proc/PID/smaps_rollup.
 */
/* vm: timeout=200 */
#include "lib/handed.h"
#include "lib/netlink.h"
#include "lib/users.h"
#include <grp.h>
#include <sys/xattr.h>

#define TAGS  200
#define CROWD 8

static const char other[] = "/tmp/t_access_own.other";

/* May the user of this process read it from another one, which has no capabilities? */
static bool user_may_read(void)
{
	pid_t pid = child();
	char path[64];
	int status;

	if (!pid) {
		snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", getppid());
		caps(0);
		_exit(slurp(path) != NULL);
	}
	must(waitpid(pid, &status, 0));
	return WEXITSTATUS(status);
}

/* What this process is told of itself. 1: all, and the user may read it; 0: nothing; else what of it is wrong. */
static int asks(int fd)
{
	static const struct {
		int command, flags, refusal;
	} asked[] = {
		{MTAG_CMD_PROC_GET, 0, -EACCES}, {MTAG_CMD_TAG_GET, NLM_F_DUMP, -EACCES},
		{MTAG_CMD_AUDIT, 0, -EACCES},	 {MTAG_CMD_RESET, 0, -EPERM},
		{MTAG_CMD_UNTRACK, 0, -EPERM},
	};
	bool may = user_may_read();
	int wrong = 0;

	for (size_t i = 0; i < COUNT(asked); i++) {
		struct heard *heard = nl_ask(fd, asked[i].command, asked[i].flags, getpid());

		if (heard->error != (may ? 0 : asked[i].refusal) ||
		    (heard->error && heard->messages))
			wrong |= 2 << i;
	}
	return wrong ?: may;
}

/* The program that is executed: a dump of all that was begun before goes on here. */
static int goes_on(int fd)
{
	struct heard *heard = nl_hear(fd);
	bool told = false;

	/* Before, it was a program that its user might read. */
	nl_each(h, heard) told |=
		nl_u32(nl_attr(h, MTAG_A_PROC_PID)) == (uint32_t)getpid() &&
		strcmp((const char *)(nl_attr(h, MTAG_A_PROC_COMM) + 1), "before");
	if (heard->error || heard->messages < CROWD)
		return 128;
	if (told && !user_may_read())
		return 64;
	nl_begin();
	return asks(fd);
}

/* Processes of the user's whose tags fill so many messages that a dump of all has only begun when it is asked for. */
static void gather(void)
{
	int fd = must(open(MTAG_DEVICE, O_RDWR | O_CLOEXEC));
	char name[16];

	must0(fd_attach(fd));
	for (int i = 0; i < TAGS; i++) {
		snprintf(name, sizeof(name), "tag %d", i);
		fd_make(fd, 0, name);
	}
	for (int i = 0; i < CROWD; i++) {
		if (!child()) {
			must(prctl(PR_SET_PDEATHSIG, SIGKILL));
			for (;;)
				pause();
		}
	}
}

/* alice executes this program, of mode @mode and perhaps with a capability. */
static void executes(int mode, bool capable, int want, const char *what)
{
	/* struct vfs_cap_data, version 2, effective */
	const uint32_t cap[] = {0x02000001, 1 << CAP_NET_BIND_SERVICE, 0, 0, 0};
	pid_t pid;
	int status;

	must(sh("install -m %o /proc/%d/exe %s", mode, getpid(), other) ? -1 : 0);
	if (capable && setxattr(other, "security.capability", cap, sizeof(cap), 0)) {
		skip("%s (no file capabilities)", what);
		return;
	}
	pid = child();
	if (!pid) {
		char number[16];
		int fd;

		user(ALICE);
		must(prctl(PR_SET_NAME, "before"));
		gather();
		fd = nl_open();
		snprintf(number, sizeof(number), "%d", fd);
		nl_send(fd, nl_family, MTAG_CMD_TAG_GET, NLM_F_ACK | NLM_F_DUMP, 0, NULL, 0);
		execl(other, other, "goes_on", number, NULL);
		bail("exec");
	}
	must(waitpid(pid, &status, 0));
	is(status, want << 8, "%s: its user's socket tells it what smaps tells the user: %s", what,
	   want ? "all" : "nothing");
	unlink(other);
}

/* A setuid program that is its user for a while. */
static void seteuid_and_back(void)
{
	int fd, own;

	in_child {
		user(ALICE);
		hand_over(nl_open());
	}
	fd = taken();
	in_child {
		must0(fd_attach(must(open(MTAG_DEVICE, O_RDWR))));
		own = nl_open();
		must(setgroups(0, NULL));
		must(setresgid(ALICE, ALICE, ALICE));
		must(setresuid(ALICE, ALICE, 0));
		is(asks(fd), 0, "a program that can be root again: nothing");
		is(nl_ask(own, MTAG_CMD_PROC_GET, 0, getpid())->error, 0,
		   "by a socket that it opened as root it is told of itself");
		is(nl_ask(nl_open(), MTAG_CMD_PROC_GET, 0, getpid())->error, 0,
		   "and by one that it has opened since");
	}
	close(fd);
}

/* Credentials that are replaced by equal ones, and threads. */
static void still_itself(void)
{
	in_child {
		int fd;

		user(ALICE);
		must0(fd_attach(must(open(MTAG_DEVICE, O_RDWR))));
		fd = nl_open();
		must(setresuid(-1, ALICE, -1));
		must(prctl(PR_SET_KEEPCAPS, 0));
		is(asks(fd), 1, "a process with other credentials of the same user: all");
	}
}

int main(int argc, char *argv[])
{
	if (argc > 2 && !strcmp(argv[1], "goes_on"))
		return goes_on(atoi(argv[2]));
	begin_test();
	nl_begin();
	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
	seteuid_and_back();
	still_itself();
	executes(0755, false, 1, "a program that alice executes");
	executes(0711, false, 0, "one that she cannot read");
	executes(0755, true, 0, "one with a capability");
	return end_test();
}
