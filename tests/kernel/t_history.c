// SPDX-License-Identifier: GPL-2.0
/*
 * The history of processes that ended: their last numbers are those of smaps, which the test reads while ptrace keeps
 * them at their end; how they ended is what waitpid() says.
 */
/* vm: timeout=300 */
#include "lib/folios.h"
#include "lib/netlink.h"
#include "lib/past.h"
#include "lib/users.h"
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sched.h>

static const size_t pages[PAST_TAGS] = {20, 70, 2000};
static struct last *l;

/* What waitpid() says, and what the history says. */
static void ended_alike(pid_t pid, int status, const char *what)
{
	struct past past = past_of(pid, NULL);

	ok(!strcmp(past.how, WIFSIGNALED(status) ? "killed" : "exited"), "%s: it %s", what,
	   WIFSIGNALED(status) ? "was killed" : "exited");
	is(past.status, WIFEXITED(status) ? WEXITSTATUS(status) : 0, "%s: its exit status", what);
	is(past.signal, WIFSIGNALED(status) ? WTERMSIG(status) : 0, "%s: its signal", what);
}

static void ends_by(void (*end)(void), const char *what)
{
	pid_t pid = last_child(l, pages, end);

	until_exit(pid);
	ended_alike(pid, last_is_exact(pid, l, what), what);
}

/* ---- ways to end ---- */

static void by_exit(void)
{
	_exit(7);
}

static void by_sigterm(void)
{
	raise(SIGTERM);
}

static void by_sigkill(void)
{
	raise(SIGKILL);
}

static void by_fault(void)
{
	signal(SIGSEGV, SIG_DFL);
	*(volatile char *)NULL = 1;
}

static void *exit_late(void *leader)
{
	char path[64], *text;

	/* The leader is a zombie. */
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)(intptr_t)leader);
	if (!until((text = slurp(path)) && strstr(text, ") Z "), 60))
		_exit(98);
	return NULL;
}

static void *exit_group_late(void *leader)
{
	exit_late(leader);
	_exit(5);
}

static void leave_behind(void *(*run)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, (void *)(intptr_t)getpid()))
		_exit(97);
	syscall(SYS_exit, 3);
}

static void leader_first(void)
{
	leave_behind(exit_group_late);
}

static void all_alone(void)
{
	leave_behind(exit_late);
}

/* Without ptrace, which would stop each thread: only how it ended. */
static void ends_by_threads(void (*end)(void), const char *what)
{
	pid_t pid = child();
	int status;

	if (!pid) {
		last_begin(l, pages);
		end();
	}
	must(waitpid(pid, &status, 0));
	is(past_of(pid, NULL).entries, 1, "%s: it is in the history once", what);
	ended_alike(pid, status, what);
	is(past_of(pid, "large").anon, l->len[2], "%s: with what it had", what);
}

/* ---- what is no end, and what is one ---- */

static void vfork_child(void)
{
	atomic_int *pids =
		must(mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	pid_t pid = child();

	if (!pid) {
		last_begin(l, pages);
		pid = vfork();
		if (!pid) {
			atomic_store(pids, getpid());
			_exit(0);
		}
		pid = past_of(pid, NULL).entries + past_of(getpid(), NULL).entries;
		_exit(pid ? 1 : 0);
	}
	reap(pid);
	is(past_of(atomic_load(pids), NULL).entries, 0,
	   "a child of vfork() that ends without exec is not in the history");
	is(past_of(pid, NULL).entries, 1, "its parent is, at its own end");
}

/* In shared memory: the other process, and what it waits for. */
static atomic_int *other;
static struct gate *goes_on;

static int sharer(void *unused)
{
	(void)unused;
	pass_gate(goes_on, 1);
	syscall(SYS_exit_group, 0);
	return 0;
}

static void share_and_end(void)
{
	static char stack[64 * KIB];

	*other = must(clone(sharer, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL));
	leader_first();
}

/* Another process has the memory when its own one ends, and the kernel counts it as that one's from then on. */
static void shared_memory(void)
{
	other = must(mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	goes_on = gate();
	ends_by_threads(share_and_end, "another process shares the memory");
	open_gate(goes_on, 1);
	ok(until(kill(*other, 0), 30), "that one ends");
	is(past_of(*other, NULL).entries, 0, "and is not in the history");
}

static void exec_is_no_end(void)
{
	pid_t pid = child();
	struct past past;

	if (!pid) {
		last_begin(l, pages);
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	reap(pid);
	past = past_of(pid, NULL);
	is(past.entries, 1, "a process that executed another program ended once");
	ok(!strcmp(past.comm, "true"), "under its last name");
	is(past_of(pid, "large").rows, 0, "with the tags of its last program");
}

static void untracked(void)
{
	pid_t pid = child();

	if (!pid)
		_exit(0);
	reap(pid);
	is(past_of(pid, NULL).entries, 0, "an untracked process is not in the history");
	pid = child();
	if (!pid) {
		last_begin(l, pages);
		_exit(sh("mtagctl untrack %d", getpid()));
	}
	reap(pid);
	is(past_of(pid, NULL).entries, 0, "nor is one that is untracked before its end");
}

/* ---- a reader holds the memory ---- */

struct reader {
	pid_t pid;
	char *from, *to;
};

/* Reads other memory into a page that is not there, and waits with that memory held. */
static void *hold(void *arg)
{
	struct reader *r = arg;
	struct iovec to = {r->to, 8}, from = {r->from, 8};

	process_vm_readv(r->pid, &to, 1, &from, 1, 0);
	return NULL;
}

static int missing_page(char *p)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register reg = {.range = {(uintptr_t)p, PG},
				      .mode = UFFDIO_REGISTER_MODE_MISSING};
	int fd = must(syscall(SYS_userfaultfd, O_CLOEXEC));

	must(ioctl(fd, UFFDIO_API, &api));
	must(ioctl(fd, UFFDIO_REGISTER, &reg));
	return fd;
}

/* Was an "exit" event of the process sent? */
static bool heard_exit(int events, pid_t pid)
{
	static char buf[64 * KIB];
	struct timeval limit = {.tv_sec = 120};
	ssize_t n;

	must(setsockopt(events, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)));
	while ((n = recv(events, buf, sizeof(buf), 0)) > 0) {
		if (nl_is_event(buf, "exit") &&
		    nl_u32(nl_attr((const void *)buf, MTAG_A_PROC_PID)) == (uint32_t)pid)
			return true;
	}
	return false;
}

static void held_memory(void)
{
	struct reader r = {.to = area(PG)};
	int events = must(nl_listen(0)), fd = missing_page(r.to);
	struct pollfd fault = {.fd = fd, .events = POLLIN};
	struct uffdio_zeropage zero = {.range = {(uintptr_t)r.to, PG}};
	struct gate *g = gate();
	pthread_t thread;

	r.pid = child();
	if (!r.pid) {
		last_begin(l, pages);
		open_gate(g, 1);
		pass_gate(g, 2);
		_exit(0);
	}
	pass_gate(g, 1);
	r.from = l->area[0];
	if (pthread_create(&thread, NULL, hold, &r))
		bail("thread");
	must(poll(&fault, 1, 60000) == 1 ? 0 : -1);
	open_gate(g, 2);
	reap(r.pid);
	ok(heard_exit(events, r.pid),
	   "a process ends, and that is told, while another reads its memory");
	is(past_of(r.pid, "large").anon, l->len[2], "and it is in the history");
	must(ioctl(fd, UFFDIO_ZEROPAGE, &zero));
	pthread_join(thread, NULL);
	is(past_of(r.pid, NULL).entries, 1, "once, also when the reader has gone");
	close(fd);
	close(events);
}

#define TAGS 2000 /* adding them up takes as long as it takes to wake a listener, and more */

/* The entry is in the history when its event arrives. */
static void told_after(void)
{
	int events = must(nl_listen(0)), sock = nl_open(), found = 0;
	struct gate *g = gate();
	pid_t pid;

	pid = child();
	if (!pid) {
		begin();
		for (int i = 0; i < TAGS; i++) {
			char name[16];

			snprintf(name, sizeof(name), "tag-%d", i);
			touch(tag(name), area(PG), PG);
		}
		pass_gate(g, 1);
		_exit(0);
	}
	open_gate(g, 1);
	if (heard_exit(events, pid)) {
		struct heard *heard = nl_ask(sock, MTAG_CMD_HISTORY_GET, NLM_F_DUMP, 0);

		nl_each(h, heard) found |= nl_u32(nl_attr(h, MTAG_A_PROC_PID)) == (uint32_t)pid;
	}
	ok(found, "the entry is there when the event comes");
	reap(pid);
	close(events);
	close(sock);
}

/* ---- what it is read with ---- */

static void cleared(void)
{
	int status;

	ok(strstr(ctl(NULL, "history"), "large"), "the history is not empty");
	in_child {
		user(ALICE);
		is(nl_ask(nl_open(), MTAG_CMD_HISTORY_CLEAR, 0, 0)->error, (uint64_t)-EPERM,
		   "a user cannot clear it");
		ok(!nl_holds(nl_ask(nl_open(), MTAG_CMD_HISTORY_GET, NLM_F_DUMP, 0), "t_history"),
		   "nor read of root's processes there");
		must(unshare(CLONE_NEWUSER));
		is(nl_ask(nl_open(), MTAG_CMD_HISTORY_CLEAR, 0, 0)->error, (uint64_t)-EPERM,
		   "nor clear it as root of a user namespace");
	}
	ctl(NULL, "history --clear");
	is(health("history"), 0, "--clear empties it");
	ctl(&status, "history --clear --oom 2>/dev/null");
	is(status, 1, "--clear with anything else is refused");
	ctl(&status, "history -n 0 2>/dev/null");
	is(status, 1, "so is a count of 0");
}

int main(void)
{
	begin_test();
	nl_begin();
	/* It would fill huge pages of a process between its last smaps and its end. */
	if (has_huge_pages())
		spew(THP "khugepaged/scan_sleep_millisecs", "1000000");
	ctl(NULL, "history --clear");
	l = must(mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	ends_by(by_exit, "exit(7)");
	ends_by(by_sigterm, "SIGTERM");
	ends_by(by_sigkill, "SIGKILL");
	ends_by(by_fault, "SIGSEGV");
	ends_by_threads(leader_first, "the leader ends first");
	ends_by_threads(all_alone, "each thread ends by itself");
	vfork_child();
	shared_memory();
	exec_is_no_end();
	untracked();
	held_memory();
	told_after();
	cleared();
	return end_test();
}
