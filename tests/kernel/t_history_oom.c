// SPDX-License-Identifier: GPL-2.0
/*
 * Which part of the program was it that the OOM killer killed? A process with three tags, of which one grows, in a
 * memory cgroup that is too small, and where all memory is too small. The truth is the kernel's log, and smaps.
 */
/* vm: group=stress mem=600M timeout=100 */
#include "lib/klog.h"
#include "lib/past.h"
#include <sys/mount.h>
#include <sys/sysinfo.h>

#define CGROUP "/sys/fs/cgroup/history"

static const size_t pages[PAST_TAGS] = {100, 400, 1000};
static struct last *l;

/* ---- processes that grow ---- */

static void grow(void)
{
	mtag_t large = tag(last_names[PAST_TAGS - 1]);

	for (;;)
		touch(large, area(MIB), MIB);
}

static void limited(void)
{
	must0(spew(CGROUP "/cgroup.procs", "%d", getpid()));
	grow();
}

/* The first that the OOM killer chooses. */
static void chosen(void)
{
	must0(spew("/proc/self/oom_score_adj", "1000"));
	grow();
}

static void killed(void (*end)(void), const char *what)
{
	int log = log_open(), status;
	pid_t pid = last_child(l, pages, end);
	struct truth truth;
	struct past past, large;

	until_exit(pid);
	truth = truth_of(pid);
	must(ptrace(PTRACE_CONT, pid, NULL, 0));
	must(waitpid(pid, &status, __WALL));
	ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && log_says_oom(log, pid),
	   "%s: the kernel says that its OOM killer killed it", what);
	past = past_of(pid, NULL);
	large = past_of(pid, "large");
	ok(past.entries == 1 && !strcmp(past.how, "oom"), "%s: so does the history", what);
	is(past.signal, SIGKILL, "%s: with the signal", what);
	/* Was it stopped here for so long that the OOM reaper came? Then the peaks tell. */
	if (past.reaped) {
		diag("  reaped");
		/* A peak may be too low by 64 pages for each CPU. */
		ok(past_of(pid, "middle").peak + 64 * PG * get_nprocs_conf() >= l->len[1],
		   "%s: the peak of the middle tag is what it had", what);
	} else {
		ok(!strcmp(past.largest, "large"), "%s: it names the tag that grew", what);
		is(past_of(pid, "small").anon, l->len[0], "%s: the small tag has what it had",
		   what);
		is(past_of(pid, "middle").anon, l->len[1], "%s: so has the middle one", what);
		is(past.anon, truth.anon, "%s: its anonymous memory is that of smaps", what);
		/* Where all memory has run out, pages of its files may go between the two looks. */
		if (end == limited)
			is(past.rss, truth.rss, "%s: the last RSS is that of smaps", what);
		else
			ok(past.rss <= truth.rss, "%s: the last RSS is no more than that of smaps",
			   what);
	}
	ok(large.peak > 30 * MIB && large.peak >= large.anon,
	   "%s: the peak of the tag is what it had", what);
	ok(strstr(ctl(NULL, "history --oom %d", pid), "OOM"), "%s: --oom shows it", what);
	close(log);
}

/* A process that the OOM killer kills, and keeps its memory until that is taken away. */
static void reaped(void)
{
	pid_t pid = last_child(l, pages, limited);
	uint64_t had;
	struct past past;
	int status;

	until_exit(pid);
	had = truth_of(pid).anon;
	if (!until(truth_of(pid).anon < had / 2, 60))
		return skip("the OOM reaper does not come");
	must(ptrace(PTRACE_CONT, pid, NULL, 0));
	must(waitpid(pid, &status, __WALL));
	past = past_of(pid, "large");
	ok(past.reaped && !strcmp(past.how, "oom"),
	   "memory that was taken away before the end is told");
	ok(past.peak > 30 * MIB, "the peak says what the tag had");
	ok(strstr(ctl(NULL, "history %d", pid), "PEAK"), "and the table points to it");
}

static void others(void)
{
	pid_t pid = child();

	if (!pid) {
		last_begin(l, pages);
		raise(SIGKILL);
	}
	must(waitpid(pid, NULL, 0));
	ok(!strcmp(past_of(pid, NULL).how, "killed"), "SIGKILL by somebody else is no OOM");
	ok(!strstr(ctl(NULL, "history --oom %d", pid), "SIGKILL"), "and --oom leaves it out");
}

int main(void)
{
	begin_test();
	/* Where the first tags went to swap the history would tell that, not what smaps does. */
	swapoff_all();
	ctl(NULL, "history --clear");
	l = must(mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	sh("echo +memory >/sys/fs/cgroup/cgroup.subtree_control");
	must(mkdir(CGROUP, 0755));
	must0(spew(CGROUP "/memory.max", "%lu", 40 * MIB));
	spew(CGROUP "/memory.swap.max", "0");
	killed(limited, "beyond its cgroup's limit");
	killed(chosen, "out of all memory");
	reaped();
	others();
	until(!rmdir(CGROUP), 10);
	return end_test();
}
