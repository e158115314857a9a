// SPDX-License-Identifier: GPL-2.0
/* Pages stay charged while they migrate: a tag has its pages at any instant, whatever moves them meanwhile. */
/* vm: group=append mem=7G append=numa=fake=2,memmap=128M!1G,memmap=2G!4G timeout=400 */
#include "lib/folios.h"
#include "lib/shares.h"

#define N	 1024
#define READINGS more(150, 1000)
#define ROUNDS	 more(10, 60)
#define MOVES	 (5 * N)
#define KSM	 "/sys/kernel/mm/ksm/"

static mtag_t a, b, w, f, h;
static struct gate *stop;

/* Another process, which is not tracked, moves all pages of this one between nodes until it is told to stop. */
static pid_t mover(pid_t whose)
{
	unsigned long node[2] = {1, 2};
	pid_t pid = child();

	if (pid)
		return pid;
	pass_gate(stop, 1);
	for (int i = 0; atomic_load(&stop->step) < 2; i++)
		syscall(SYS_migrate_pages, whose, 8 * sizeof(long), &node[i % 2], &node[!(i % 2)]);
	_exit(0);
}

static char *shared_memory(void)
{
	mtag_t before = mtag_enter(f);
	char *p =
		must(mmap(NULL, N * PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));

	mtag_leave(before);
	touch(w, p, N * PG);
	return p;
}

static char *pages_of_two(void)
{
	char *p = area(N * PG);

	for (size_t i = 0; i < N; i++)
		touch(i % 2 ? b : a, p + i * PG, PG);
	return p;
}

/*
 * Only the frames change here. How many of them do between two readings is the scheduler's to say, so it goes on until
 * there were enough of both, or three minutes have passed.
 */
static void quiet(void)
{
	char *p = pages_of_two(), *shmem = shared_memory();
	uint64_t before = vmstat("pgmigrate_success"), moved = 0, wrong = 0, unequal = 0, parts = 0;
	time_t end = time(NULL) + 180;
	struct compared both;
	struct shares s;
	int i;

	for (i = 0; i < READINGS || (moved < MOVES && time(NULL) < end); i++) {
		wrong += anon_of(a) != N / 2 * PG || anon_of(b) != N / 2 * PG ||
			 shmem_of(f) != N * PG || anon_of(w) != 0;
		moved = vmstat("pgmigrate_success") - before;
		if (i % 16)
			continue;
		both = compare();
		unequal += !both.equal;
		if (i % 128)
			continue;
		s = shares(getpid());
		parts += s.tag[a].pss != N / 2 * PG || s.tag[b].pss != N / 2 * PG;
	}
	ok(moved >= MOVES, "pages migrate all the time (%" PRIu64 ")", moved);
	is(wrong, 0, "in %d readings each tag has all its pages", i);
	is(unequal, 0, "and together they are what smaps_rollup says");
	is(parts, 0, "its PSS is all its pages, too: nobody else maps them");
	clean(getpid(), "audit agrees while they migrate");
	must(munmap(p, N * PG));
	must(munmap(shmem, N * PG));
	is(anon_of(a) + anon_of(b) + shmem_of(f), 0, "nothing is left");
}

/*
 * The same for huge pages. smaps now and then misses one that migrates, as it looks twice and the page changes in
 * between. The number of touched pages is known.
 */
static void quiet_huge(void)
{
	char *p = huge_area(4 * HPAGE);
	uint64_t wrong = 0;

	touch(h, p, 4 * HPAGE);
	for (int i = 0; i < READINGS; i++)
		wrong += anon_of(h) != 4 * HPAGE;
	is(wrong, 0, "in %d readings a tag has all its huge pages", READINGS);
	clean(getpid(), "audit agrees while they migrate");
	must(munmap(p, 4 * HPAGE));
	is(anon_of(h), 0, "nothing is left");
}

/* Each two pages are one frame, which KSM has made of them; pagemap says so. */
static bool merged(const char *p)
{
	uint64_t word[N];
	size_t equal = 0;

	pagemap(p, N, word);
	for (size_t i = 0; i < N; i += 2)
		equal += word[i] == word[i + 1];
	return equal == N / 2;
}

/* The same for merged pages, which do not tell an event where they are. */
static void quiet_merged(void)
{
	uint64_t before, moved = 0, wrong = 0, unequal = 0;
	char *p = area(N * PG);
	time_t end = time(NULL) + 180;
	int i;

	for (size_t page = 0; page < N; page++) {
		touch(a, p + page * PG, PG);
		memset(p + page * PG, 0, PG);
		*(size_t *)(p + page * PG) = 1 + page / 2;
	}
	must(madvise(p, N * PG, MADV_MERGEABLE));
	if (spew(KSM "sleep_millisecs", "20") || spew(KSM "pages_to_scan", "20000") ||
	    spew(KSM "run", "1")) {
		skip("merged pages under migration (no KSM in this kernel)");
		return;
	}
	ok(until(merged(p), 60), "pairs of pages are merged");
	spew(KSM "run", "0");
	before = vmstat("pgmigrate_success");
	for (i = 0; i < READINGS || (moved < N && time(NULL) < end); i++) {
		wrong += anon_of(a) != N * PG;
		moved = vmstat("pgmigrate_success") - before;
		if (i % 16 == 0)
			unequal += !compare().equal;
	}
	ok(moved >= N && until(merged(p), 60), "they migrate all the time (%" PRIu64 ")", moved);
	is(wrong, 0, "in %d readings a tag has all its merged pages", i);
	is(unequal, 0, "and together they are what smaps_rollup says");
	clean(getpid(), "audit agrees while they migrate");
	must(munmap(p, N * PG));
	is(anon_of(a), 0, "nothing is left");
}

/*
 * A page that is unmapped while it migrates belongs to no tag from then on; a new page in its place is the
 * toucher's.
 */
static void busy(void)
{
	char *p = area(N * PG), *q = area(N * PG), *huge = NULL;
	uint64_t wrong[3] = {0};

	if (has_huge_pages())
		huge = huge_area(2 * HPAGE);
	for (int round = 0; round < ROUNDS; round++) {
		touch(a, p, N * PG);
		must(madvise(p + round % 7 * PG, N / 2 * PG, MADV_DONTNEED));
		touch(b, p + round % 7 * PG, N / 2 * PG);
		must(mremap(p, N * PG, N * PG, MREMAP_MAYMOVE | MREMAP_FIXED, q));
		p = must(mmap(p, N * PG, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
		no_huge(p, N * PG);
		wrong[0] += anon_of(a) + anon_of(b) != N * PG;
		if (huge) {
			touch(h, huge, 2 * HPAGE);
			must(madvise(huge + HPAGE / 2, HPAGE, MADV_DONTNEED));
			wrong[1] += anon_of(h) != HPAGE;
			must(madvise(huge, 2 * HPAGE, MADV_DONTNEED));
		}
		if (round % 10 == 0) {
			in_child {
				touch(w, q, N / 4 * PG);
				must(munmap(q + N / 2 * PG, N / 4 * PG));
				uint64_t has = anon_of(a) + anon_of(b);

				if (has != N * 3 / 4 * PG)
					ok(false, "round %d: a child has what it copied and kept",
					   round);
				if (has != N * 3 / 4 * PG)
					diag("%" PRIu64 " pages of %d, then %" PRIu64, has / PG,
					     N * 3 / 4, (anon_of(a) + anon_of(b)) / PG);
				if (!compare().equal)
					ok(false, "round %d: a child is exact", round);
			}
		}
		must(madvise(q, N * PG, MADV_DONTNEED));
		wrong[2] += anon_of(a) + anon_of(b) != 0;
	}
	diag("wrong: %" PRIu64 " moved, %" PRIu64 " huge, %" PRIu64 " discarded", wrong[0],
	     wrong[1], wrong[2]);
	is(wrong[0] + wrong[1] + wrong[2], 0,
	   "%d rounds of touching, discarding and moving: always what was touched", ROUNDS);
	exact("and exact");
	must(munmap(p, N * PG));
	must(munmap(q, N * PG));
	if (huge)
		must(munmap(huge, 2 * HPAGE));
	is(anon_of(a) + anon_of(b) + anon_of(h) + anon_of(w), 0, "nothing is left");
}

/* A range takes the pages that are present, those under way among them. */
static void given(void)
{
	char *p = area(N * PG);
	uint64_t left = 0;

	touch(a, p, N * PG);
	for (int i = 0; i < ROUNDS; i++) {
		must0(mtag_range(p, N * PG, i % 2 ? a : b, MTAG_RANGE_PRESENT));
		left += anon_of(i % 2 ? b : a);
	}
	is(left, 0, "in %d rounds a range takes all pages from their owner", ROUNDS);
	must(munmap(p, N * PG));
}

/* No peak may exceed what was resident at once: pages whose end is not yet noticed must not count. */
static void peaks(void)
{
	mtag_t peaked = tag("peaked");
	char *p = area(N * PG);

	for (int round = 0; round < ROUNDS; round++) {
		touch(peaked, p, N * PG);
		must(madvise(p, N * PG, MADV_DONTNEED));
	}
	ok(c(peaked, MTAG_C_PEAK) <= N * PG,
	   "the peak is what was touched at once (%" PRIu64 " of %lu pages)",
	   c(peaked, MTAG_C_PEAK) / PG, (unsigned long)N);
	must(munmap(p, N * PG));
}

int main(void)
{
	uint64_t repairs;
	pid_t pid;

	begin_test();
	if (access("/sys/devices/system/node/node1", F_OK))
		skip_all("one node only");
	/* It would fill what busy() has discarded. */
	no_khugepaged();
	stop = gate();
	pid = mover(getpid());
	begin();
	repairs = health("repairs");
	a = tag("a");
	b = tag("b");
	w = tag("worker");
	f = tag("file");
	h = tag("huge");
	open_gate(stop, 1);
	quiet();
	if (has_huge_pages())
		quiet_huge();
	busy();
	given();
	peaks();
	quiet_merged();
	open_gate(stop, 2);
	reap(pid);
	clean(getpid(), "audit agrees once nothing moves");
	ok(until(health("tracked") == 1, 60), "all children have ended");
	is(health("repairs"), repairs, "no process had to be counted anew");
	return end_test();
}
