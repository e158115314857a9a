// SPDX-License-Identifier: GPL-2.0
/*
 * A process that is dying when the OOM killer chooses it, by its own exit or somebody's SIGKILL: the kernel takes its
 * memory, and kills nobody. The history does not say that the OOM killer killed it, as the kernel's log does not.
 */
/* vm: group=stress mem=600M timeout=300 */
#include "lib/klog.h"
#include "lib/past.h"

#define CGROUP "/sys/fs/cgroup/dying"

static const size_t pages[PAST_TAGS] = {100, 400, 1000};
static struct last *l;

static void grown(void)
{
	must0(spew(CGROUP "/cgroup.procs", "%d", getpid()));
	touch(tag(last_names[PAST_TAGS - 1]), area(20 * MIB), 20 * MIB);
}

static void by_exit(void)
{
	grown();
	_exit(3);
}

static void by_sigkill(void)
{
	grown();
	raise(SIGKILL);
}

/* Wants more than the cgroup has left, and is the last that the OOM killer chooses. */
static pid_t hog(void)
{
	pid_t pid = child();

	if (pid)
		return pid;
	must0(spew("/proc/self/oom_score_adj", "-900"));
	must0(spew(CGROUP "/cgroup.procs", "%d", getpid()));
	touch(MTAG_UNTAGGED, area(30 * MIB), 30 * MIB);
	pause();
	_exit(0);
}

static void found_dying(void (*end)(void), const char *how, const char *what)
{
	int log = log_open(), status;
	pid_t pid = last_child(l, pages, end), other;
	struct past past;
	uint64_t had;

	until_exit(pid);
	had = truth_of(pid).anon;
	other = hog();
	ok(until(truth_of(pid).anon < had / 2, 60), "%s: the OOM reaper takes its memory", what);
	must(ptrace(PTRACE_CONT, pid, NULL, 0));
	must(waitpid(pid, &status, __WALL));
	kill(other, SIGKILL);
	must(waitpid(other, NULL, 0));
	ok(!log_says_oom(log, pid), "%s: the kernel does not say that its OOM killer killed it",
	   what);
	past = past_of(pid, NULL);
	ok(past.entries == 1 && !strcmp(past.how, how), "%s: nor does the history: %s", what,
	   past.how);
	ok(past.reaped, "%s: which says that its memory was taken away", what);
	close(log);
}

int main(void)
{
	begin_test();
	ctl(NULL, "history --clear");
	l = must(mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	sh("echo +memory >/sys/fs/cgroup/cgroup.subtree_control");
	must(mkdir(CGROUP, 0755));
	must0(spew(CGROUP "/memory.max", "%lu", 40 * MIB));
	spew(CGROUP "/memory.swap.max", "0");
	found_dying(by_exit, "exited", "a process that exits");
	found_dying(by_sigkill, "killed", "a process that somebody kills");
	until(!rmdir(CGROUP), 10);
	return end_test();
}
