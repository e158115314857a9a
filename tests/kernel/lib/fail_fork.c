// SPDX-License-Identifier: GPL-2.0
/*
 * Forks, threads, names of threads and execs while allocations fail. What they begin is tracked and exact, or the
 * loss is reported.
 */
#include "fail_fork.h"
#include "fail_each.h"
#include <sys/ptrace.h>

/* Checks that a child is tracked and exact, or that it is reported as not tracked. */
static void forked(char *p, mtag_t t, int failed)
{
	struct mtag_ioc_range arg = {
		.size = sizeof(arg), .addr = (uintptr_t)p, .len = PG, .tag = t};
	struct mtag_ioc_attach again = {.size = sizeof(again)};
	int result = mtag_ioctl(MTAG_IOC_RANGE, &arg);

	if (result == -ESRCH && failed) {
		good(show(getpid(), NULL).rows == 0,
		     "a child that is shown says that it is not tracked");
		result = mtag_ioctl(MTAG_IOC_ATTACH, &again);
		good(!result, "attaching in the child: %s", strerror(-result));
	} else {
		good(!result, "giving a range to a tag in the child: %s", strerror(-result));
	}
	exactly("in the child");
	touch(t, p, N / 2 * PG);
	exactly("in the child that touched something");
	in_child
		exactly("in the child's child");
}

void forks(void)
{
	char *p = area(N * PG), *q, *r = area(N * PG);
	uint64_t before;
	int status, failed;
	mtag_t t, u;
	pid_t pid;

	begin();
	t = tag("t");
	u = tag("u");
	q = shared(u, N * PG);
	touch(t, p, N * PG);
	must0(mtag_range(r, N * PG, u, 0));
	touch(t, r, N * PG);
	exactly("before it forks");
	before = losses();
	mtag_enter(t);
	arm();
	pid = fork();
	if (pid < 0) {
		/* The kernel's own allocation failed. */
		status = errno;
		good(disarm() && status == ENOMEM, "fork: %s", strerror(status));
		mtag_enter(MTAG_UNTAGGED);
		exactly("after a fork that failed");
		return;
	}
	if (!pid) {
		failed = disarm();
		mtag_enter(u);
		forked(p, t, failed);
		_exit(0);
	}
	mtag_enter(MTAG_UNTAGGED);
	must(waitpid(pid, &status, 0));
	good(!status, "the child ended with status %#x", status);
	counted(now_at->failed, before);
	exactly("in the parent");
	touch(u, p, N * PG);
	must(munmap(q, N * PG));
	must(munmap(r, N * PG));
	exactly("in the parent that unmapped something");
}

/* ---- processes that are killed ---- */

static uint64_t told(void)
{
	return losses() + health("dirty_ended");
}

/* Waits until no other process is tracked. */
static void all_ended(void)
{
	good(until((visit_cpus(), health("tracked") == 1), 30), "%" PRIu64 " are tracked",
	     health("tracked"));
}

/* A child that attaches at step 1, in a tree of its own. */
static pid_t stranger(struct gate *g)
{
	pid_t pid = child();

	if (pid)
		return pid;
	pass_gate(g, 1);
	must0(mtag_init());
	_exit(0);
}

/* Forks and exits; its child writes to @ran if it runs. */
_Noreturn static void fork_and_die(int ran)
{
	arm();
	if (!fork())
		must(write(ran, "r", 1));
	_exit(0);
}

void killed_forks(void)
{
	char *p = area(N * PG), *q, byte;
	int ran[2], status, failed;
	struct gate *g = gate();
	pid_t other = stranger(g), pid;
	uint64_t before, lost;
	mtag_t t;

	begin();
	t = tag("t");
	q = shared(t, N * PG);
	touch(t, p, N * PG);
	must(pipe2(ran, O_CLOEXEC));
	exactly("before the fork");
	before = told();
	lost = losses();
	pid = child();
	if (!pid)
		fork_and_die(ran[1]);
	must(waitpid(pid, &status, 0));
	close(ran[1]);
	status = must(read(ran[0], &byte, 1));
	failed = disarm();
	all_ended();
	if (status)
		counted(failed, lost);
	else
		good(told() == before, "a loss was counted where nothing was missed");
	/* The per-CPU allocator refuses tasks that are being killed; mtag had its memory all the same. */
	if (!status && !atomic_load(&now_at->all) &&
	    (strstr(now_at->what, "percpu") || strstr(now_at->what, "pcpu"))) {
		open_gate(g, 1);
		must(waitpid(other, &status, 0));
		exactly("when a stranger has attached");
		good(told() == before, "the child was not tracked");
	}
	open_gate(g, 1);
	exactly("in the parent");
	must(munmap(q, N * PG));
	exactly("in the parent after munmap");
}

void killed_execs(void)
{
	uint64_t before;
	int status, failed;
	pid_t pid;

	begin();
	must0(mtag_default(tag("t")));
	before = told();
	pid = child();
	if (!pid) {
		/* It stops before the new program begins: that one's calls are not to fail. */
		must(ptrace(PTRACE_TRACEME, 0, NULL, NULL));
		arm();
		execl("/bin/true", "true", NULL);
		_exit(9);
	}
	must(waitpid(pid, &status, 0));
	failed = disarm();
	if (WIFSTOPPED(status)) {
		must(ptrace(PTRACE_CONT, pid, NULL, NULL));
		must(waitpid(pid, &status, 0));
	}
	good(status == (failed ? SIGKILL : 0), "the child that executes ended with status %#x",
	     status);
	all_ended();
	/* Whose page tables it zaps could not be noted, or a call was not counted for its tag: these are losses. */
	good(told() == before || (failed && (strstr(now_at->what, "mtag_record_new") ||
					     strstr(now_at->what, "calls_get"))),
	     "a loss was counted where nothing was missed");
	exactly("in its parent");
}

static mtag_t thread_tag;

static void *thread(void *p)
{
	write_pages(p, N);
	touch(thread_tag, (char *)p + N * PG, N * PG);
	return NULL;
}

void threads(void)
{
	char *p = area(2 * N * PG);
	uint64_t before, by_library;
	int failed;
	mtag_t t;

	begin();
	t = tag("t");
	thread_tag = tag("u");
	before = losses();
	by_library = mtag_failures();
	mtag_enter(t);
	arm();
	in_thread(thread, p);
	failed = disarm();
	mtag_enter(MTAG_UNTAGGED);
	if (mtag_failures() == by_library)
		counted(failed, before);
	if (!failed)
		good(anon_of(thread_tag) == N * PG, "the thread's tag has not what it touched");
	exactly("after a thread");
	must(madvise(p, 2 * N * PG, MADV_DONTNEED));
	in_thread(thread, p);
	good(anon_of(thread_tag) == N * PG, "the next thread's tag has not what it touched");
	exactly("after another one");
}

void naming(void)
{
	struct mtag_ioc_attach arg = {.size = sizeof(arg), .flags = MTAG_ATTACH_BY_THREAD};
	struct usage first = {0}, second = {0};
	char *p = area(2 * N * PG);
	uint64_t before;
	int failed;

	must0(mtag_ioctl(MTAG_IOC_ATTACH, &arg));
	prefault_stack();
	before = losses();
	arm();
	prctl(PR_SET_NAME, "first");
	failed = disarm();
	counted(failed, before);
	write_pages(p, N);
	exactly("after a thread got a name");
	prctl(PR_SET_NAME, "second");
	write_pages(p + N * PG, N);
	usage_get(MTAG_ID_FIRST, &first);
	usage_get(MTAG_ID_FIRST + 1, &second);
	good(first.c[MTAG_C_ANON] + second.c[MTAG_C_ANON] >= (failed ? N : 2 * N) * PG,
	     "a name is no tag");
	exactly("after it got another one");
}

int execed(void)
{
	struct compared c;
	struct usage u;
	char byte = 'r';
	int error;

	prefault_stack();
	must(write(STDOUT_FILENO, &byte, 1));
	must(read(STDIN_FILENO, &byte, 1));
	error = usage_get(MTAG_UNTAGGED, &u);
	if (error)
		return error == -ESRCH ? 3 : 4;
	c = compare();
	return c.equal ? 0 : 5;
}

void execs(void)
{
	int to[2], from[2], status, failed;
	uint64_t before;
	char byte;
	pid_t pid;
	mtag_t t;

	begin();
	t = tag("t");
	must0(mtag_default(mtag_child(t, "default")));
	must(pipe2(to, O_CLOEXEC));
	must(pipe2(from, O_CLOEXEC));
	before = losses();
	pid = child();
	if (pid)
		close(from[1]);
	if (!pid) {
		dup2(to[0], STDIN_FILENO);
		dup2(from[1], STDOUT_FILENO);
		arm();
		execl("/proc/self/exe", "t_fail", "execed", NULL);
		_exit(9);
	}
	status = must(read(from[0], &byte, 1));
	failed = disarm();
	if (!status) {
		/* The kernel's own allocation failed. */
		good(failed, "the new program does not start");
		must(waitpid(pid, &status, 0));
		exactly("after an exec that failed");
		return;
	}
	must(write(to[1], &byte, 1));
	must(waitpid(pid, &status, 0));
	status = WIFEXITED(status) ? WEXITSTATUS(status) : status;
	good(!status || (status == 3 && failed), "the new program ended with %d", status);
	counted(failed, before);
	exactly("in its parent");
}
