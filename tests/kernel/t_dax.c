// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that files are mapped from directly (DAX). Kernels differ in whether that is RSS; its mapper has
 * what smaps says. On 6.1, however, smaps shows 4 KiB for each huge mapping of such memory, although the
 * kernel itself counts none of it; on 6.16 it shows nothing of huge mappings that the kernel counts, and
 * the kernel's sum is the truth.
 */
/* vm: group=append mem=7G append=numa=fake=2,memmap=128M!1G,memmap=2G!4G timeout=200 since=6.12 because="smaps counts it wrongly" */
#include "lib/test.h"

#define MOUNT "/run/mtag-dax"
#define LEN   (4 * HPAGE)

static mtag_t a, b, w;
static bool unseen; /* by smaps */

static void sums(pid_t pid, const char *when)
{
	if (unseen)
		counted_of(pid, when);
	else
		exact_of(pid, "%s: exact", when);
}

static char *map_as(mtag_t as, int fd, int flags, size_t skew)
{
	char *room = must(mmap(NULL, LEN + 2 * HPAGE, PROT_NONE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
	char *p = (char *)(((uintptr_t)room + HPAGE - 1) & -HPAGE) + skew * PG;
	mtag_t before = mtag_enter(as);

	must(mmap(p, LEN, PROT_READ | PROT_WRITE, flags | MAP_FIXED, fd, 0));
	mtag_leave(before);
	return p;
}

static void has(mtag_t tag, const char *p, const char *when)
{
	struct smaps s = smaps(p, LEN);

	if (!unseen)
		is(file_of(tag) + shmem_of(tag), s.rss - s.anon, "%s: as smaps says", when);
}

static void both(char *p, char *q, const char *when)
{
	has(a, p, when);
	has(b, q, when);
	is(anon_of(a) + anon_of(b), 0, "%s: none of it is anonymous", when);
	sums(getpid(), when);
}

/* Another process, which has it mapped already when it comes to be tracked, is counted by its page tables. */
static void late(const char *p)
{
	pid_t pid;

	frozen_child(pid) read_all(w, p, LEN);
	sh("mtagctl untrack %d", pid);
	is(sh("mtagctl track %d", pid), 0, "tracked late");
	sums(pid, "tracked late");
	is(audit(pid).drift, 0, "tracked late: no drift");
	end_child(pid);
}

static void shared(int fd)
{
	char *p = map_as(a, fd, MAP_SHARED, 0), *q = map_as(b, fd, MAP_SHARED, 1);
	uint64_t before;

	before = statm_rss(getpid());
	touch(w, p, LEN);
	diag("%" PRIu64 " bytes of %lu are RSS", smaps(p, LEN).rss, LEN);
	unseen = !smaps(p, LEN).rss && statm_rss(getpid()) >= before + LEN;
	both(p, q, "written to");
	read_all(w, q, LEN);
	both(p, q, "mapped twice");
	late(p);
	must(munmap(p + HPAGE / 2, HPAGE));
	must(madvise(q, HPAGE + PG, MADV_DONTNEED));
	both(p, q, "unmapped and discarded in part");
	in_child {
		read_all(w, q, LEN);
		both(p, q, "in a child");
	}
	if (!fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, HPAGE, HPAGE + PG))
		both(p, q, "a hole punched");
	must(ftruncate(fd, LEN / 2));
	both(p, q, "truncated");
	must(ftruncate(fd, LEN));
	must(munmap(p, LEN));
	must(munmap(q, LEN));
	is(file_of(a) + file_of(b) + shmem_of(a) + shmem_of(b), 0, "unmapped: nothing is left");
	sums(getpid(), "unmapped");
}

static void private(int fd)
{
	char *p = map_as(a, fd, MAP_PRIVATE, 0);

	read_all(w, p, LEN);
	has(a, p, "private");
	for (size_t i = 0; i < LEN; i += 5 * PG)
		touch(w, p + i, PG);
	is(anon_of(w), (LEN / PG + 4) / 5 * PG, "private: copies are the writer's");
	has(a, p, "private, copied in part");
	sums(getpid(), "private");
	must(munmap(p, LEN));
	is(anon_of(w) + file_of(a), 0, "private: nothing is left");
}

/* Also where the pages of that program are no RSS. */
static bool loads(void)
{
	return !sh("cp $(command -v insmod) " MOUNT "/insmod && rmmod mtag && " MOUNT
		   "/insmod $MTAG_MODULE linger_ms=3600000 count_down=1");
}

int main(void)
{
	int fd;

	begin_test();
	if (sh("{ modprobe nd_pmem; modprobe nd_e820; modprobe ext4; "
	       "mkfs.ext4 -q -F -b 4096 /dev/pmem0 && mkdir -p " MOUNT
	       " && mount -o dax /dev/pmem0 " MOUNT "; } >&2"))
		skip_all("no memory to map files from directly");
	ok(loads(), "the module is loaded by a program that is mapped directly");
	begin();
	a = tag("a");
	b = tag("b");
	w = tag("worker");
	fd = must(open(MOUNT "/file", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
	must(fallocate(fd, 0, 0, LEN));
	shared(fd);
	must(fallocate(fd, 0, 0, LEN));
	private(fd);
	close(fd);
	sh("umount " MOUNT);
	return end_test();
}
