// SPDX-License-Identifier: GPL-2.0
/* Bugs that reviewers found, one function for each. */
/* vm: core=1 group=parallel thread=multi mem=1G timeout=400 */
#include "lib/netlink.h"
#include "lib/test.h"
#include <linux/io_uring.h>
#include <sys/mount.h>

#define N	100
#define FEW	7
#define MANY	12000
#define TAGS	300
#define CGROUP	"/sys/fs/cgroup/mtag-regress"
#define HUGE_FS "/run/mtag-huge"

static mtag_t a, b;
static int zram = -1;

/* Swap so small that slots that one process frees soon belong to another. */
static bool swap_small(void)
{
	char *text;

	if (sh("modprobe zram") || !(text = slurp("/sys/class/zram-control/hot_add")))
		return false;
	zram = atoi(text);
	return !sh("{ echo 64M >/sys/block/zram%d/disksize && mkswap -q /dev/zram%d && "
		   "swapon -p 20 /dev/zram%d; } >&2",
		   zram, zram, zram);
}

static void swap_small_off(void)
{
	swapoff_all();
	if (zram >= 0)
		spew("/sys/class/zram-control/hot_remove", "%d", zram);
}

/* A control group to reclaim from: MADV_PAGEOUT skips pages that several processes map. */
static bool group_make(void)
{
	mkdir(CGROUP, 0755);
	spew("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
	return !access(CGROUP "/memory.reclaim", W_OK);
}

static void group_enter(void)
{
	must0(spew(CGROUP "/cgroup.procs", "0"));
}

/* Reclaims from the group until all of a range is in swap. */
static bool squeeze(const void *start, size_t len)
{
	return until((spew(CGROUP "/memory.reclaim", "%lu", 400 * MIB),
		      smaps(start, len).swap == len),
		     30);
}

/* Maps and unmaps pages that never had a neighbour, each under the other tag. */
static bool scattered(unsigned long from, unsigned long to)
{
	for (unsigned long i = from; i < to; i++) {
		char *at = (char *)(0x100000000000UL + i * 2 * PG), *p;
		mtag_t before = mtag_enter(i % 2 ? a : b);

		p = mmap(at, PG, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		mtag_leave(before);
		if (p != at || munmap(p, PG))
			return false;
	}
	return true;
}

/* The module's records of ranges must not grow with every address that was ever mapped. */
static void ever_new_addresses(void)
{
	uint64_t memory, nodes = file_field("/proc/slabinfo", "maple_node");

	ok(scattered(0, 10000), "10000 mappings at ever-new addresses under alternating tags");
	memory = health("memory");
	ok(scattered(10000, 30000), "and 20000 more");
	ok(until(health("memory") < memory + 256 * KIB, 20), "the module's memory does not grow");
	diag("  memory %" PRIu64 ", then %" PRIu64, memory, health("memory"));
	if (nodes == UINT64_MAX)
		skip("nor does what maple trees take (this kernel has none)");
	else
		ok(until(file_field("/proc/slabinfo", "maple_node") < nodes + 1000, 20),
		   "nor does what maple trees take");
	diag("  maple nodes %" PRIu64 ", then %" PRIu64, nodes,
	     file_field("/proc/slabinfo", "maple_node"));
	is(virt_of(a) + virt_of(b), 0, "none of them is still mapped");
	in_child
		exact("a child forked after that is exact");
	exact("exact after mappings at ever-new addresses");
}

/* An mmap that fails at the limit of mappings must leave the module's records as they were. */
static void failed_fixed(void)
{
	uint64_t limit = strtoull(slurp("/proc/sys/vm/max_map_count"), NULL, 10), maps = 0;
	int fd = must(memfd_create("regress", MFD_CLOEXEC)), failed = 0;
	mtag_t before;
	bool changed = true;
	char *p, *q;

	must(ftruncate(fd, N * PG));
	before = mtag_enter(a);
	p = must(mmap(NULL, N * PG, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
	mtag_leave(before);
	touch(a, p, N * PG);
	for (const char *line = slurp("/proc/self/maps"); (line = strchr(line, '\n')); line++)
		maps++;
	for (uint64_t at = maps - 3; at <= maps + 3; at++) {
		must0(spew("/proc/sys/vm/max_map_count", "%" PRIu64, at));
		before = mtag_enter(b);
		q = mmap(p + N / 4 * PG, N / 4 * PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			 fd, 0);
		mtag_leave(before);
		if (q != MAP_FAILED)
			break;
		failed++;
		changed &= !mprotect(p, N * PG, PROT_READ);
		changed &= !mprotect(p, N * PG, PROT_READ | PROT_WRITE);
	}
	must0(spew("/proc/sys/vm/max_map_count", "%" PRIu64, limit));
	ok(failed > 0, "MAP_FIXED fails at the limit of mappings (%d times)", failed);
	ok(changed, "mprotect of the whole works after that");
	clean(getpid(), "audit agrees after a failed MAP_FIXED and mprotect");
	exact("exact after a failed MAP_FIXED and mprotect");
	must(munmap(p, N * PG));
	is(shmem_of(a) + shmem_of(b), 0, "nothing is left once it is unmapped");
	is(virt_of(a) + virt_of(b), 0, "nor of its size");
	clean(getpid(), "audit agrees after unmapping it");
	close(fd);
}

static void pinned_shmem(void)
{
	struct io_uring_params params = {0};
	char *p = area_prot(HPAGE, HPAGE, PROT_NONE);
	struct iovec buffer = {p + 8 * PG, PG};
	int fd, ring = syscall(SYS_io_uring_setup, 4, &params);
	mtag_t before;

	mkdir(HUGE_FS, 0700);
	if (mount("none", HUGE_FS, "tmpfs", 0, "huge=always")) {
		skip("pinned pages of a shmem huge page (no huge tmpfs here)");
		goto out;
	}
	fd = must(open(HUGE_FS "/file", O_RDWR | O_CREAT | O_CLOEXEC, 0600));
	must(ftruncate(fd, HPAGE));
	before = mtag_enter(a);
	must(mmap(p, HPAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0));
	mtag_leave(before);
	close(fd);
	touch(a, p, HPAGE);
	if (smaps(p, HPAGE).huge != HPAGE) {
		skip("pinned pages of a shmem huge page (got no huge page)");
	} else if (ring < 0 ||
		   syscall(SYS_io_uring_register, ring, IORING_REGISTER_BUFFERS, &buffer, 1)) {
		skip("pinned pages of a shmem huge page (no io_uring here: %s)", strerror(errno));
	} else {
		is(shmem_of(a), HPAGE, "a shmem huge page is its tag's");
		must(munmap(p + N * PG, PG));
		touch(a, p, 64 * PG);
		clean(getpid(), "audit agrees once its mapping is split");
		exact("exact once its mapping is split");
		must(munmap(p, 64 * PG));
		is(shmem_of(a), smaps(p, HPAGE).rss,
		   "a pinned page of it, unmapped by pte, was shared memory");
		is(anon_of(a), 0, "and not anonymous");
		clean(getpid(), "audit agrees after unmapping by pte");
		exact("exact after unmapping by pte");
	}
	must(munmap(p, HPAGE));
	is(shmem_of(a), 0, "nothing is left of the shmem huge page");
	is(anon_of(a), 0, "nor taken from anonymous memory");
	exact("exact without the shmem huge page");
out:
	if (ring >= 0)
		close(ring);
	until(!umount(HUGE_FS), 10);
}

/* A page in the swap cache gets another owner; its slot is still a relative's. */
static void swap_cached_range(void)
{
	char *p = area(N * PG);
	struct gate *g = gate();
	pid_t pid;

	touch(a, p, N * PG);
	pid = child();
	if (!pid) {
		pass_gate(g, 1);
		is(swap_of(a), N * PG, "a child's swapped pages are its tag's");
		open_gate(g, 2);
		pass_gate(g, 3);
		is(swap_of(a), N * PG, "and stay so when its parent gives its own to another tag");
		is(swap_of(b), 0, "which has nothing in the child");
		exact("the child is exact");
		touch(0, p, N * PG);
		is(anon_of(a), N * PG, "the child gets its pages back");
		exact("and is exact with them");
		_exit(0);
	}
	if (!squeeze(p, N * PG))
		bail("reclaim leaves %" PRIu64 " bytes", smaps(p, N * PG).rss);
	open_gate(g, 1);
	pass_gate(g, 2);
	read_all(0, p, N * PG);
	must0(mtag_range(p, N * PG, b, MTAG_RANGE_PRESENT));
	is(anon_of(a) + anon_of(b), N * PG, "swap-cached pages given to a tag are some tag's");
	exact("exact after giving swap-cached pages to a tag");
	squeeze(p, N * PG);
	reclaim(p, N * PG);
	exact("exact once they are out again");
	open_gate(g, 3);
	reap(pid);
	must(munmap(p, N * PG));
	is(anon_of(a) + anon_of(b) + swap_of(a) + swap_of(b), 0, "nothing of them is left");
}

/*
 * What a relative that is no longer tracked reads and gives up again keeps its owner: its slot, which is still that of
 * others, is the same.
 */
static void swap_cached_untracked(void)
{
	char *p = area(N * PG);
	struct gate *g = gate();
	pid_t pid;

	touch(a, p, N * PG);
	pid = child();
	if (!pid) {
		pass_gate(g, 1);
		must0(nl_ask(nl_open(), MTAG_CMD_UNTRACK, 0, getpid())->error);
		read_all(0, p, N * PG);
		squeeze(p, N * PG);
		reclaim(p, N * PG);
		open_gate(g, 2);
		pass_gate(g, 3);
		_exit(0);
	}
	if (!squeeze(p, N * PG))
		bail("reclaim leaves %" PRIu64 " bytes", smaps(p, N * PG).rss);
	open_gate(g, 1);
	pass_gate(g, 2);
	is(swap_of(a), N * PG,
	   "swapped pages stay their tag's when an untracked relative reads them");
	read_all(0, p, N * PG);
	is(anon_of(a), N * PG, "and are its when they come back");
	is(swap_of(a), 0, "nothing of it is left in swap");
	exact("exact after an untracked relative paged in and out");
	open_gate(g, 3);
	reap(pid);
	must(munmap(p, N * PG));
}

/* Ends and leaves the owners of its pages, with ids that no other process has, in most slots. */
static void leave_owners(void)
{
	char name[32], *p;
	mtag_t t = 0;

	begin();
	for (int i = 0; i < TAGS; i++) {
		snprintf(name, sizeof(name), "t%d", i);
		t = tag(name);
	}
	p = area(MANY * PG);
	touch(t, p, MANY * PG);
	reclaim(p, MANY * PG);
	is(swap_of(t), smaps(p, MANY * PG).swap, "what a process leaves in swap has its owner");
	ok(swap_of(t) > MANY / 2 * PG, "and is most of swap");
}

/* Runs in a process that is not attached. */
static void stale_owners(void)
{
	char *p = area(MANY * PG);
	pid_t keeper, reader;
	struct gate *g;

	in_child
		leave_owners();
	group_enter();
	g = gate();
	for (size_t i = 0; i < MANY; i++)
		*(volatile uint64_t *)(p + i * PG) = i + 1;
	keeper = child();
	if (!keeper) {
		pass_gate(g, 2);
		_exit(0);
	}
	ok(until((spew(CGROUP "/memory.reclaim", "%lu", 400 * MIB),
		  smaps(p, MANY * PG).swap > MANY / 2 * PG),
		 30),
	   "an unattached process gets those slots");
	reader = child();
	if (!reader) {
		read_all(0, p, MANY * PG);
		open_gate(g, 1);
		pass_gate(g, 2);
		_exit(0);
	}
	pass_gate(g, 1);
	begin();
	exact("it is exact when it attaches");
	read_all(0, p, MANY * PG);
	exact("and with pages from the swap cache, in spite of stale owners");
	clean(getpid(), "audit agrees with it");
	clean(getpid(), "and does so again");
	open_gate(g, 2);
	reap(keeper);
	reap(reader);
}

static atomic_int sharer; /* 1: has touched FEW pages, 2: may end */

static int touch_few_and_stay(void *arg)
{
	for (size_t i = 0; i < FEW; i++)
		((volatile char *)arg)[i * PG] = 1;
	atomic_store(&sharer, 1);
	while (atomic_load(&sharer) != 2)
		usleep(1000);
	return 0;
}

/*
 * 6.1 keeps counts of the last few pages in the task that touched them. The audit looked at all tasks of the
 * machine for them; it looks further than a process's own threads only where others share its memory.
 */
static void audit_of_shared_memory(void)
{
	char *p = area(FEW * PG), *stack = area(64 * KIB);
	struct audit found;
	uint64_t rss;
	int tries = 0;
	pid_t pid = must(clone(touch_few_and_stay, stack + 64 * KIB, CLONE_VM | SIGCHLD, p));

	if (!until(atomic_load(&sharer) == 1, 30))
		bail("the process in the same memory does not run");
	do {
		rss = truth_of(getpid()).rss;
		found = audit(getpid());
	} while (rss != truth_of(getpid()).rss && ++tries < 100);
	is(found.kernel, rss,
	   "an audit has what the kernel counts for another process in the same memory");
	clean(getpid(), "and agrees");
	atomic_store(&sharer, 2);
	reap(pid);
	must(munmap(p, FEW * PG));
	must(munmap(stack, 64 * KIB));
}

int main(void)
{
	struct gate *g = gate();
	pid_t unattached;
	bool swap;

	begin_test();
	swapoff_all();
	unattached = child();
	if (!unattached) {
		pass_gate(g, 1);
		if (atomic_load(&g->step) == 1)
			stale_owners();
		_exit(0);
	}
	begin();
	a = tag("a");
	b = tag("b");
	ever_new_addresses();
	failed_fixed();
	pinned_shmem();
	audit_of_shared_memory();
	nl_begin();
	swap = swap_small() && group_make();
	if (swap) {
		open_gate(g, 1);
		reap(unattached);
		group_enter();
		swap_cached_range();
		swap_cached_untracked();
		spew("/sys/fs/cgroup/cgroup.procs", "0");
	} else {
		skip("stale owners in swap (no zram or no memory.reclaim here)");
		skip("swap-cached pages given to a tag (no zram or no memory.reclaim here)");
		skip("and read by an untracked relative (no zram or no memory.reclaim here)");
		open_gate(g, 2);
		reap(unattached);
	}
	swap_small_off();
	rmdir(CGROUP);
	return end_test();
}
