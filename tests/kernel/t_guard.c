// SPDX-License-Identifier: GPL-2.0
/* Guard regions: they end the pages that they replace and are charged to no tag, in memory and in files. */
/* vm: timeout=400 since=6.13 because="no guard regions" */
#include "lib/model.h"

/* From kernels newer than the libc's headers. */
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#define MADV_GUARD_REMOVE  103
#endif

#define N 256

static mtag_t a, b, w;

/* Does the kernel refuse to write there? */
static bool guarded(char *p)
{
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	bool refused = read(fd, p, 1) < 0 && errno == EFAULT;

	close(fd);
	return refused;
}

static void install(char *p, size_t len)
{
	mtag_t before = mtag_enter(w);

	must(madvise(p, len, MADV_GUARD_INSTALL));
	mtag_leave(before);
}

static void over_pages(void)
{
	struct model *m = model_of(0, area(N * PG), N * PG);

	touch_pages(m, a, 0, N / 2, 2);
	touch_pages(m, b, 1, N / 2, 2);
	install(m->p + 3 * PG, 10 * PG);
	ok(guarded(m->p + 3 * PG) && guarded(m->p + 12 * PG), "a guard keeps everybody out");
	agree("what guards replaced has ended");
	install(m->p, 20 * PG);
	agree("guards over guards and pages");
	in_child {
		ok(guarded(m->p), "a child has its parent's guards");
		agree("and is exact");
		must(madvise(m->p, 10 * PG, MADV_GUARD_REMOVE));
		touch_pages(m, w, 0, 10, 1);
		touch_pages(m, w, 20, 20, 1);
		agree("a child that took guards away, and wrote there and elsewhere");
		install(m->p + 30 * PG, 20 * PG);
		agree("and put others up over copies and what it shares");
	}
	must(madvise(m->p, N * PG, MADV_DONTNEED));
	ok(guarded(m->p) && guarded(m->p + 19 * PG), "MADV_DONTNEED leaves guards");
	agree("and nothing else");
	must(madvise(m->p, N * PG, MADV_GUARD_REMOVE));
	touch_pages(m, b, 0, N, 1);
	agree("touched where guards were");
	install(m->p, N * PG);
	agree("all of it guarded");
	must(munmap(m->p, N / 2 * PG));
	agree("half of the guards unmapped");
	model_end(0);
	agree("and all of them");
}

static void moved(void)
{
	struct model *m = model_of(0, area(N * PG), N * PG);
	struct model *to = model_of(1, area(N * PG), N * PG);

	touch_pages(m, a, 0, N, 1);
	install(m->p + 16 * PG, 16 * PG);
	move_pages_to(to, 8, m, 8, 32, 0, w);
	ok(guarded(to->p + 16 * PG), "guards are moved by mremap");
	agree("with the pages about them");
	must(madvise(to->p, N * PG, MADV_GUARD_REMOVE));
	touch_pages(to, b, 8, 32, 1);
	agree("and taken away where they moved to");
	model_end(0);
	model_end(1);
}

static void over_folios(void)
{
	size_t sizes[16], n = folio_sizes(sizes, COUNT(sizes));

	for (size_t i = 0; i < n; i++) {
		size_t size = sizes[i], each = size / PG;
		struct model *m;

		use_folios(size);
		m = model_of(0, area_prot(2 * HPAGE, HPAGE, PROT_READ | PROT_WRITE), 2 * HPAGE);
		for (size_t f = 0; f < 2 * HPAGE / size; f++)
			touch_pages(m, f % 2 ? a : b, f * each, 1, 1);
		install(m->p + size / 2, size);
		agree("folios of %zu KiB: guards over halves of two", size / KIB);
		install(m->p + HPAGE + PG, PG);
		agree("folios of %zu KiB: a guard within one", size / KIB);
		in_child {
			touch_pages(m, w, 0, each / 2, 1);
			agree("folios of %zu KiB: a child that copies about guards", size / KIB);
		}
		install(m->p + HPAGE / 2, HPAGE);
		agree("folios of %zu KiB: guards over many", size / KIB);
		must(madvise(m->p, 2 * HPAGE, MADV_GUARD_REMOVE));
		touch_pages(m, w, 0, m->pages, 1);
		agree("folios of %zu KiB: touched where guards were", size / KIB);
		model_end(0);
		agree("folios of %zu KiB: nothing is left", size / KIB);
	}
	folios_end();
}

static void over_swapped(void)
{
	struct model *m;

	if (!swap_zram()) {
		skip("guards over what is in swap (no zram)");
		return;
	}
	m = model_of(0, area(N * PG), N * PG);
	touch_pages(m, a, 0, N / 2, 2);
	touch_pages(m, b, 1, N / 2, 2);
	reclaim(m->p, N / 2 * PG);
	install(m->p + N / 4 * PG, N / 2 * PG);
	agree("guards over pages in swap and in memory");
	in_child
		agree("a child of both");
	read_all(w, m->p, N / 4 * PG);
	agree("what is left in swap read back");
	reclaim(m->p, N / 4 * PG);
	is(swapoff_all(), 0, "swapoff goes past guards");
	agree("and finds the rest");
	model_end(0);
	agree("nothing is left");
}

static void over_collapse(void)
{
	struct model *m;

	if (!has_huge_pages()) {
		skip("what has a guard does not collapse (no huge pages)");
		return;
	}
	use_folios(0);
	m = model_of(0, area_prot(HPAGE, HPAGE, PROT_READ | PROT_WRITE), HPAGE);
	touch_pages(m, a, 0, m->pages, 1);
	install(m->p + 7 * PG, PG);
	must(madvise(m->p, HPAGE, MADV_HUGEPAGE));
	madvise(m->p, HPAGE, MADV_COLLAPSE);
	is(smaps(m->p, HPAGE).huge, 0, "what has a guard does not collapse");
	agree("and is as it was");
	model_end(0);
	folios_end();
}

/* A mapping of a file, made under @a: its pages are a's wherever they are. */
static void in_file(int fd, int flags, int counter, const char *kind)
{
	mtag_t before = mtag_enter(a);
	char *p = must(mmap(NULL, N * PG, PROT_READ | PROT_WRITE, flags, fd, 0));

	mtag_leave(before);
	must(madvise(p, N * PG, MADV_POPULATE_READ));
	is(c(a, counter), N * PG, "%s: all of the file is mapped", kind);
	before = mtag_enter(w);
	if (madvise(p + 5 * PG, 20 * PG, MADV_GUARD_INSTALL)) {
		mtag_leave(before);
		skip("%s: guards over files (this kernel cannot: %s)", kind, strerror(errno));
		must(munmap(p, N * PG));
		return;
	}
	mtag_leave(before);
	ok(guarded(p + 5 * PG), "%s: a guard keeps everybody out", kind);
	is(c(a, counter), (N - 20) * PG, "%s: what guards replaced has ended", kind);
	exact("%s: exact with guards", kind);
	in_child {
		/* Markers make fork copy page tables of files, too. */
		ok(guarded(p + 5 * PG), "%s: a child has the guards", kind);
		is(c(a, counter) + anon_of(w), smaps(p, N * PG).rss, "%s: and what smaps says",
		   kind);
		exact("%s: exactly", kind);
		must(madvise(p, 10 * PG, MADV_GUARD_REMOVE));
		read_all(w, p, 5 * PG);
		is(c(a, counter), smaps(p, N * PG).rss, "%s: and where it read", kind);
		exact("%s: exactly", kind);
	}
	touch(w, p + 40 * PG, 10 * PG);
	is(c(a, counter) + anon_of(w), (N - 20) * PG, "%s: written to beside guards", kind);
	must(madvise(p, N / 2 * PG, MADV_DONTNEED));
	ok(guarded(p + 24 * PG), "%s: MADV_DONTNEED leaves guards", kind);
	exact("%s: and nothing else", kind);
	must(madvise(p, N * PG, MADV_GUARD_REMOVE));
	read_all(w, p, N * PG);
	is(c(a, counter), N * PG, "%s: read where guards were", kind);
	exact("%s: exact in the end", kind);
	must(munmap(p, N * PG));
	is(c(a, counter) + anon_of(w), 0, "%s: nothing is left", kind);
}

static int file_at(const char *path)
{
	int fd = must(open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
	static char page[PG] = "guard";

	for (int i = 0; i < N; i++)
		must(write(fd, page, PG));
	unlink(path);
	return fd;
}

static void in_files(void)
{
	int fd = file_at("/dev/shm/mtag-guard");

	in_file(fd, MAP_SHARED, MTAG_C_SHMEM, "tmpfs, shared");
	in_file(fd, MAP_PRIVATE, MTAG_C_SHMEM, "tmpfs, private");
	close(fd);
	if (!real_fs()) {
		skip("guards over files of ext4 (no file system)");
		return;
	}
	fd = file_at(FS "/guard");
	in_file(fd, MAP_SHARED, MTAG_C_FILE, "ext4, shared");
	in_file(fd, MAP_PRIVATE, MTAG_C_FILE, "ext4, private");
	close(fd);
}

int main(void)
{
	begin_test();
	swapoff_all();
	begin();
	if (madvise(area(PG), PG, MADV_GUARD_INSTALL))
		skip_all("this kernel has no guard regions");
	a = model_tag("a");
	b = model_tag("b");
	w = model_tag("worker");
	spew(THP "khugepaged/scan_sleep_millisecs", "1000000");
	over_pages();
	moved();
	over_folios();
	over_swapped();
	over_collapse();
	in_files();
	return end_test();
}
