// SPDX-License-Identifier: GPL-2.0
/*
 * Each k-th allocation of mtag fails while programs fork, copy, move, page out, merge and collapse their memory. Losses
 * are counted, and once that is over every process adds up again. In every other program stacks are taken, too.
 */
/* vm: group=parallel mem=1G timeout=300 repairs=any because="each allocation that fails in a hook may cost one" */
/* vm: group=apart mem=1G timeout=3600 repairs=any because="each allocation that fails in a hook may cost one" long=1 args=24 */
#include "lib/load.h"
#include "lib/fail.h"
#include "lib/stacks.h"

#define N      128
#define ROUNDS 3
#define KSM    "/sys/kernel/mm/ksm/"
#define CGROUP "/sys/fs/cgroup/mtag-fail"
#define THP    "/sys/kernel/mm/transparent_hugepage/"

static mtag_t a, b, c_;
static bool swaps, groups, merges;

/* All agree, tag by tag: the first that reads repairs what was missed. */
static void adds_up(const char *who, const char *when)
{
	struct compared c = compare();
	struct audit found;

	if (!c.equal) {
		ok(false, "%s is exact %s", who, when);
		show_compared(&c);
	}
	found = audit(getpid());
	if (found.drift)
		is(found.drift, 0, "%s has no drift %s", who, when);
}

static void fill(char *p, size_t pages, int what)
{
	for (size_t i = 0; i < pages; i++)
		memset(p + i * PG, what, PG);
}

/* A place where another tag had a mapping, which the range still records. */
static char *stale(mtag_t t, size_t len)
{
	mtag_t before = mtag_enter(t);
	char *p = must(mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));

	mtag_leave(before);
	must(munmap(p, len));
	return p;
}

/* Threads that could not be registered. They get an error, so that is no loss. In shared memory. */
static atomic_int *refused;

static void *thread(void *p)
{
	prctl(PR_SET_NAME, "worker");
	touch(b, p, N / 4 * PG);
	if (!mtag_thread_word)
		atomic_fetch_add(refused, 1);
	return NULL;
}

/* The memory of a process, at first the same in all relatives. */
struct memory {
	char *private, *shared, *room, *equal, *huge;
};

static void work(struct memory *m, int round)
{
	const size_t len = N * PG;
	char *moved;

	mtag_enter(round % 2 ? b : c_);
	fill(m->private + N / 4 * PG, N / 4, round);
	moved = mremap(m->shared, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, m->room);
	if (moved != MAP_FAILED) {
		m->room = m->shared;
		m->shared = moved;
	}
	madvise(m->private, len / 2, MADV_PAGEOUT);
	in_thread(thread, m->private + N / 2 * PG);
	madvise(m->huge, HPAGE, MADV_COLLAPSE);
	madvise(m->huge + 16 * PG, 16 * PG, MADV_DONTNEED);
	fill(m->equal, N / 8, 7);
	if (groups)
		spew(CGROUP "/memory.reclaim", "%lu", 4 * MIB);
	mtag_enter(MTAG_UNTAGGED);
}

static void relative(struct memory *m, struct gate *g, int round)
{
	struct usage u;

	work(m, round);
	open_gate(g, 1);
	pass_gate(g, 2);
	if (usage_get(MTAG_UNTAGGED, &u) == -ESRCH)
		return; /* could not be tracked, which was counted */
	adds_up("a relative", "afterwards");
	read_all(a, m->private, N * PG);
	read_all(a, m->shared, N * PG);
	adds_up("a relative", "with all in memory");
}

static void make(struct memory *m)
{
	m->private = area(N * PG);
	m->equal = area(N * PG);
	m->huge = area_prot(HPAGE, HPAGE, PROT_READ | PROT_WRITE);
	m->room = stale(c_, N * PG);
	mtag_enter(b);
	m->shared =
		must(mmap(NULL, N * PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	mtag_enter(a);
	fill(m->private, N, 1);
	fill(m->shared, N, 2);
	fill(m->equal, N, 7);
	fill(m->huge, N, 4);
	mtag_enter(MTAG_UNTAGGED);
	if (merges)
		must(madvise(m->equal, N * PG, MADV_MERGEABLE));
	if (has_huge_pages())
		must(madvise(m->huge, HPAGE, MADV_HUGEPAGE));
}

/* Another program with the same contents, for KSM. */
static pid_t stranger(struct gate *g)
{
	struct memory m;
	pid_t pid = child();

	if (pid)
		return pid;
	begin();
	a = tag("strange");
	b = c_ = a;
	make(&m);
	open_gate(g, 1);
	pass_gate(g, 2);
	adds_up("a stranger", "afterwards");
	_exit(0);
}

/* What is beneath stacks, and beneath none, is all that smaps calls anonymous. To look touches memory, and KSM goes on. */
static void stacks_add_up(void)
{
	uint64_t beneath = 0, anon = 1;

	until((beneath = stack_sum(stacks(getpid()), ANY_TAG, ANY_KIND).anon,
	       anon = smaps(NULL, UINTPTR_MAX).anon, beneath == anon),
	      30);
	is(beneath, anon, "stacks add up to smaps' Anonymous");
}

static void program(int k)
{
	struct gate *g[ROUNDS];
	pid_t pids[ROUNDS];
	uint64_t lost;
	struct memory m;
	int failed;

	begin();
	a = tag("a");
	b = tag("b");
	c_ = tag("c");
	make(&m);
	if (k % 2)
		must0(-stacks_start_self(1, -1));
	lost = health("lost") + health("repairs");
	atomic_store(refused, 0);
	fail_set("every", k);
	fail_arm(-1, k);
	for (int round = 0; round < ROUNDS; round++) {
		g[round] = gate();
		pids[round] = child();
		if (!pids[round]) {
			relative(&m, g[round], round);
			_exit(0);
		}
		work(&m, round);
	}
	for (int round = 0; round < ROUNDS; round++)
		pass_gate(g[round], 1);
	failed = fail_disarm(NULL);
	adds_up("the program", "afterwards");
	for (int round = 0; round < ROUNDS; round++) {
		open_gate(g[round], 2);
		reap(pids[round]);
	}
	adds_up("the program", "without its relatives");
	read_all(a, m.private, N * PG);
	adds_up("the program", "with all in memory");
	if (k % 2)
		stacks_add_up();
	must(munmap(m.private, N * PG));
	must(munmap(m.shared, N * PG));
	must(munmap(m.equal, N * PG));
	must(munmap(m.huge, HPAGE));
	adds_up("the program", "without its memory");
	lost = health("lost") + health("repairs") - lost;
	ok(failed > 0 && (lost || *refused),
	   "each %d. allocation: %d failed, %" PRIu64 " losses counted, %d threads refused", k,
	   failed, lost, *refused);
}

/*
 * The allocation for a page's owner fails when the page leaves the first of two processes and succeeds when it leaves
 * the second: the page has one owner all the same.
 */
static void two_mappings(void)
{
	const size_t len = 2 * N * PG;
	struct gate *g = gate();
	char *p = area(len);
	int failed;
	pid_t pid;

	begin();
	a = tag("a");
	touch(a, p, len);
	pid = child();
	if (!pid) {
		read_all(a, p, len);
		open_gate(g, 1);
		pass_gate(g, 2);
		adds_up("the second process", "with all in swap");
		pass_gate(g, 3);
		read_all(a, p, len);
		adds_up("the second process", "with all in memory");
		_exit(0);
	}
	pass_gate(g, 1);
	fail_set("every", 0);
	fail_arm(-1, 1);
	if (!until((spew(CGROUP "/memory.reclaim", "%lu", 64 * MIB), smaps(p, len).swap == len),
		   30))
		diag("  not all of it went to swap");
	failed = fail_disarm(NULL);
	adds_up("the first process", "with all in swap");
	open_gate(g, 2);
	must(madvise(p, len / 2, MADV_DONTNEED));
	adds_up("the first process", "without some of it");
	read_all(a, p, len);
	adds_up("the first process", "with all in memory");
	open_gate(g, 3);
	reap(pid);
	ok(failed,
	   "a page that two processes had had no memory for its owner when it left the first");
}

int main(int argc, char **argv)
{
	int last = argc > 1 ? atoi(argv[1]) : 4;
	uint64_t drift = health("drift");

	need_root();
	khugepaged_goes_on();
	refused = must(mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	fail_begin();
	fail_beneath_mtag();
	swaps = swap_zram();
	merges = !spew(KSM "run", "1") && !spew(KSM "sleep_millisecs", "5");
	mkdir(CGROUP, 0755);
	spew("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
	groups = swaps && !access(CGROUP "/memory.reclaim", W_OK);
	diag("swap %d, groups %d, KSM %d, huge pages %d", swaps, groups, merges, has_huge_pages());
	if (groups)
		must0(spew(CGROUP "/cgroup.procs", "0"));
	if (groups) {
		ok(idle(), "the hooks go out");
		in_child
			two_mappings();
		ok(idle(), "the hooks go out");
	} else {
		skip("pages that leave two processes (no memory.reclaim)");
	}
	for (int k = 1; k <= last; k++) {
		struct gate *g = gate();
		pid_t other = stranger(g);

		pass_gate(g, 1);
		in_child
			program(k);
		open_gate(g, 2);
		reap(other);
		until((visit_cpus(), health("tracked") == 0), 60);
	}
	spew(KSM "run", "2");
	swapoff_all();
	is(health("drift"), drift, "no process that ended had drift");
	is(health("tracked"), 0, "none is left");
	fail_end();
	spew("/sys/fs/cgroup/cgroup.procs", "0");
	rmdir(CGROUP);
	return done();
}
