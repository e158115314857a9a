// SPDX-License-Identifier: GPL-2.0
/* KSM: totals stay exact when pages are merged within a process, between tags and between trees. */
/* vm: core=1 group=parallel thread=multi mem=1G timeout=400 repairs=3 */
/* vm: brief=1 timeout=400 repairs=3 */
#include "lib/test.h"
#include "lib/keepers.h"

#define KSM "/sys/kernel/mm/ksm/"
#define N   64

#ifndef MADV_SOFT_OFFLINE
#define MADV_SOFT_OFFLINE 101
#endif

static mtag_t a, b, w;

static void fill(mtag_t as, char *p, size_t pages, uint64_t what)
{
	mtag_t before = mtag_enter(as);

	for (size_t i = 0; i < pages; i++)
		for (size_t j = 0; j < PG; j += 8)
			*(volatile uint64_t *)(p + i * PG + j) = what;
	mtag_leave(before);
}

/* Returns how many different frames a range has. */
static size_t frames(const char *p, size_t pages)
{
	static uint64_t word[8 * N];
	size_t n = 0, j;

	pagemap(p, pages, word);
	for (size_t i = 0; i < pages; i++) {
		for (j = 0; j < i && word[i] != word[j]; j++)
			;
		n += j == i;
	}
	return n;
}

static bool merged(const char *p, size_t pages, size_t into)
{
	return until(frames(p, pages) == into, 60);
}

static uint64_t all_three(mtag_t first, mtag_t second)
{
	return anon_of(first) + anon_of(second) + anon_of(MTAG_ID_KSM);
}

static uint64_t marked_swap(void)
{
	return swap_of(a) + swap_of(MTAG_ID_KSM);
}

static void one_tag(void)
{
	char *p = area(N * PG);

	fill(a, p, N, 0x1111);
	must(madvise(p, N * PG, MADV_MERGEABLE));
	ok(merged(p, N, 1), "equal pages of one tag are merged");
	is(anon_of(a), N * PG, "and all stay its own");
	owns(a, p, N * PG, "as smaps counts them");
	exact("merged pages are exact");
	touch(w, p, N / 2 * PG);
	is(anon_of(a), N * PG, "a merged page of the own tag, copied on write, stays the tag's");
	exact("exact after unmerging by writes");
	in_child {
		is(anon_of(a), N * PG, "a child has merged pages as its parent");
		touch(w, p, N * PG);
		is(anon_of(a), N * PG, "and keeps them when it writes");
		exact("a child with merged pages is exact");
	}
	must(munmap(p, N * PG));
	is(anon_of(a) + anon_of(w) + anon_of(MTAG_ID_KSM), 0, "munmap leaves nothing");
	exact("exact afterwards");
}

static void two_tags(void)
{
	char *p = area(N * PG), *q = area(N * PG);

	fill(a, p, N, 0x2222);
	fill(b, q, N, 0x2222);
	must(madvise(p, N * PG, MADV_MERGEABLE));
	must(madvise(q, N * PG, MADV_MERGEABLE));
	ok(merged(p, N, 1) && merged(q, N, 1) && until(pfn_of(p) == pfn_of(q), 60),
	   "pages of two tags are merged");
	is(all_three(a, b), 2 * N * PG, "their sum is the same");
	is(anon_of(MTAG_ID_KSM), 0, "and none of it is [ksm]'s within one tree");
	exact("merged across tags, exact");
	must(madvise(p, N / 2 * PG, MADV_UNMERGEABLE));
	exact("exact after MADV_UNMERGEABLE");
	touch(w, q, N / 2 * PG);
	exact("exact after writes");
	is(all_three(a, b) + anon_of(w), 2 * N * PG, "nothing was lost on the way");
	must(munmap(p, N * PG));
	must(munmap(q, N * PG));
	is(all_three(a, b) + anon_of(w), 0, "munmap leaves nothing");
	exact("exact afterwards");
}

static void through_swap(void)
{
	char *p = area(N * PG);

	if (!swap_zram()) {
		skip("merged pages go through swap exactly (no zram)");
		return;
	}
	/* Pairs: each merged page has two mappings. */
	for (size_t i = 0; i < N; i++)
		fill(a, p + i * PG, 1, 0x3333 + i / 2);
	must(madvise(p, N * PG, MADV_MERGEABLE));
	ok(merged(p, N, N / 2), "pairs of pages are merged");
	exact("exact with pairs");
	/* MADV_PAGEOUT leaves pages with several mappings alone; the control group's reclaim does not. */
	spew("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
	sh("g=$(sed -n 's/^0:://p' /proc/%d/cgroup); for i in 1 2 3; do echo 64M >/sys/fs/cgroup$g/memory.reclaim; done "
	   "2>/dev/null",
	   getpid());
	diag("%" PRIu64 " bytes of %lu in swap", smaps(p, N * PG).swap, N * PG);
	is(anon_of(a) + anon_of(MTAG_ID_KSM), smaps(p, N * PG).anon,
	   "what is left is as smaps says");
	is(swap_of(a) + swap_of(MTAG_ID_KSM), smaps(p, N * PG).swap,
	   "what is in swap is as smaps says");
	exact("exact with merged pages in swap");
	touch(w, p, N * PG);
	exact("exact after swap-in");
	is(anon_of(a) + anon_of(MTAG_ID_KSM) + anon_of(w), N * PG, "all are back");
	must(munmap(p, N * PG));
	exact("exact after munmap");
	swapoff_all();
}

/*
 * A page that came back from swap is merged while a relative still has its slot: it goes to that slot again, and then
 * belongs to another than what the relative has charged.
 */
static void swap_cached_merged(void)
{
	char *p = area(N * PG);
	struct gate *g = gate();
	pid_t pid;

	if (!swap_zram()) {
		skip("pages are merged that a relative has in swap (no zram)");
		return;
	}
	for (size_t i = 0; i < N; i++)
		fill(a, p + i * PG, 1, 0x5151 + i / 2);
	pid = child();
	if (!pid) {
		pass_gate(g, 1);
		exact("exact when a relative's pages in swap were merged");
		must(munmap(p, N * PG));
		is(marked_swap(), 0, "munmap leaves nothing of them in swap");
		exact("and is exact");
		_exit(0);
	}
	if (!reclaim_group(p, N))
		diag("reclaim leaves %" PRIu64 " bytes", smaps(p, N * PG).rss);
	for (size_t i = 0; i < N; i++)
		(void)*(volatile char *)(p + i * PG);
	must(madvise(p, N * PG, MADV_MERGEABLE));
	ok(merged(p, N, N / 2), "pages are merged that a relative has in swap");
	exact("exact with them");
	/* Such a page goes to its slot; the call says EBUSY all the same, as that is not the end of it. */
	diag("one with a slot is poisoned: %s", strerror(-poison(p)));
	exact("exact when one with a slot fails in memory");
	reclaim_group(p, N);
	exact("exact when they are in swap again");
	open_gate(g, 1);
	reap(pid);
	must(munmap(p, N * PG));
	is(marked_swap(), 0, "nothing of them is left in swap");
	exact("exact afterwards");
	swapoff_all();
}

/* A process with its own tree. The steps of a gate in a file tell it what to do. */
struct peers {
	struct gate gate;
	atomic_int ready;
};

static struct peers *peers_map(const char *path)
{
	int fd = must(open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
	struct peers *peers;

	must(ftruncate(fd, PG));
	peers = must(mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
	close(fd);
	return peers;
}

static int peer_failed;

/* A peer prints no TAP: failures go to stdout as a diagnostic and into the exit status. */
static void expect(bool good, const char *what)
{
	struct compared found = compare();

	if (good && found.equal)
		return;
	peer_failed = 1;
	diag("peer %d: %s: a %" PRIu64 ", writer %" PRIu64 ", ksm %" PRIu64, getpid(), what,
	     anon_of(a), anon_of(w), anon_of(MTAG_ID_KSM));
	show_compared(&found);
}

static int peer(const char *path)
{
	struct peers *peers = peers_map(path);
	uint64_t before;
	char *p;

	begin();
	a = tag("a");
	w = tag("writer");
	p = area(N * PG);
	fill(a, p, N, 0x4444);
	must(madvise(p, N * PG, MADV_MERGEABLE));
	expect(merged(p, N, 1), "own pages merge");
	atomic_fetch_add(&peers->ready, 1);
	pass_gate(&peers->gate, 1);
	expect(anon_of(a) + anon_of(MTAG_ID_KSM) == N * PG,
	       "what merged with another tree is mine or [ksm]'s");
	before = anon_of(MTAG_ID_KSM);
	/* Each page with what nobody else has: equal ones would be merged again. */
	for (size_t i = 0; i < N / 2; i++)
		fill(w, p + i * PG, 1, (uint64_t)getpid() << 32 | i);
	expect(anon_of(a) + anon_of(MTAG_ID_KSM) + anon_of(w) == N * PG,
	       "nothing was lost by writing");
	expect(anon_of(MTAG_ID_KSM) + anon_of(w) == before,
	       "a copy of [ksm]'s is the writer's, one of mine stays mine");
	expect(anon_of(w) == (before ? N / 2 * PG : 0), "as many as were written to");
	must(madvise(p, N * PG, MADV_UNMERGEABLE));
	expect(anon_of(MTAG_ID_KSM) == 0, "MADV_UNMERGEABLE leaves [ksm] nothing");
	must(munmap(p, N * PG));
	expect(anon_of(a) + anon_of(w) + anon_of(MTAG_ID_KSM) == 0, "munmap leaves nothing");
	return peer_failed;
}

static uint64_t ksm_says(const char *name)
{
	char path[64], *text;

	snprintf(path, sizeof(path), KSM "%s", name);
	text = slurp(path);
	return text ? strtoull(text, NULL, 10) : 0;
}

/* What [ksm] has of three peers whose pages are all one frame: their home's stay with their tag. */
static void homes(const pid_t *pid)
{
	uint64_t of_ksm = 0, with_none = 0;

	for (int i = 0; i < 3; i++) {
		uint64_t has = show(pid[i], "[ksm]").anon;

		of_ksm += has;
		with_none += !has;
		is(has + show(pid[i], "a").anon, N * PG,
		   "process %d of 3: its merged pages are its tag's or [ksm]'s", i + 1);
	}
	is(of_ksm, 2 * N * PG, "[ksm] has the merged pages of the two that are not their home");
	is(with_none, 1, "and none of their home's");
}

static void two_trees(void)
{
	const char *path = "/dev/shm/mtag-ksm";
	struct peers *peers;
	pid_t pid[3];

	unlink(path);
	peers = peers_map(path);
	for (int i = 0; i < 3; i++) {
		pid[i] = child();
		if (!pid[i]) {
			execl("/proc/self/exe", "peer", path, NULL);
			bail("exec");
		}
	}
	if (!until(atomic_load(&peers->ready) == 3, 120))
		bail("the peers are not ready");
	/* Of the frames that KSM shares it counts the first mapping apart from all others. */
	ok(until(ksm_says("pages_shared") == 1 && ksm_says("pages_sharing") == 3 * N - 1, 60),
	   "KSM makes one frame of the pages of three trees");
	homes(pid);
	for (int i = 0; i < 3; i++)
		ok(until(show(pid[i], NULL).rows > 0, 10) && audit(pid[i]).drift == 0,
		   "process %d of 3, merged with others: audit says drift 0", i + 1);
	open_gate(&peers->gate, 1);
	for (int i = 0; i < 3; i++)
		reap(pid[i]);
	ok(true, "three processes of three trees merged and parted");
	unlink(path);
}

/* A child beyond the limit is not tracked, shares all pages, and has them merged. */
static void by_stray(void)
{
	struct gate *g = gate();
	char *p = area(N * PG);
	pid_t pid;

	/* A process that ended only now would make room for it. */
	ok(until((visit_cpus(), health("tracked") == 1), 60), "nobody else is tracked");
	fill(a, p, N, 0x6666);
	pid = stray();
	if (!pid) {
		must(madvise(p, N * PG, MADV_MERGEABLE));
		if (!merged(p, N, 1))
			_exit(1);
		open_gate(g, 1);
		pass_gate(g, 2);
		_exit(0);
	}
	pass_gate(g, 1);
	is(frames(p, N), N, "what it has merged is still several pages here");
	ok(anon_of(a) >= (N - 1) * PG && !anon_of(MTAG_ID_KSM),
	   "all but at most one stay the tag's");
	exact("exact when a page was merged by a child that is not tracked");
	is(audit(getpid()).drift, 0, "audit says drift 0");
	must(munmap(p, N * PG));
	is(anon_of(a) + anon_of(MTAG_ID_KSM), 0, "munmap leaves nothing");
	exact("exact afterwards");
	open_gate(g, 2);
	reap(pid);
}

#define MOVES 7 /* while a child is forked, which is counted in up to 8 attempts */

/*
 * Merged pages move to other frames, and no event says where they are mapped; the old frames are gone for good. Each step
 * of @g lets some more of them move.
 */
_Noreturn static void move_on_and_on(char *p, size_t pages, struct gate *g, double pause)
{
	int step = 0, left = 0;

	for (size_t i = 0;; usleep((useconds_t)(1e6 * pause))) {
		left = step == atomic_load(&g->step) ? left : MOVES;
		step = atomic_load(&g->step);
		if (left-- > 0)
			madvise(p + (i += 2) % pages * PG, PG, MADV_SOFT_OFFLINE);
	}
}

static double fork_some(size_t n, struct gate *g)
{
	double began = now();

	for (size_t i = 0; i < n; i++) {
		pid_t pid = (atomic_fetch_add(&g->step, 1), child());
		if (!pid)
			_exit(0);
		reap(pid);
	}
	return (now() - began) / (double)n;
}

static void forks_beside_moves(void)
{
	size_t pages = 8 * N;
	char *p = area(pages * PG);
	struct gate *g = gate();
	uint64_t unmended;
	double takes;
	pid_t mover;

	for (size_t i = 0; i < pages; i++)
		fill(a, p + i * PG, 1, 0x7777 + i / 2);
	must(madvise(p, pages * PG, MADV_MERGEABLE));
	ok(merged(p, pages, pages / 2), "pairs of pages are merged");
	unmended = health("dirty_ended");
	takes = fork_some(8, g);
	mover = child();
	/* Often enough to hit one count of a child, too seldom to hit all the attempts. */
	if (!mover)
		move_on_and_on(p, pages, g, takes / (MOVES + 1));
	fork_some(more(60, 200), g);
	must0(kill(mover, SIGKILL));
	waitpid(mover, NULL, 0);
	ok(until((visit_cpus(), health("tracked") == 1), 60), "all children have ended");
	is(health("dirty_ended"), unmended,
	   "each was counted, although merged pages moved meanwhile");
	exact("exact after the moves");
	must(munmap(p, pages * PG));
}

/* As many rounds as possible: a task must be interrupted between the two events of its copy. */
#define OTHERS 7

/* Interrupts the task that runs on this CPU and copies a page itself: the page of zeros. */
_Noreturn static void copy_on_and_on(char *p, struct gate *g)
{
	const struct sched_param first = {.sched_priority = 1};
	const struct timespec pause = {.tv_nsec = OTHERS * 300000};

	must(sched_setscheduler(0, SCHED_FIFO, &first));
	for (;;) {
		must(madvise(p, PG, MADV_DONTNEED));
		read_all(w, p, PG);
		touch(w, p, PG);
		atomic_fetch_add(&g->step, 1);
		nanosleep(&pause, NULL);
	}
}

static void on_one_cpu(bool one)
{
	static cpu_set_t all;
	cpu_set_t first;

	if (one)
		must(sched_getaffinity(0, sizeof(all), &all));
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	must(sched_setaffinity(0, sizeof(first), one ? &first : &all));
}

static void copies_beside_copies(void)
{
	size_t pages = 8 * N;
	char *p = area(pages * PG), *q = area(PG);
	struct gate *g = gate();
	pid_t other[OTHERS];

	for (size_t i = 0; i < pages; i++)
		fill(a, p + i * PG, 1, 0x8888 + i / 2);
	must(madvise(p, pages * PG, MADV_MERGEABLE));
	ok(merged(p, pages, pages / 2), "pairs of pages are merged");
	on_one_cpu(true);
	for (size_t i = 0; i < OTHERS; i++) {
		other[i] = child();
		if (!other[i])
			copy_on_and_on(q, g);
	}
	pass_gate(g, 2 * OTHERS);
	touch(w, p, pages * PG);
	diag("%d copies meanwhile", atomic_load(&g->step) - 2 * OTHERS);
	for (size_t i = 0; i < OTHERS; i++) {
		must0(kill(other[i], SIGKILL));
		waitpid(other[i], NULL, 0);
	}
	on_one_cpu(false);
	is(anon_of(a), pages * PG,
	   "copies of a tag's merged pages are its own, although others copied meanwhile");
	is(anon_of(w), 0, "and none is the writer's");
	exact("exact when others copied meanwhile");
	must(munmap(p, pages * PG));
}

int main(int argc, char **argv)
{
	uint64_t drift;

	if (argc > 1 && !strcmp(argv[0], "peer"))
		return peer(argv[1]);
	need_root();
	drift = health("drift");
	swapoff_all();
	begin();
	a = tag("a");
	b = tag("b");
	w = tag("writer");
	if (spew(KSM "pages_to_scan", "20000") || spew(KSM "sleep_millisecs", "20") ||
	    spew(KSM "run", "1"))
		skip_all("no KSM in this kernel");
	/* No test here has pages of zeros, which KSM treats differently. */
	one_tag();
	two_tags();
	through_swap();
	swap_cached_merged();
	two_trees();
	clean(getpid(), "audit agrees");
	/* It loses something, so there is no audit at the end. */
	by_stray();
	forks_beside_moves();
	copies_beside_copies();
	/* Unmerges whatever is left. */
	spew(KSM "run", "2");
	no_drift(drift);
	spew(KSM "run", "0");
	return done();
}
