// SPDX-License-Identifier: GPL-2.0
/*
 * The processes that readers ask about: one for every case in the rules of who may read a process. Each is
 * tracked, has a secret tag, and waits.
 */
#include "targets.h"

char room[] = "/tmp/access.XXXXXX";
static struct gate *g, *two;
const char *const names[TARGETS] = {
	[OF_ALICE] = "alice's",
	[OF_BOB] = "bob's",
	[OF_ROOT] = "root's",
	[UNDUMPABLE] = "alice's, undumpable",
	[SETUID] = "alice's, running a setuid program",
	[UNREADABLE] = "alice's, running a program that she cannot read",
	[DROPPED] = "a child of root's that became alice",
	[BARE] = "root's, without capabilities",
	[IN_USERNS] = "alice's, in a user namespace",
	[IN_PIDNS] = "alice's, in user and pid namespaces",
	[ROOT_IN_PIDNS] = "root's, in a pid namespace",
	[STRICT] = "alice's, in strict seccomp mode",
	[TWO_USERS] = "alice's, with a thread of bob's",
	[ZOMBIE] = "alice's, a zombie",
	[KTHREAD] = "a kernel thread",
};

/* The program that the target executes; it belongs to the user namespace that it is started in. */
static const char *const programs[TARGETS] = {
	[SETUID] = "rooted",
	[UNREADABLE] = "closed",
	[IN_USERNS] = "plain",
};
pid_t targets[TARGETS];

void secret_of(char *buf, size_t len, int who)
{
	snprintf(buf, len, "secret-%c%c", 'a' + who, 'a' + who);
}

void attach(const char *secret)
{
	struct mtag_ioc_attach a = {.size = sizeof(a)};
	struct mtag_ioc_child c = {.size = sizeof(c), .name_len = strlen(secret)};
	struct mtag_ioc_default d = {.size = sizeof(d)};

	c.name = (uintptr_t)secret;
	must0(mtag_ioctl(MTAG_IOC_ATTACH, &a));
	must0(mtag_ioctl(MTAG_IOC_CHILD, &c));
	d.tag = c.id;
	must0(mtag_ioctl(MTAG_IOC_DEFAULT, &d));
	/* The history does not name a tag that never had a page. */
	*(volatile char *)must(mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				    -1, 0)) = 1;
}

/* As user() does, but for the calling thread alone: libc would have all threads do it. */
static void thread_user(uid_t uid)
{
	must(syscall(SYS_setgroups, 0, NULL));
	must(syscall(SYS_setresgid, uid, uid, uid));
	must(syscall(SYS_setresuid, uid, uid, uid));
}

/* Ends the process, as its last thread. */
static void *be_bobs(void *main_tid)
{
	char path[64], *text;

	thread_user(BOB);
	open_gate(two, 1);
	pass_gate(two, 3);
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)(intptr_t)main_tid);
	if (!until((text = slurp(path)) && strstr(text, ") Z "), 60))
		bail("the main thread does not end");
	syscall(SYS_exit_group, 0);
	return NULL;
}

static void be_two_users(void)
{
	pthread_t thread;

	must0(pthread_create(&thread, NULL, be_bobs, (void *)(intptr_t)gettid()));
	pass_gate(two, 1);
	thread_user(ALICE);
	must(prctl(PR_SET_DUMPABLE, 1));
}

static void become_target(int who)
{
	switch (who) {
	case OF_BOB:
		user(BOB);
		break;
	case OF_ROOT:
		break;
	case DROPPED:
		must(setresuid(ALICE, ALICE, ALICE));
		break;
	case BARE:
		caps(0);
		break;
	case IN_USERNS:
		userns(ALICE, 0);
		break;
	case IN_PIDNS:
		userns(ALICE, CLONE_NEWPID);
		pidns();
		break;
	case TWO_USERS:
		be_two_users();
		break;
	case ROOT_IN_PIDNS:
		must(unshare(CLONE_NEWPID));
		pidns();
		break;
	default:
		user(ALICE);
	}
}

static void run_target(int who, pid_t *pid)
{
	char secret[32], path[64] = ""; /* readlink() does not end what it writes */

	must(prctl(PR_SET_PDEATHSIG, SIGKILL));
	become_target(who);
	must(prctl(PR_SET_PDEATHSIG, SIGKILL));
	/* The pid in the first namespace, which this /proc belongs to. */
	if (readlink("/proc/self", path, sizeof(path)) > 0)
		*pid = atoi(path);
	secret_of(secret, sizeof(secret), who);
	attach(secret);
	if (who == UNDUMPABLE)
		must(prctl(PR_SET_DUMPABLE, 0));
	atomic_fetch_add(&g->step, 1);
	if (programs[who]) {
		snprintf(path, sizeof(path), "%s/%s", room, programs[who]);
		execl(path, path, "1000", NULL);
		bail("exec %s", path);
	}
	if (who == STRICT) {
		static char byte;
		int out[2];

		must(pipe(out));
		must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT));
		while (read(out[0], &byte, 1) >= 0)
			;
	}
	if (who == ZOMBIE)
		syscall(SYS_exit_group, 0);
	if (who == TWO_USERS) {
		pass_gate(two, 2);
		open_gate(two, 3);
		syscall(SYS_exit, 0);
	}
	for (;;)
		pause();
}

static bool runs(pid_t pid, const char *comm)
{
	char path[64], *text;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	text = slurp(path);
	return text && !strncmp(text, comm, strlen(comm));
}

/* Says where a target is that does not come to its program. */
static void tell_of(pid_t pid)
{
	static const char *const files[] = {"comm", "stat", "stack"};
	char path[64], *text;

	for (size_t i = 0; i < COUNT(files); i++) {
		snprintf(path, sizeof(path), "/proc/%d/%s", pid, files[i]);
		text = slurp(path);
		diag("%s: %s", path, text ?: strerror(errno));
	}
}

void start_targets(void)
{
	pid_t *pids =
		must(mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	siginfo_t info;
	pid_t pid;

	g = gate();
	two = gate();
	for (int who = 0; who < TARGETS; who++) {
		if (who == KTHREAD) {
			targets[who] = 2;
			continue;
		}
		pid = child();
		if (!pid) {
			run_target(who, &pids[who]);
			_exit(1);
		}
		pass_gate(g, who + 1);
		targets[who] = pids[who];
		if (who == ZOMBIE)
			must(waitid(P_PID, pid, &info, WEXITED | WNOWAIT));
	}
	for (int who = 0; who < TARGETS; who++)
		if (programs[who] && !until(runs(targets[who], programs[who]), 30)) {
			tell_of(targets[who]);
			bail("%s does not run", programs[who]);
		}
}

void end_target(int who)
{
	if (who == TWO_USERS)
		open_gate(two, 2);
	else
		kill(targets[who], SIGKILL);
}
