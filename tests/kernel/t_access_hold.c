// SPDX-License-Identifier: GPL-2.0
/*
 * A process that keeps its mmap_lock, as one whose page fault waits for a file system does: it holds up processes that
 * read or track it, until they are killed, and no others, not even those that use netlink otherwise. Nor does it hold
 * up those that may not read it, be it in the middle of an exec.
 */
/* vm: timeout=300 repairs=any because="a relative becomes untagged" */
#include "lib/keepers.h"
#include "lib/netlink.h"

#define READINGS 8
#define BIG	 (512 * MIB) /* Walking its zero pages takes an emulated CPU long. */
#define STACK	 (64 * KIB)
#define FAMILY	 "l2tp_netlink" /* a module that registers a family of generic netlink */

static char image[] = "/tmp/hold.XXXXXX";
static char mountpoint[] = "/tmp/held.XXXXXX";

/* Its `status`, as 7.3 keeps readers of `stat` waiting for the end of an exec. */
static bool in_state(pid_t pid, char state)
{
	char path[64], word[16], *text;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	snprintf(word, sizeof(word), "State:\t%c ", state);
	text = slurp(path);
	return text && strstr(text, word);
}

/* Pages on the file system to write to. */
static int held_file(void)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/file", mountpoint);
	fd = must(open(path, O_RDWR | O_CREAT, 0600));
	must(ftruncate(fd, 16 * PG));
	must(fsync(fd));
	return fd;
}

/* A thread of it waits for the frozen file system with mmap_lock held for reading. */
static pid_t holder(bool tracked)
{
	struct mtag_ioc_attach a = {.size = sizeof(a)};
	struct gate *g = gate();
	int fd = held_file();
	pid_t pid;
	char *p;

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

/* Seconds that another user waits at most for an answer of generic netlink, until @g is open. */
static double longest_answer(struct gate *g)
{
	double longest = 0, start;
	int fd = nl_open();

	do {
		start = now();
		nl_send(fd, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, NLM_F_ACK, CTRL_ATTR_FAMILY_NAME,
			"nlctrl", sizeof("nlctrl"));
		if (nl_hear(fd)->error)
			return 1e9;
		if (now() - start > longest)
			longest = now() - start;
	} while (atomic_load(&g->step) < 1);
	close(fd);
	return longest;
}

/* A family that is registered wants all of generic netlink to itself. */
static void family_comes(const char *what)
{
	struct gate *g = gate();
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
		_exit(longest_answer(g) > 10 * slowness());
	}
	ok(until(ended(loader, &status), 20) && !status, "%s: a family can be registered", what);
	open_gate(g, 1);
	status = -1;
	ok(until(ended(user, &status), 30) && !status,
	   "%s: another user's generic netlink answers within ten seconds", what);
	must(munmap(g, PG));
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
	ok(until(ended(who, &status), 20) && WIFSIGNALED(status),
	   "%s: a process that waits can be killed", what);
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
	   "a dump of all waits for it: a process that waits can be killed");
}

struct question {
	int fd;
	pid_t pid;
	atomic_int asker;
};

static void *asks(void *arg)
{
	struct question *q = arg;

	atomic_store(&q->asker, gettid());
	nl_ask(q->fd, MTAG_CMD_AUDIT, 0, q->pid);
	return NULL;
}

/* Closes its socket while a request waits. Is its port free for others to bind? */
static bool frees_port(pid_t pid)
{
	struct question q = {nl_open(), pid, 0};
	struct sockaddr_nl at;
	socklen_t len = sizeof(at);
	pthread_t thread;
	int other;

	must0(pthread_create(&thread, NULL, asks, &q));
	if (!until(atomic_load(&q.asker) && in_state(atomic_load(&q.asker), 'D'), 30))
		bail("the request does not wait");
	/* It is bound since it sent. */
	must(getsockname(q.fd, (struct sockaddr *)&at, &len));
	must(close(q.fd));
	other = must(socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC));
	return !bind(other, (struct sockaddr *)&at, len) || errno != EADDRINUSE;
}

/* The answer finds its socket by the port. */
static void stays_bound(pid_t pid)
{
	pid_t who = child();
	int status = 0;

	if (!who)
		_exit(frees_port(pid));
	ok(until(ended(who, &status), 60) && !status,
	   "the port of a socket that is closed meanwhile is nobody else's");
}

/* ---- a process that waits in exec ---- */

/* The file system keeps it waiting with mmap_lock held for reading. */
static int populates(void *p)
{
	madvise(p, 16 * PG, MADV_POPULATE_WRITE);
	return 0;
}

/* It waits for mmap_lock, so that nobody else gets that for reading. */
static int maps(void *p)
{
	mprotect(p, PG, PROT_READ);
	return 0;
}

/* Another process in the same memory. */
static pid_t share_memory(int (*run)(void *), char *stack, void *p)
{
	return must(clone(run, stack + STACK, CLONE_VM, p));
}

/* What runs next there may touch no new page until all of this waits: its faults would, too. */
static void waits_in_exec(struct gate *g, struct gate *sharer, void *p)
{
	struct mtag_ioc_attach a = {.size = sizeof(a)};
	char *stacks = must(mmap(NULL, 2 * STACK, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0));

	must0(mtag_ioctl(MTAG_IOC_ATTACH, &a));
	execl("/", "none", NULL);
	open_gate(sharer, share_memory(populates, stacks, p));
	pass_gate(g, 1);
	open_gate(sharer, share_memory(maps, stacks + STACK, p));
	pass_gate(g, 2);
	execl("/bin/true", "true", NULL);
	_exit(1);
}

static void await_wait(pid_t pid, const char *what)
{
	if (!until(in_state(pid, 'D'), 30))
		bail("%s does not wait", what);
}

/* A tracked process of root's that waits in exec for its old memory. */
static pid_t execer(void)
{
	struct gate *g = gate(), *sharer = gate();
	int fd = held_file();
	pid_t pid, first;

	must(sh("sync; fsfreeze -f %s", mountpoint) ? -1 : 0);
	pid = child();
	if (!pid)
		waits_in_exec(g, sharer,
			      must(mmap(NULL, 16 * PG, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)));
	close(fd);
	pass_gate(sharer, 1);
	first = atomic_load(&sharer->step);
	await_wait(first, "who populates");
	open_gate(g, 1);
	if (!until(atomic_load(&sharer->step) != first, 30))
		bail("no second process");
	await_wait(atomic_load(&sharer->step), "who maps");
	open_gate(g, 2);
	await_wait(pid, "exec");
	return pid;
}

static void held_exec(void)
{
	static const struct {
		int command;
		const char *name;
	} asks[] = {
		{MTAG_CMD_PROC_GET, "processes"},
		{MTAG_CMD_TAG_GET, "tags"},
		{MTAG_CMD_PSS_GET, "shares"},
	};
	pid_t pid = execer();

	for (size_t i = 0; i < COUNT(asks); i++) {
		pid_t who = child();
		double start = now();
		int status = -1;

		if (!who) {
			must0(setuid(65534));
			_exit(nl_ask(nl_open(), asks[i].command, NLM_F_DUMP, 0)->error ? 1 : 0);
		}
		if (!until(ended(who, &status), 20))
			end_child(who);
		ok(!status && now() - start < 10 * slowness(),
		   "a process waits in exec: another user lists %s within ten seconds",
		   asks[i].name);
	}
	held(MTAG_CMD_PROC_GET, pid, "a process waits in exec, and is being read");
	must(sh("fsfreeze -u %s", mountpoint) ? -1 : 0);
	reap(pid);
}

/* ---- a process that shares pages with others ---- */

/*
 * Not tracked, though a child of this one, which is. When @g says so, it waits for the file system within a page fault:
 * with mmap_lock held, or since 6.6 the lock of that one mapping, if it does not have to read the page before.
 */
static pid_t waiting_stray(struct gate *g)
{
	int fd = held_file();
	pid_t pid;

	must(pwrite(fd, "", 1, 0));
	pid = stray();
	if (!pid) {
		volatile char *p =
			must(mmap(NULL, 8 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
		char *big = must(mmap(NULL, BIG, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));

		no_huge(big, BIG);
		must(madvise(big, BIG, MADV_POPULATE_READ));
		open_gate(g, 1);
		pass_gate(g, 2);
		*p = 1;
		_exit(0);
	}
	close(fd);
	pass_gate(g, 1);
	must(sh("sync; fsfreeze -f %s", mountpoint) ? -1 : 0);
	return pid;
}

/*
 * Until @who waits for what the walk may have missed, or has ended: when a walk begins and when it ends, relatives are to
 * be counted anew. Before it begins @who waits, too: for hooks, by RCU.
 */
static void await_walk(pid_t who)
{
	const char *where;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/wchan", who);
	if (!until(in_state(who, 'Z') || ((where = slurp(path)) && *where && *where != '0' &&
					  !strstr(where, "rcu")),
		   30))
		bail("who tracks does not come to the end of the walk");
}

/* While somebody tracks it, its relatives are not counted anew at each reading. */
static void held_stray(bool before, useconds_t delay)
{
	struct gate *g = gate();
	pid_t pid = waiting_stray(g), who;
	uint64_t tracked, repairs;
	int status = 0;

	if (before) {
		open_gate(g, 2);
		await_wait(pid, "a child");
	}
	tracked = health("tracked");
	who = asker(MTAG_CMD_TRACK, pid);
	/* Of these, the process that asks is one; the other is about to be walked, or was already. */
	while (!before && health("tracked") < tracked + 2 && !in_state(who, 'Z'))
		;
	usleep(delay);
	open_gate(g, 2);
	await_wait(pid, "a child");
	await_walk(who);
	exact("a child that keeps a lock is being tracked: its parent is exact");
	repairs = health("repairs");
	for (int i = 0; i < READINGS; i++)
		exact("it stays so");
	is(health("repairs") - repairs, 0, "and is not counted anew at each reading");
	kill(who, SIGKILL);
	ok(until(ended(who, &status), 20), "who tracks can be killed");
	must(sh("fsfreeze -u %s", mountpoint) ? -1 : 0);
	reap(pid);
	exact("afterwards, too");
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
	stays_bound(pid);
	must(sh("fsfreeze -u %s", mountpoint) ? -1 : 0);
	reap(pid);
	held_exec();
	begin();
	held_stray(true, 0);
	for (int i = 0; i < 4; i++)
		held_stray(false, i * 1000);
	sh("umount %s; rm -f %s; rmdir %s", mountpoint, image, mountpoint);
	no_drift(drift);
	return done();
}
