// SPDX-License-Identifier: GPL-2.0
/*
 * Rule 3 for large folios of shared memory and files, which are mapped and unmapped by the batch: huge,
 * cut by the page table, moved, truncated, punched, reclaimed, collapsed.
 */
/* vm: core=1 group=plain timeout=600 */
#include "lib/model.h"

#define MOUNT "/run/mtag-batch"
#define LEN   (4 * HPAGE)
#define N     (LEN / PG)

static mtag_t a, b, d, w;
static int counter;
static const char *kind;

/* A mapping made under @as, at an address that is @skew pages off a huge page's. */
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

/* A tag has exactly what smaps shows in its mapping. */
static void has(mtag_t tag, const char *p, const char *when)
{
	struct smaps s = smaps(p, LEN);

	is(c(tag, counter), s.rss - s.anon, "%s: %s: as smaps says", kind, when);
}

static void all_exact(char *p, char *q, const char *when)
{
	has(a, p, when);
	has(b, q, when);
	exact("%s: %s: exact", kind, when);
}

/* One mapping where huge pages fit, one where they do not and come as batches of small ones. */
static void mapped(int fd)
{
	char *p = map_as(a, fd, MAP_SHARED, 0), *q = map_as(b, fd, MAP_SHARED, 3);

	touch(w, p, LEN);
	is(c(a, counter), LEN, "%s: all is the mapper's", kind);
	diag("%s: %" PRIu64 " bytes of %lu are mapped huge", kind, smaps(p, LEN).huge, LEN);
	read_all(w, q, LEN);
	is(c(b, counter), LEN, "%s: all of a second mapping is its own mapper's", kind);
	is(c(w, counter) + anon_of(w), 0, "%s: nothing is the toucher's", kind);
	all_exact(p, q, "mapped twice");
	must(munmap(p + HPAGE / 2, PG));
	all_exact(p, q, "a page unmapped");
	must(munmap(p + HPAGE + 5 * PG, HPAGE));
	all_exact(p, q, "parts of two huge pages unmapped");
	must(madvise(q + 7 * PG, HPAGE + 9 * PG, MADV_DONTNEED));
	all_exact(p, q, "parts discarded");
	read_all(w, q, LEN);
	is(c(b, counter), LEN, "%s: and read again", kind);
	must(mprotect(q + HPAGE / 2, HPAGE / 2, PROT_READ));
	must(mprotect(q + HPAGE / 2, HPAGE / 2, PROT_READ | PROT_WRITE));
	touch(w, q, LEN);
	all_exact(p, q, "written to");
	in_child {
		all_exact(p, q, "in a child");
		read_all(w, q, LEN);
		is(c(b, counter), LEN, "%s: in a child: a fork inherits the range's tag", kind);
		must(munmap(q + PG, HPAGE));
		all_exact(p, q, "in a child that unmapped");
		must(munmap(q, LEN));
		is(c(b, counter), 0, "%s: in a child: nothing is left", kind);
	}
	must0(mtag_range(q + 11 * PG, HPAGE, d, MTAG_RANGE_PRESENT));
	is(c(d, counter), HPAGE, "%s: a range over folios takes what is there", kind);
	is(c(b, counter), LEN - HPAGE, "%s: from its mapper", kind);
	exact("%s: retagged: exact", kind);
	must(munmap(q, HPAGE));
	is(c(d, counter), 11 * PG, "%s: it ends with the pages", kind);
	is(c(b, counter), LEN - HPAGE - 11 * PG, "%s: of either", kind);
	must(munmap(q, LEN));
	must(munmap(p, LEN));
	is(c(a, counter) + c(b, counter) + c(d, counter), 0, "%s: nothing is left", kind);
	exact("%s: unmapped: exact", kind);
}

/* write(2) and read-ahead bring folios of other sizes into the page cache than faults do. */
static void cached(int fd)
{
	static char buffer[MIB];
	char *p;

	memset(buffer, 1, sizeof(buffer));
	must(ftruncate(fd, 0));
	for (size_t at = 0; at < LEN; at += sizeof(buffer))
		if (pwrite(fd, buffer, sizeof(buffer), at) != sizeof(buffer))
			bail("write");
	mapped(fd);
	must(fsync(fd));
	spew("/proc/sys/vm/drop_caches", "3");
	p = map_as(a, fd, MAP_SHARED, 0);
	for (size_t at = 0; at < LEN; at += 100 * PG)
		read_all(w, p + at, PG);
	has(a, p, "one page in a hundred read");
	diag("%s: %" PRIu64 " bytes of %lu mapped by %lu reads, %zu of them in small folios", kind,
	     smaps(p, LEN).rss, LEN, N / 100 + 1, in_folios(p, LEN, PG));
	read_all(w, p, LEN);
	is(c(a, counter), LEN, "%s: all of it read", kind);
	must(munmap(p + 3 * PG, LEN / 2));
	has(a, p, "read, and unmapped in part");
	exact("%s: read: exact", kind);
	must(munmap(p, LEN));
	must(ftruncate(fd, 0));
	must(ftruncate(fd, LEN));
}

static void moved(int fd)
{
	char *p = map_as(a, fd, MAP_SHARED, 0), *q = map_as(b, fd, MAP_SHARED, 0), *to;

	read_all(w, p, LEN);
	read_all(w, q, LEN);
	to = map_as(d, fd, MAP_SHARED, 0);
	must(mremap(q, LEN, LEN, MREMAP_MAYMOVE | MREMAP_FIXED, to));
	all_exact(p, to, "moved");
	to = map_as(d, fd, MAP_SHARED, 5);
	must(mremap(p, LEN, LEN, MREMAP_MAYMOVE | MREMAP_FIXED, to));
	has(a, to, "moved to where huge pages do not fit");
	read_all(w, to, LEN);
	is(c(a, counter), LEN, "%s: moved, and read there", kind);
	exact("%s: moved: exact", kind);
	must(munmap(to + HPAGE - PG, HPAGE));
	has(a, to, "moved, and unmapped in part");
	must(munmap(to, LEN));
	is(c(a, counter), 0, "%s: moved: nothing is left", kind);
	is(c(d, counter), 0, "%s: moved: the tag that was mapped there has nothing", kind);
	/* This function no longer knows the address of the other one, which ends with the process. */
	exact("%s: moved and gone: exact", kind);
}

static void cut(int fd)
{
	char *p = map_as(a, fd, MAP_SHARED, 0), *q = map_as(b, fd, MAP_SHARED, 1);

	touch(w, p, LEN);
	read_all(w, q, LEN);
	must(ftruncate(fd, LEN - HPAGE / 2));
	all_exact(p, q, "truncated in the middle of a huge page");
	ok(c(b, counter) <= LEN - HPAGE / 2, "%s: what was cut off is gone", kind);
	if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, HPAGE + 3 * PG, 100 * PG))
		skip("%s: holes are punched (%s)", kind, strerror(errno));
	else
		all_exact(p, q, "a hole punched in the middle of a huge page");
	if (!fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, HPAGE, HPAGE))
		all_exact(p, q, "a hole of a huge page");
	must(ftruncate(fd, LEN));
	read_all(w, p, LEN);
	touch(w, q, LEN);
	all_exact(p, q, "touched again");
	must(ftruncate(fd, 0));
	is(c(a, counter) + c(b, counter), 0, "%s: truncated to nothing, nothing is left", kind);
	exact("%s: truncated to nothing: exact", kind);
	must(ftruncate(fd, LEN));
	must(munmap(p, LEN));
	must(munmap(q, LEN));
}

static void private(int fd)
{
	char *p = map_as(a, fd, MAP_SHARED, 0), *q;

	touch(w, p, LEN);
	q = map_as(b, fd, MAP_PRIVATE, 0);
	read_all(w, q, LEN);
	is(c(b, counter), LEN, "%s: a private mapping's pages are the mapper's", kind);
	for (size_t i = 3; i < N; i += 7)
		touch(w, q + i * PG, PG);
	is(anon_of(w), (N - 3 + 6) / 7 * PG, "%s: copies of parts are the writer's", kind);
	has(b, q, "privately copied in part");
	exact("%s: privately copied: exact", kind);
	in_child {
		has(b, q, "a child of private copies");
		touch(d, q, HPAGE);
		is(anon_of(w), (N - 3 + 6) / 7 * PG, "%s: a child's copies of copies keep owners",
		   kind);
		has(b, q, "a child that wrote");
		exact("%s: a child that wrote: exact", kind);
	}
	must(munmap(q + HPAGE / 2, HPAGE));
	has(b, q, "privately copied and unmapped in part");
	exact("%s: unmapped in part: exact", kind);
	must(madvise(q, HPAGE / 4, MADV_DONTNEED));
	has(b, q, "privately copied and discarded in part");
	must(munmap(q, LEN));
	must(munmap(p, LEN));
	is(c(a, counter) + c(b, counter) + anon_of(w), 0, "%s: nothing is left of copies", kind);
}

static void reclaimed(int fd)
{
	char *p, *q;

	if (!swap_zram()) {
		skip("%s: reclaim of it (no zram)", kind);
		return;
	}
	/* Mapped once: MADV_PAGEOUT leaves what others map alone. */
	p = map_as(a, fd, MAP_SHARED, 0);
	touch(w, p, LEN);
	must(madvise(p, HPAGE + HPAGE / 2, MADV_COLD));
	has(a, p, "made cold");
	must(madvise(p + HPAGE / 2, PG, MADV_PAGEOUT));
	has(a, p, "a page reclaimed");
	until((madvise(p, LEN, MADV_PAGEOUT), smaps(p, LEN).rss == 0), 10);
	ok(smaps(p, LEN).rss < LEN, "%s: it is reclaimed", kind);
	diag("%s: %" PRIu64 " bytes still mapped", kind, smaps(p, LEN).rss);
	has(a, p, "reclaimed");
	exact("%s: reclaimed: exact", kind);
	q = map_as(b, fd, MAP_SHARED, 2);
	is(swap_of(a) + swap_of(b), 0, "%s: its swap is the file's", kind);
	read_all(w, q, LEN);
	touch(w, p, LEN);
	all_exact(p, q, "and read again");
	is(c(a, counter) + c(b, counter), 2 * LEN, "%s: all of it", kind);
	must(munmap(p, LEN));
	must(munmap(q, LEN));
	is(c(a, counter) + c(b, counter), 0, "%s: nothing is left of what was reclaimed", kind);
	is(swapoff_all(), 0, "%s: swapoff works", kind);
	exact("%s: and is exact", kind);
}

static void collapsed(int fd)
{
	char *p, *q;

	must(ftruncate(fd, 0));
	must(ftruncate(fd, LEN));
	p = map_as(a, fd, MAP_SHARED, 0);
	q = map_as(b, fd, MAP_SHARED, 0);
	/* Kernels without huge pages do not know the advice, and need it not. */
	madvise(p, LEN, MADV_NOHUGEPAGE);
	touch(w, p, LEN / 2);
	read_all(w, q, LEN / 2);
	if (until(!madvise(q, LEN, MADV_COLLAPSE) || (errno != EAGAIN && errno != EBUSY), 10))
		diag("%s: collapsed %" PRIu64 " bytes", kind, smaps(q, LEN).huge);
	all_exact(p, q, "collapsed");
	read_all(w, p, LEN);
	read_all(w, q, LEN);
	all_exact(p, q, "collapsed, and read again");
	must(munmap(p + PG, HPAGE));
	must(munmap(q + 3 * PG, HPAGE));
	all_exact(p, q, "collapsed, and unmapped in part");
	must(munmap(p, LEN));
	must(munmap(q, LEN));
	is(c(a, counter) + c(b, counter), 0, "%s: nothing is left of what collapsed", kind);
}

static void file(int fd, int which, const char *name)
{
	kind = name;
	counter = which;
	must(ftruncate(fd, LEN));
	mapped(fd);
	cached(fd);
	cut(fd);
	private(fd);
	reclaimed(fd);
	collapsed(fd);
	/* Last, as it leaves a mapping behind. */
	in_child
		moved(fd);
	close(fd);
	exact("%s: closed: exact", kind);
}

static void tmpfs(const char *option)
{
	char name[64];

	if (sh("mkdir -p " MOUNT " && mount -t tmpfs -o huge=%s none " MOUNT, option)) {
		skip("tmpfs with huge=%s (not in this kernel)", option);
		return;
	}
	snprintf(name, sizeof(name), "tmpfs, huge=%s", option);
	file(must(open(MOUNT "/file", O_RDWR | O_CREAT | O_CLOEXEC, 0600)), MTAG_C_SHMEM, name);
	sh("umount " MOUNT);
}

/* Kernels with folios of several sizes configure those of shared memory separately. */
static void shared_folios(size_t size)
{
	char path[128], name[64];
	size_t sizes[16], n = folio_sizes(sizes, COUNT(sizes));
	char *p;
	int fd;

	snprintf(path, sizeof(path), THP "hugepages-%lukB/shmem_enabled", size / KIB);
	if (!n || spew(path, "always")) {
		skip("shared memory of %lu KiB folios (not in this kernel)", size / KIB);
		return;
	}
	snprintf(name, sizeof(name), "memfd, %lu KiB", size / KIB);
	fd = must(memfd_create("mtag", MFD_CLOEXEC));
	must(ftruncate(fd, LEN));
	p = map_as(a, fd, MAP_SHARED, 0);
	touch(w, p, LEN);
	/* Where memory is in pieces, the kernel takes smaller ones. */
	for (int tries = 1; in_folios(p, LEN, size) < LEN && tries < 10; tries++) {
		must(ftruncate(fd, 0));
		compact_memory();
		must(ftruncate(fd, LEN));
		touch(w, p, LEN);
	}
	is(in_folios(p, LEN, size), LEN, "%s: it is made of such folios", name);
	must(munmap(p, LEN));
	must(ftruncate(fd, 0));
	file(fd, MTAG_C_SHMEM, name);
	spew(path, size == HPAGE ? "inherit" : "never");
}

int main(void)
{
	begin_test();
	swapoff_all();
	begin();
	a = tag("a");
	b = tag("b");
	d = tag("d");
	w = tag("worker");
	spew(THP "khugepaged/scan_sleep_millisecs", "1000000");
	tmpfs("always");
	shared_folios(16 * KIB);
	shared_folios(512 * KIB);
	if (in_long_form()) {
		tmpfs("advise");
		tmpfs("within_size");
		tmpfs("never");
		shared_folios(64 * KIB);
	}
	if (real_fs())
		file(must(open(FS "/batch", O_RDWR | O_CREAT | O_CLOEXEC, 0600)), MTAG_C_FILE,
		     "ext4");
	else
		skip("files of ext4 (no file system)");
	unlink(FS "/batch");
	return end_test();
}
