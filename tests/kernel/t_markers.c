// SPDX-License-Identifier: GPL-2.0
/* Markers that userfaultfd leaves in page tables besides pages: write-protection, poison, minor faults. */
/* vm: timeout=400 */
#include "lib/model.h"
#include <linux/userfaultfd.h>

/* From kernels newer than the libc's headers. */
#ifndef UFFD_FEATURE_WP_UNPOPULATED
#define UFFD_FEATURE_WP_UNPOPULATED (1 << 13)
#endif
#ifndef UFFDIO_POISON
struct uffdio_poison {
	struct uffdio_range range;
	__u64 mode;
	__s64 updated;
};
#define UFFDIO_POISON	    _IOWR(UFFDIO, 0x08, struct uffdio_poison)
#define UFFD_FEATURE_POISON (1 << 14)
#endif

#define N 256

static mtag_t a, b, w;
static int uffd;

/* Opens it with those features; false: the kernel does not have them. */
static bool uffd_with(uint64_t features)
{
	struct uffdio_api api = {.api = UFFD_API, .features = features};

	uffd = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (uffd < 0)
		skip_all("no userfaultfd in this kernel");
	if (!ioctl(uffd, UFFDIO_API, &api))
		return true;
	close(uffd);
	return false;
}

static void arm(char *p, uint64_t mode)
{
	struct uffdio_register reg = {.range = {(uintptr_t)p, N * PG}, .mode = mode};

	must(ioctl(uffd, UFFDIO_REGISTER, &reg));
}

static void protect(char *p, size_t pages, bool on)
{
	struct uffdio_writeprotect wp = {.range = {(uintptr_t)p, pages * PG},
					 .mode = on ? UFFDIO_WRITEPROTECT_MODE_WP : 0};

	must(ioctl(uffd, UFFDIO_WRITEPROTECT, &wp));
}

static struct model *two_owners(void)
{
	struct model *m = model_of(0, area(N * PG), N * PG);

	touch_pages(m, a, 0, N / 2, 2);
	touch_pages(m, b, 1, N / 2, 2);
	return m;
}

static void private_memory(void)
{
	struct model *m;

	if (!uffd_with(UFFD_FEATURE_PAGEFAULT_FLAG_WP)) {
		skip("write-protected memory (not in this kernel)");
		return;
	}
	m = two_owners();
	arm(m->p, UFFDIO_REGISTER_MODE_WP);
	protect(m->p, N / 2, true);
	agree("write-protected pages keep their owners");
	in_child {
		touch_pages(m, w, 0, N / 3, 3);
		agree("a child's copies of them, too");
	}
	if (swap_zram()) {
		reclaim(m->p, N * PG);
		agree("write-protected pages in swap");
		in_child {
			read_all(w, m->p, N / 4 * PG);
			agree("a child that reads them");
		}
		read_all(w, m->p, N / 2 * PG);
		agree("read back");
		protect(m->p, N, false);
		touch_pages(m, w, 0, N / 2, 2);
		agree("unprotected, and written to");
		protect(m->p, N, true);
		reclaim(m->p, N * PG);
		is(swapoff_all(), 0, "swapoff of write-protected pages works");
		agree("and brings them back");
	}
	protect(m->p, N, false);
	must(madvise(m->p, N / 2 * PG, MADV_DONTNEED));
	agree("half of it discarded");
	model_end(0);
	close(uffd);
	agree("nothing is left");
}

/* Markers where there is no page. */
static void empty_memory(void)
{
	struct model *m;

	if (!uffd_with(UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_WP_UNPOPULATED)) {
		skip("write-protected holes (not in this kernel)");
		return;
	}
	m = model_of(0, area(N * PG), N * PG);
	arm(m->p, UFFDIO_REGISTER_MODE_WP);
	touch_pages(m, a, 0, N / 4, 1);
	protect(m->p, N, true);
	is(anon_of(a), N / 4 * PG, "markers of holes are nobody's pages");
	exact("and exact");
	is(swap_of(a) + swap_of(b) + swap_of(w), 0, "nor anybody's swap");
	in_child
		exact("nor a child's");
	must(madvise(m->p, N / 2 * PG, MADV_DONTNEED));
	is(anon_of(a), 0, "what they replaced has ended");
	protect(m->p, N, false);
	touch_pages(m, b, 0, N, 1);
	agree("touched where markers were");
	model_end(0);
	close(uffd);
	agree("nothing is left of it");
}

static void shared_memory(int fd, int counter, const char *kind)
{
	mtag_t before;
	char *p;

	if (!uffd_with(UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_WP_HUGETLBFS_SHMEM)) {
		skip("%s: write-protected (not in this kernel)", kind);
		return;
	}
	before = mtag_enter(a);
	p = must(mmap(NULL, N * PG, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
	mtag_leave(before);
	arm(p, UFFDIO_REGISTER_MODE_WP);
	touch(w, p, N / 2 * PG);
	protect(p, N, true);
	is(c(a, counter), smaps(p, N * PG).rss, "%s: write-protected, as smaps says", kind);
	exact("%s: exact", kind);
	must(madvise(p, N / 4 * PG, MADV_DONTNEED));
	is(c(a, counter), smaps(p, N * PG).rss, "%s: a part unmapped, as smaps says", kind);
	exact("%s: exact with markers", kind);
	in_child {
		is(c(a, counter), smaps(p, N * PG).rss, "%s: a child, as smaps says", kind);
		read_all(w, p, N / 2 * PG);
		is(c(a, counter), smaps(p, N * PG).rss, "%s: a child that reads", kind);
		exact("%s: a child is exact", kind);
	}
	read_all(w, p, N / 2 * PG);
	is(c(a, counter), smaps(p, N * PG).rss, "%s: read over markers", kind);
	ok(c(a, counter) >= N / 2 * PG, "%s: what was read is mapped", kind);
	if (swap_zram()) {
		until((madvise(p, N * PG, MADV_PAGEOUT), smaps(p, N * PG).rss == 0), 5);
		is(c(a, counter), smaps(p, N * PG).rss, "%s: reclaimed, as smaps says", kind);
		exact("%s: exact with markers of what was reclaimed", kind);
		is(swapoff_all(), 0, "%s: swapoff works", kind);
	}
	protect(p, N, false);
	touch(w, p, N * PG);
	is(c(a, counter), N * PG, "%s: unprotected and written to, all is the mapper's", kind);
	protect(p, N, true);
	must(ftruncate(fd, N / 2 * PG));
	is(c(a, counter), N / 2 * PG, "%s: truncated", kind);
	exact("%s: truncated: exact", kind);
	must(munmap(p, N * PG));
	is(c(a, counter), 0, "%s: nothing is left", kind);
	close(uffd);
}

static void poisoned(void)
{
	struct uffdio_poison poison = {0};
	struct model *m;
	int zero;

	if (!uffd_with(UFFD_FEATURE_POISON)) {
		skip("poisoned holes (not in this kernel)");
		return;
	}
	m = two_owners();
	arm(m->p, UFFDIO_REGISTER_MODE_MISSING);
	must(madvise(m->p, N / 2 * PG, MADV_DONTNEED));
	poison.range.start = (uintptr_t)m->p;
	poison.range.len = N / 2 * PG;
	must(ioctl(uffd, UFFDIO_POISON, &poison));
	is(anon_of(a) + anon_of(b), N / 2 * PG, "poisoned holes are nobody's");
	exact("and no RSS");
	zero = must(open("/dev/zero", O_RDONLY | O_CLOEXEC));
	ok(read(zero, m->p, 1) < 0, "they may not be written to");
	exact("and are no RSS then either");
	in_child {
		exact("nor in a child");
		must(munmap(m->p, PG));
		exact("that unmaps one");
	}
	must(madvise(m->p, N / 4 * PG, MADV_DONTNEED));
	model_end(0);
	close(zero);
	close(uffd);
	agree("nothing is left of poison");
}

/* Pages of shared memory that are already in the file and that a userfaultfd maps. */
static void minor(void)
{
	int fd = must(memfd_create("mtag", MFD_CLOEXEC));
	struct uffdio_continue go = {0};
	mtag_t before;
	char *p, *q;

	must(ftruncate(fd, N * PG));
	if (!uffd_with(UFFD_FEATURE_MINOR_SHMEM)) {
		skip("minor faults of shared memory (not in this kernel)");
		close(fd);
		return;
	}
	q = must(mmap(NULL, N * PG, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
	touch(0, q, N * PG);
	before = mtag_enter(a);
	p = must(mmap(NULL, N * PG, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
	mtag_leave(before);
	arm(p, UFFDIO_REGISTER_MODE_MINOR);
	go.range.start = (uintptr_t)p;
	go.range.len = N / 2 * PG;
	before = mtag_enter(w);
	must(ioctl(uffd, UFFDIO_CONTINUE, &go));
	mtag_leave(before);
	is(shmem_of(a), N / 2 * PG, "UFFDIO_CONTINUE maps pages for the mapper of the range");
	is(shmem_of(w) + anon_of(w), 0, "not for the caller");
	exact("exactly");
	must(munmap(p, N / 4 * PG));
	is(shmem_of(a), N / 4 * PG, "they end by munmap");
	must(munmap(p, N * PG));
	must(munmap(q, N * PG));
	close(uffd);
	close(fd);
	is(shmem_of(a), 0, "all of them");
}

int main(void)
{
	int fd;

	begin_test();
	swapoff_all();
	begin();
	a = model_tag("a");
	b = model_tag("b");
	w = model_tag("worker");
	private_memory();
	empty_memory();
	fd = must(memfd_create("mtag", MFD_CLOEXEC));
	must(ftruncate(fd, N * PG));
	shared_memory(fd, MTAG_C_SHMEM, "memfd");
	close(fd);
	poisoned();
	minor();
	return end_test();
}
