// SPDX-License-Identifier: GPL-2.0
/* Rule 2 and I3: the owner stays with the contents in swap, on zram and in a swap file. */
/* vm: core=1 group=parallel thread=multi mem=1G timeout=400 */
/* vm: brief=1 timeout=400 */
#include "lib/test.h"
#include "lib/keepers.h"

#define N 256

static mtag_t a, b, w;
static const char *on;

/* Pages of a and b in turn. */
static char *in_turn(char *p)
{
	for (size_t i = 0; i < N; i++)
		touch(i % 2 ? b : a, p + i * PG, PG);
	return p;
}

/* Both tags together are the area. */
static char *two_owners(void)
{
	return in_turn(area(N * PG));
}

static void half_each(const char *p, uint64_t anon, uint64_t swap, const char *when)
{
	struct smaps s = smaps(p, N * PG);

	is(anon_of(a), anon / 2, "%s, %s: resident pages of tag a", on, when);
	is(anon_of(b), anon / 2, "%s, %s: resident pages of tag b", on, when);
	is(swap_of(a), swap / 2, "%s, %s: swapped pages of tag a", on, when);
	is(swap_of(b), swap / 2, "%s, %s: swapped pages of tag b", on, when);
	is(s.anon, anon, "%s, %s: smaps agrees on resident pages", on, when);
	is(s.swap, swap, "%s, %s: smaps agrees on swap", on, when);
	is(anon_of(w), 0, "%s, %s: nothing is the reader's", on, when);
	exact("%s, %s: exact", on, when);
}

static void out(char *p)
{
	if (!page_out(p, N * PG))
		bail("%s: MADV_PAGEOUT leaves %" PRIu64 " bytes", on, smaps(p, N * PG).rss);
}

static void out_and_in(void)
{
	char *p = two_owners();

	half_each(p, N * PG, 0, "before");
	out(p);
	half_each(p, 0, N * PG, "all out");
	read_all(w, p, N / 2 * PG);
	/* Readahead puts pages into the swap cache, but maps only what was asked for. */
	half_each(p, N / 2 * PG, N / 2 * PG, "half in by reading");
	touch(w, p + N / 2 * PG, N / 2 * PG);
	half_each(p, N * PG, 0, "all in by writing");
	out(p);
	touch(w, p, N * PG);
	half_each(p, N * PG, 0, "out and in again");
	must(munmap(p, N * PG));
}

/*
 * Private copies of a file's pages. They lie a page further in the file than in memory: since 7.3 their index tells the
 * place in memory, and whoever takes it for that in the file is one page off.
 */
static void of_a_file(void)
{
	int fd = must(memfd_create("mtag-swap", 0));
	char *p = area(N * PG);
	off_t offset = (uintptr_t)p + PG;

	must(ftruncate(fd, offset + N * PG));
	in_turn(must(mmap(p, N * PG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, fd, offset)));
	close(fd);
	half_each(p, N * PG, 0, "private copies");
	out(p);
	half_each(p, 0, N * PG, "private copies, all out");
	touch(w, p, N / 2 * PG);
	half_each(p, N / 2 * PG, N / 2 * PG, "private copies, half in");
	must(munmap(p, N * PG));
	is(anon_of(a) + anon_of(b) + swap_of(a) + swap_of(b), 0,
	   "%s: munmap of private copies leaves nothing", on);
}

static void discarded(void)
{
	char *p = two_owners();

	out(p);
	must(madvise(p, N / 4 * PG, MADV_DONTNEED));
	half_each(p, 0, (N - N / 4) * PG, "a quarter discarded by MADV_DONTNEED");
	must(madvise(p + N / 4 * PG, N / 4 * PG, MADV_FREE));
	half_each(p, 0, N / 2 * PG, "a quarter discarded by MADV_FREE");
	read_all(w, p, N / 2 * PG);
	half_each(p, 0, N / 2 * PG, "what was discarded reads as the zero page");
	touch(a, p, N / 4 * PG);
	is(anon_of(a), N / 4 * PG, "%s: and may be touched anew", on);
	must(munmap(p, N * PG));
	is(anon_of(a) + anon_of(b) + swap_of(a) + swap_of(b), 0,
	   "%s: munmap of swapped pages leaves nothing", on);
	exact("%s: exact after munmap of swapped pages", on);
}

/* Resident pages with MADV_FREE end at reclaim, without a swap entry. */
static void freed(void)
{
	char *p = two_owners();

	must(madvise(p, N / 2 * PG, MADV_FREE));
	half_each(p, N * PG, 0, "MADV_FREE, not yet reclaimed");
	until((madvise(p, N * PG, MADV_PAGEOUT), smaps(p, N * PG).anon == 0), 30);
	is(anon_of(a) + anon_of(b), smaps(p, N * PG).anon,
	   "%s: reclaimed pages after MADV_FREE are nobody's", on);
	is(swap_of(a) + swap_of(b), smaps(p, N * PG).swap, "%s: and in nobody's swap", on);
	exact("%s: exact after reclaim of MADV_FREE's pages", on);
	must(munmap(p, N * PG));
}

static void forked(void)
{
	char *p = two_owners();

	out(p);
	in_child {
		half_each(p, 0, N * PG, "a child with swapped pages");
		read_all(w, p, N / 2 * PG);
		half_each(p, N / 2 * PG, N / 2 * PG, "a child that reads half");
		in_child {
			half_each(p, N / 2 * PG, N / 2 * PG, "a grandchild");
			touch(w, p, N * PG);
			half_each(p, N * PG, 0, "a grandchild that writes");
		}
		out(p);
		half_each(p, 0, N * PG, "a child that swaps out again");
		touch(w, p, N / 4 * PG);
		must(munmap(p, N * PG));
		exact("%s: a child that unmapped swapped pages is exact", on);
	}
	half_each(p, 0, N * PG, "the parent keeps its own");
	touch(w, p, N * PG);
	half_each(p, N * PG, 0, "and gets them back");
	must(munmap(p, N * PG));
}

static void moved(void)
{
	char *p = two_owners(), *q = area(N * PG);

	out(p);
	must(mremap(p, N * PG, N * PG, MREMAP_MAYMOVE | MREMAP_FIXED, q));
	half_each(q, 0, N * PG, "mremap of swapped pages");
	touch(w, q, N * PG);
	half_each(q, N * PG, 0, "swapped in where they moved to");
	must(munmap(q, N * PG));
}

static void from_outside(void)
{
	char *p = two_owners(), *buffer = area(N * PG);
	struct iovec ours = {buffer, N * PG}, theirs = {p, N * PG};
	struct gate *g = gate();
	pid_t pid;

	touch(0, buffer, N * PG);
	out(p);
	pid = child();
	if (!pid) {
		open_gate(g, 1);
		pass_gate(g, 2);
		half_each(p, N * PG, 0, "swapped in by another process");
		_exit(0);
	}
	pass_gate(g, 1);
	is(process_vm_readv(pid, &ours, 1, &theirs, 1, 0), N * PG, "%s: process_vm_readv swaps in",
	   on);
	open_gate(g, 2);
	reap(pid);
	must(munmap(p, N * PG));
	must(munmap(buffer, N * PG));
}

static void *touch_half(void *arg)
{
	touch(w, arg, N / 2 * PG);
	return NULL;
}

/* While a page is out its range gets another tag: its owner does not change. */
static void ranged(void)
{
	char *p = two_owners();

	out(p);
	must0(mtag_range(p, N * PG, w, 0));
	in_thread(touch_half, p);
	read_all(0, p, N * PG);
	half_each(p, N * PG, 0, "a range's tag does not come before the owner of contents");
	must(munmap(p, N * PG));
}

static void off(void)
{
	char *p = two_owners();

	out(p);
	is(swapoff_all(), 0, "%s: swapoff works", on);
	half_each(p, N * PG, 0, "after swapoff");
	must(munmap(p, N * PG));
	is(anon_of(a) + anon_of(b) + swap_of(a) + swap_of(b), 0, "%s: nothing is left", on);
}

static void all(const char *device, bool ready)
{
	on = device;
	if (!ready) {
		skip("%s: swap there is followed (cannot be set up)", on);
		return;
	}
	out_and_in();
	of_a_file();
	discarded();
	freed();
	forked();
	moved();
	from_outside();
	ranged();
	off();
}

/* Nothing was swapped out while a hook was in: all of swap was there when the first process attached. */
static void out_before(void)
{
	uint64_t unmended;
	char *p = area(N * PG);

	if (!swap_zram()) {
		skip("what was in swap before (no zram)");
		return;
	}
	ok(idle(), "the hooks go out");
	in_child {
		for (size_t i = 0; i < N; i++)
			*(uint64_t *)(p + i * PG) = i + 1;
		on = "zram";
		out(p);
		begin();
		is(swap_of(MTAG_UNTAGGED), smaps(p, N * PG).swap, "what was in swap is counted");
		unmended = health("dirty_ended");
		for (int i = 0; i < 20; i++) {
			in_child
				must(munmap(p, N / 2 * PG));
		}
		ok(until((visit_cpus(), health("tracked") == 1), 60), "its children have ended");
		is(health("dirty_ended"), unmended, "each of them was counted");
		exact("exact with what was in swap before");
	}
	swapoff_all();
}

/* ---- what is discarded while its process is being tracked ---- */

static struct {
	char *p;
	size_t size;
	int advice;
	atomic_bool runs;
} discard;

static void *discards(void *arg)
{
	prefault_stack();
	atomic_store(&discard.runs, true);
	must(madvise(discard.p, discard.size, discard.advice));
	return arg;
}

/* Its swap entries are freed by a call that began before. */
static void discarded_meanwhile(int advice, const char *name)
{
	struct mtag_ioc_attach a = {.size = sizeof(a)};
	int fd = must(open(MTAG_DEVICE, O_RDONLY | O_CLOEXEC));
	pthread_t thread;

	discard.size = more(32 * MIB, 256 * MIB);
	discard.p = area(discard.size);
	discard.advice = advice;
	atomic_store(&discard.runs, false);
	memset(discard.p, 1, discard.size);
	if (!page_out(discard.p, discard.size))
		bail("MADV_PAGEOUT leaves %" PRIu64 " bytes", smaps(discard.p, discard.size).rss);
	if (pthread_create(&thread, NULL, discards, NULL))
		bail("thread");
	while (!atomic_load(&discard.runs))
		;
	must(ioctl(fd, MTAG_IOC_ATTACH, &a));
	pthread_join(thread, NULL);
	is(smaps(discard.p, discard.size).swap, 0, "%s while it is being tracked frees all", name);
	clean(getpid(), "%s while it is being tracked: none of that swap is counted", name);
}

static void tracked_meanwhile(void)
{
	pid_t keeper;

	if (!swap_zram()) {
		skip("what is discarded while its process is being tracked (no zram)");
		return;
	}
	/* The hooks are in already: what begins to discard could have been noted. */
	frozen_child(keeper) begin();
	for (int i = 0; i < 3; i++) {
		in_child
			discarded_meanwhile(MADV_DONTNEED, "MADV_DONTNEED");
		in_child
			discarded_meanwhile(MADV_FREE, "MADV_FREE");
	}
	end_child(keeper);
	swapoff_all();
}

int main(void)
{
	begin_test();
	swapoff_all();
	out_before();
	tracked_meanwhile();
	begin();
	a = tag("a");
	b = tag("b");
	w = tag("worker");
	all("zram", swap_zram());
	all("swap file", swap_file());
	return end_test();
}
