// SPDX-License-Identifier: GPL-2.0
/*
 * Which processes a user may read. The truth is /proc/PID/smaps_rollup: each reader asks for each target there and by
 * netlink and must get the same answer, for processes of other users, of other namespaces, and more; and, when they have
 * ended, for their history.
 */
/* vm: timeout=300 */
#include "lib/netlink.h"
#include "lib/owners.h"
#include "lib/stacks.h"
#include "lib/targets.h"
#include "lib/users.h"
#include <sys/mount.h>

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif

/* ---- readers ---- */
struct reader {
	const char *name;
	void (*become)(void);
	bool resets; /* what it may read it may also reset: CAP_SYS_PTRACE */
	bool owns;   /* in the user namespace of IN_USERNS it has every capability */
	const char *proc;
};

static void be_root(void)
{
}

static void be_alice(void)
{
	user(ALICE);
}

static void be_bob(void)
{
	user(BOB);
}

static void be_weak_root(void)
{
	caps(all_caps() & ~(1ULL << CAP_SYS_PTRACE));
}

static void be_bob_tracer(void)
{
	user_with(BOB, CAP_SYS_PTRACE);
}

static void be_bob_perfmon(void)
{
	user_with(BOB, CAP_PERFMON);
}

static void be_alice_userns(void)
{
	userns(ALICE, 0);
}

static void be_bob_userns(void)
{
	userns(BOB, 0);
}

/* Root of the user namespace in which IN_USERNS is. */
static void be_its_userns(void)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/ns/user", targets[IN_USERNS]);
	fd = must(open(path, O_RDONLY));
	user(ALICE);
	must(setns(fd, CLONE_NEWUSER));
}

static void be_contained(void)
{
	userns(ALICE, CLONE_NEWPID | CLONE_NEWNS);
	pidns();
	own_proc();
}

static void be_root_pidns(void)
{
	must(unshare(CLONE_NEWPID | CLONE_NEWNS));
	pidns();
	own_proc();
}

static void be_jailed(void)
{
	must(chroot(room));
	must(chdir("/"));
	user(ALICE);
}

static void be_filtered(void)
{
	user(ALICE);
	filtered();
}

static const struct reader readers[] = {
	{"root", be_root, true, true, "/proc"},
	{"alice", be_alice, false, true, "/proc"},
	{"bob", be_bob, false, false, "/proc"},
	{"bob, who sees no others' /proc (hidepid)", be_bob, false, false, NULL},
	{"alice, who sees no others' /proc (hidepid)", be_alice, false, true, NULL},
	{"root without CAP_SYS_PTRACE", be_weak_root, false, false, "/proc"},
	{"bob with CAP_SYS_PTRACE", be_bob_tracer, true, true, "/proc"},
	{"bob with CAP_PERFMON", be_bob_perfmon, false, false, "/proc"},
	{"root of a user namespace of alice's", be_alice_userns, false, false, "/proc"},
	{"root of a user namespace of bob's", be_bob_userns, false, false, "/proc"},
	{"root of the target's user namespace", be_its_userns, false, true, "/proc"},
	{"root of a container of alice's", be_contained, false, false, "/proc"},
	{"root in a pid namespace", be_root_pidns, true, false, "/proc"},
	{"alice in a chroot", be_jailed, false, true, "/proc"},
	{"alice with a filter of system calls", be_filtered, false, true, "/proc"},
};

static char hidden_proc[64];
static int sock;

/* ---- the truth ---- */
static bool may_read(const struct reader *r, pid_t pid)
{
	char path[128], text[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%d/smaps_rollup", r->proc ? r->proc : hidden_proc, pid);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text));
	close(fd);
	return n > 0;
}

/* ---- what mtag says ---- */
static bool refusal(int error, int who)
{
	/* A process that is not visible is no process; what has no memory is not read either. */
	return error == -EACCES || error == -ESRCH || (who == KTHREAD && error == -EINVAL);
}

static bool told(int command, int flags, int who, const char *secret)
{
	struct heard *heard = nl_ask(sock, command, flags, targets[who]);

	if (heard->error ? heard->messages || !refusal(heard->error, who) : !heard->messages) {
		diag("  command %d: error %d and %u messages", command, heard->error,
		     heard->messages);
		ok(false, "an answer or a refusal");
	}
	if (secret && nl_holds(heard, secret) != !heard->error)
		ok(false, "the tag's name is told if, and only if, the process may be read");
	return !heard->error;
}

/* No target has a heap view, and only one has stacks: whoever may read the others is told so. */
static bool told_or_none(int error, int who, const char *what)
{
	if (error && error != -ENODATA && !refusal(error, who))
		ok(false, "%s: an answer or a refusal, not %d", what, error);
	return !error || error == -ENODATA;
}

static bool told_stacks(int who)
{
	struct heard *heard = nl_ask(sock, MTAG_CMD_STACK_GET, NLM_F_DUMP, targets[who]);

	if (!heard->error != !!heard->messages || (!heard->error && who != OF_ALICE))
		ok(false, "stacks of whom they are taken, and of nobody else");
	return told_or_none(heard->error, who, "stacks");
}

static bool told_heap(int who)
{
	char byte;

	return told_or_none(heap_read(targets[who], 0, &byte, 1), who, "heap");
}

static void judge(const struct reader *r, int who, bool audits)
{
	bool truth = may_read(r, targets[who]), resets;
	char secret[32];
	bool proc, tag, pss, owners, stacks, heap, audit = truth;
	uint32_t row;
	int error;

	secret_of(secret, sizeof(secret), who);
	proc = told(MTAG_CMD_PROC_GET, 0, who, NULL);
	tag = told(MTAG_CMD_TAG_GET, NLM_F_DUMP, who, secret);
	pss = told(MTAG_CMD_PSS_GET, NLM_F_DUMP, who, secret);
	error = owners_of(targets[who], (void *)PG, 1, &row);
	owners = !error;
	if (error && !refusal(error, who))
		ok(false, "owners: an answer or a refusal, not %d", error);
	stacks = told_stacks(who);
	heap = told_heap(who);
	if (audits)
		audit = told(MTAG_CMD_AUDIT, 0, who, NULL);
	if (!ok(proc == truth && tag == truth && pss == truth && owners == truth &&
			stacks == truth && heap == truth && audit == truth,
		"%s reads %s: %s, as smaps says", r->name, names[who], truth ? "yes" : "no"))
		diag("  smaps %d, PROC_GET %d, TAG_GET %d, PSS_GET %d, owners %d, STACK_GET %d, "
		     "HEAP_READ %d, AUDIT %d",
		     truth, proc, tag, pss, owners, stacks, heap, audit);
	/* Of a process that may be read: no more is said of the others anyway. */
	error = nl_ask(sock, MTAG_CMD_RESET, 0, targets[who])->error;
	resets = truth && (r->resets || (r->owns && who == IN_USERNS));
	if (resets ? error : error != -EPERM && error != -ESRCH && !refusal(error, who)) {
		ok(false, "%s resets %s: %s", r->name, names[who], resets ? "yes" : "no");
		diag("  error %d", error);
	}
}

/* A list has everything that its reader may read, and nothing else. */
static void judge_list(const struct reader *r, int command)
{
	bool listed[TARGETS] = {false};
	struct heard *heard = nl_ask(sock, command, NLM_F_DUMP, 0);
	unsigned int wrong = 0;
	char secret[32];

	nl_each(h, heard)
	{
		pid_t pid = nl_u32(nl_attr(h, MTAG_A_PROC_PID));

		wrong += !may_read(r, pid);
		for (int who = 0; who < TARGETS; who++)
			listed[who] |= targets[who] == pid;
	}
	for (int who = 0; who < TARGETS; who++) {
		bool truth = may_read(r, targets[who]);

		secret_of(secret, sizeof(secret), who);
		wrong += listed[who] != truth;
		wrong += command != MTAG_CMD_PROC_GET && nl_holds(heard, secret) != truth;
	}
	ok(!heard->error && !wrong, "%s lists %s: what smaps lets be read, and no more", r->name,
	   command == MTAG_CMD_PROC_GET	 ? "processes"
	   : command == MTAG_CMD_TAG_GET ? "tags"
					 : "shares");
}

/* A process of the reader's own kind, by the pid that it has there. */
static void judge_own(const struct reader *r)
{
	struct gate *mine = gate();
	struct heard *heard;
	pid_t pid = child();
	bool seen = false;

	if (!pid) {
		attach("own");
		must(prctl(PR_SET_DUMPABLE, 0));
		/* Undumpable it still reads itself. */
		heard = nl_ask(nl_open(), MTAG_CMD_TAG_GET, NLM_F_DUMP, getpid());
		_exit(heard->error || !nl_holds(heard, "own") || !may_read(r, getpid()));
	}
	reap(pid);
	pid = child();
	if (!pid) {
		attach("own");
		open_gate(mine, 1);
		pass_gate(mine, 2);
		_exit(0);
	}
	pass_gate(mine, 1);
	heard = nl_ask(sock, MTAG_CMD_PROC_GET, NLM_F_DUMP, 0);
	nl_each(h, heard) seen |= nl_u32(nl_attr(h, MTAG_A_PROC_PID)) == (uint32_t)pid;
	is(seen, may_read(r, pid), "%s: a child is listed by the pid that it has here", r->name);
	open_gate(mine, 2);
	reap(pid);
}

/* Readers that have judged the processes while they ran, and wait for their end. */
static struct gate *judged, *ended;
static pid_t waiting[COUNT(readers) + 2];
static int nr_waiting;

/* Of processes that have ended the history tells a reader what it could read before, and no more. */
static void judge_history(const struct reader *r, const bool could[TARGETS])
{
	struct heard *heard = nl_ask(sock, MTAG_CMD_HISTORY_GET, NLM_F_DUMP, 0);
	unsigned int wrong = 0;
	char secret[32];

	for (int who = 0; who < TARGETS; who++) {
		if (who == ZOMBIE || who == KTHREAD)
			continue;
		secret_of(secret, sizeof(secret), who);
		if (nl_holds(heard, secret) == could[who])
			continue;
		diag("  %s: %s", names[who], could[who] ? "is missing" : "is told");
		wrong++;
	}
	ok(!heard->error && !wrong,
	   "%s lists those that have ended: what smaps let be read before, and no more", r->name);
}

static void be(const struct reader *r, bool first)
{
	bool could[TARGETS];
	pid_t pid = child();

	if (pid) {
		waiting[nr_waiting++] = pid;
		pass_gate(judged, nr_waiting);
		return;
	}
	mtag_fd();
	r->become();
	sock = nl_open();
	/* An audit walks and takes its time. The check is the same. */
	for (int who = 0; who < TARGETS; who++) {
		could[who] = may_read(r, targets[who]);
		judge(r, who, first && r < &readers[3]);
	}
	judge_list(r, MTAG_CMD_PROC_GET);
	judge_list(r, MTAG_CMD_TAG_GET);
	judge_list(r, MTAG_CMD_PSS_GET);
	if (first)
		judge_own(r);
	atomic_fetch_add(&judged->step, 1);
	pass_gate(ended, 1);
	judge_history(r, could);
	_exit(0);
}

static void prepare(void)
{
	char path[64];

	must(mkdtemp(room) ? 0 : -1);
	must(chmod(room, 0755));
	must(mount("none", room, "tmpfs", 0, "mode=755"));
	snprintf(path, sizeof(path), "%s/proc", room);
	must(mkdir(path, 0755));
	must(mount("/proc", path, NULL, MS_BIND, NULL));
	snprintf(hidden_proc, sizeof(hidden_proc), "%s/hidden", room);
	must(mkdir(hidden_proc, 0755));
	must(mount("proc", hidden_proc, "proc", 0, "hidepid=2"));
	must(sh("install -m 4755 /bin/sleep %s/rooted", room) ? -1 : 0);
	must(sh("install -m 711 /bin/sleep %s/closed", room) ? -1 : 0);
	must(sh("install -m 755 /bin/sleep %s/plain", room) ? -1 : 0);
}

static void end_targets(void)
{
	for (int who = 0; who < TARGETS; who++)
		if (who != KTHREAD && who != ZOMBIE)
			end_target(who);
	ok(until(!health("tracked"), 60), "all processes have ended");
	open_gate(ended, 1);
	for (int i = 0; i < nr_waiting; i++)
		reap(waiting[i]);
}

static void cleanup(void)
{
	while (wait(NULL) > 0)
		;
	sh("umount -R %s && rmdir %s", room, room);
}

int main(void)
{
	static const char *const yama = "/proc/sys/kernel/yama/ptrace_scope";

	begin_test();
	/* The zombie and the processes in other pid namespaces stay until this one ends. */
	signal(SIGPIPE, SIG_IGN);
	nl_begin();
	judged = gate();
	ended = gate();
	prepare();
	start_targets();
	must0(-stacks_start(targets[OF_ALICE], 1, -1));
	for (size_t i = 0; i < COUNT(readers); i++)
		be(&readers[i], true);
	/* Yama restricts attaching, not reading; if it did, it would do so here, too. */
	for (int scope = 1; scope <= 2; scope++) {
		if (spew(yama, "%d", scope)) {
			skip("yama, ptrace_scope %d", scope);
			continue;
		}
		diag("ptrace_scope %d", scope);
		be(&readers[1], false);
	}
	end_targets();
	cleanup();
	printf("# counts: readers=%zu targets=%d\n", COUNT(readers), TARGETS);
	return end_test();
}
