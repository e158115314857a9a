// SPDX-License-Identifier: GPL-2.0
/*
 * A process that keeps its mmap_lock, as one whose page fault waits for a file system does: it holds up
 * who reads or tracks it, until they are killed, and nobody else, not even those who use netlink otherwise.
 */
/* vm: timeout=300 */
#include "lib/netlink.h"

#define FAMILY "l2tp_netlink" /* a module that registers a family of generic netlink */

static char image[] = "/tmp/hold.XXXXXX";
static char mountpoint[] = "/tmp/held.XXXXXX";

static bool in_state(pid_t pid, char state)
{
	char path[64], word[8], *text;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	snprintf(word, sizeof(word), ") %c ", state);
	text = slurp(path);
	return text && strstr(text, word);
}

/* A thread of it waits for the frozen file system with mmap_lock held for reading. */
static pid_t holder(bool tracked)
{
	struct mtag_ioc_attach a = {.size = sizeof(a)};
	struct gate *g = gate();
	char path[64], *p;
	pid_t pid;
	int fd;

	snprintf(path, sizeof(path), "%s/file", mountpoint);
	fd = must(open(path, O_RDWR | O_CREAT, 0600));
	must(ftruncate(fd, 16 * PG));
	must(fsync(fd));
	pid = child();
	if (!pid) {
		if (tracked)
			must0(mtag_ioctl(MTAG_IOC_ATTACH, &a));
		p = must(mmap(NULL, 16 * PG, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
		open_gate(g, 1);
		pass_gate(g, 2);
		madvise(p, 16 * PG, MADV_POPULATE_WRITE);
		pass_gate(g, 3);
		_exit(0);
	}
	close(fd);
	pass_gate(g, 1);
	must(sh("sync; fsfreeze -f %s", mountpoint) ? -1 : 0);
	open_gate(g, 2);
	if (!until(in_state(pid, 'D'), 30))
		bail("it does not wait");
	open_gate(g, 3);
	return pid;
}

/* A process that asks for something of @pid and says how it went by its exit status. */
static pid_t asker(int command, pid_t pid)
{
	pid_t asker = child();

	if (!asker)
		_exit(nl_ask(nl_open(), command, command == MTAG_CMD_PSS_GET ? NLM_F_DUMP : 0, pid)
				      ->error
			      ? 1
			      : 0);
	return asker;
}

static bool ended(pid_t pid, int *status)
{
	return waitpid(pid, status, WNOHANG) == pid;
}

/* Whoever asks for another process is answered at once. */
static void others_go_on(const char *what)
{
	static const struct {
		int command;
		const char *name;
	} asks[] = {
		{MTAG_CMD_TRACK, "tracked"},	 {MTAG_CMD_PROC_GET, "read"},
		{MTAG_CMD_AUDIT, "audited"},	 {MTAG_CMD_PSS_GET, "read with its shares"},
		{MTAG_CMD_UNTRACK, "untracked"},
	};
	pid_t victim = child();

	if (!victim) {
		pause();
		_exit(0);
	}
	for (size_t i = 0; i < COUNT(asks); i++) {
		pid_t pid = asker(asks[i].command, victim);
		int status = -1;

		ok(until(ended(pid, &status), 20) && !status, "%s: another process is %s", what,
		   asks[i].name);
	}
	kill(victim, SIGKILL);
	waitpid(victim, NULL, 0);
}

/* Seconds that another user waits at most for an answer of generic netlink, in @seconds of asking. */
static double longest_answer(double seconds)
{
	double longest = 0, end = now() + seconds, start;
	int fd = nl_open();

	do {
		start = now();
		nl_send(fd, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, NLM_F_ACK, CTRL_ATTR_FAMILY_NAME,
			"nlctrl", sizeof("nlctrl"));
		if (nl_hear(fd)->error)
			return 1e9;
		if (now() - start > longest)
			longest = now() - start;
	} while (now() < end);
	close(fd);
	return longest;
}

/* A family that is registered wants all of generic netlink to itself. */
static void family_comes(const char *what)
{
	pid_t loader, user;
	int status = 0;

	sh("modprobe -rq " FAMILY);
	if (sh("modinfo " FAMILY " >/dev/null 2>&1")) {
		skip("%s: a family can be registered (no module " FAMILY ")", what);
		return;
	}
	loader = child();
	if (!loader)
		_exit(sh("modprobe " FAMILY));
	user = child();
	if (!user) {
		must0(setuid(65534));
		_exit(longest_answer(3 * slowness()) > slowness());
	}
	ok(until(ended(loader, &status), 20) && !status, "%s: a family can be registered", what);
	status = -1;
	ok(until(ended(user, &status), 30) && !status,
	   "%s: another user's generic netlink answers within a second", what);
}

static void held(int command, pid_t pid, const char *what)
{
	pid_t who = asker(command, pid);
	int status = 0;

	if (until(ended(who, &status), 1)) {
		/* Nothing of this waits on this kernel. */
		skip("%s", what);
		return;
	}
	others_go_on(what);
	family_comes(what);
	kill(who, SIGKILL);
	ok(until(ended(who, &status), 20) && WIFSIGNALED(status), "%s: who waits can be killed",
	   what);
}

/* A dump of all processes, of which it is one. */
static void held_dump(void)
{
	pid_t who = child();
	int status = 0;

	if (!who) {
		nl_ask(nl_open(), MTAG_CMD_TAG_GET, NLM_F_DUMP, 0);
		_exit(0);
	}
	if (until(ended(who, &status), 1)) {
		skip("a dump of all waits for it");
		return;
	}
	family_comes("a dump of all waits for it");
	kill(who, SIGKILL);
	ok(until(ended(who, &status), 20) && WIFSIGNALED(status),
	   "a dump of all waits for it: who waits can be killed");
}

int main(void)
{
	uint64_t drift;
	pid_t pid;

	need_root();
	drift = health("drift");
	nl_begin();
	must(mkstemp(image));
	must(mkdtemp(mountpoint) ? 0 : -1);
	must(truncate(image, 32 * MIB));
	sh("modprobe -aq loop ext4");
	if (sh("mkfs.ext4 -qF %s && mount -o loop %s %s", image, image, mountpoint))
		skip_all("no ext4");
	pid = holder(false);
	held(MTAG_CMD_TRACK, pid, "a process that keeps its mmap_lock is being tracked");
	others_go_on("after that");
	must(sh("fsfreeze -u %s", mountpoint) ? -1 : 0);
	reap(pid);
	pid = holder(true);
	held(MTAG_CMD_AUDIT, pid, "it is tracked, and being audited");
	held(MTAG_CMD_PROC_GET, pid, "it is being read");
	held(MTAG_CMD_PSS_GET, pid, "it is being read with its shares");
	held_dump();
	must(sh("fsfreeze -u %s", mountpoint) ? -1 : 0);
	reap(pid);
	sh("umount %s; rm -f %s; rmdir %s", mountpoint, image, mountpoint);
	no_drift(drift);
	return done();
}
