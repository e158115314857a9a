// SPDX-License-Identifier: GPL-2.0
/* Rule 3: file and shared memory belong to the tag that mapped it. */
/* vm: core=1 */
/* vm: brief=1 timeout=400 */
#include "lib/test.h"
#include <sys/shm.h>

#define N 64

static mtag_t a, b, w;

static char *map_as(mtag_t as, char *where, size_t pages, int flags, int fd, size_t page)
{
	mtag_t before = mtag_enter(as);
	char *p = must(mmap(where, pages * PG, PROT_READ | PROT_WRITE,
			    flags | (where ? MAP_FIXED : 0), fd, page * PG));

	mtag_leave(before);
	return p;
}

static int file_at(const char *path)
{
	static char page[PG];
	int fd = must(open(path, O_RDWR | O_CREAT | O_TRUNC, 0600));

	memset(page, 'x', sizeof(page));
	for (int i = 0; i < N; i++)
		must(write(fd, page, sizeof(page)));
	unlink(path);
	return fd;
}

/* Checks that apply to every kind of shared memory; @counter is MTAG_C_FILE or MTAG_C_SHMEM. */
static void shared(int fd, int counter, const char *kind)
{
	char *p = map_as(a, NULL, N, MAP_SHARED, fd, 0), *q;

	read_all(w, p, N / 2 * PG);
	is(c(a, counter), smaps(p, N * PG).rss, "%s: what is read is the mapper's, as smaps says",
	   kind);
	ok(c(a, counter) >= N / 2 * PG, "%s: half of it or more, with fault-around", kind);
	touch(w, p, N * PG);
	is(c(a, counter), N * PG, "%s: what is written to as well", kind);
	is(c(w, MTAG_C_FILE) + c(w, MTAG_C_SHMEM) + anon_of(w), 0, "%s: the toucher has none",
	   kind);
	is(present(p, N * PG), N * PG, "%s: pagemap agrees", kind);
	q = map_as(b, NULL, N, MAP_SHARED, fd, 0);
	read_all(w, q, N * PG);
	is(c(b, counter), N * PG, "%s: a second mapping is its own mapper's", kind);
	is(c(a, counter), N * PG, "%s: the first one's pages stay", kind);
	exact("%s: exact", kind);
	in_child {
		is(c(a, counter), smaps(p, N * PG).rss, "%s: a child starts with what smaps says",
		   kind);
		read_all(w, p, N * PG);
		is(c(a, counter), N * PG, "%s: a fork inherits the range's tag", kind);
		exact("%s: a child is exact", kind);
		must(munmap(q, N * PG));
		is(c(b, counter), 0, "%s: what a child unmaps ends there", kind);
	}
	is(c(b, counter), N * PG, "%s: and not in the parent", kind);
	must(madvise(q, N / 2 * PG, MADV_DONTNEED));
	is(c(b, counter), N / 2 * PG, "%s: MADV_DONTNEED ends the half of a mapping", kind);
	must0(mtag_range(p, N / 4 * PG, b, 0));
	is(c(a, counter), (N - N / 4) * PG, "%s: mtag_range takes resident pages from one tag",
	   kind);
	is(c(b, counter), (N / 2 + N / 4) * PG, "%s: and gives them to the other", kind);
	exact("%s: exact after mtag_range", kind);
	must(munmap(p, N / 8 * PG));
	is(c(b, counter), (N / 2 + N / 8) * PG, "%s: they end there", kind);
	must(madvise(p + N / 8 * PG, (N - N / 8) * PG, MADV_DONTNEED));
	is(c(a, counter), 0, "%s: and the others where they were", kind);
	read_all(w, p + N / 8 * PG, (N - N / 8) * PG);
	is(c(a, counter), (N - N / 4) * PG, "%s: touched again, each is its range's", kind);
	must(munmap(p, N * PG));
	must(munmap(q, N * PG));
	is(c(a, counter) + c(b, counter), 0, "%s: nothing is left", kind);
	exact("%s: exact in the end", kind);
}

/* Two adjacent mappings that the kernel merges. */
static void adjacent(int fd, int flags, int counter, const char *kind)
{
	char *p = area(N * PG);

	map_as(a, p, N / 2, flags, fd, 0);
	map_as(b, p + N / 2 * PG, N / 2, flags, fd, N / 2);
	is(smaps(p, N * PG).vmas, 1, "%s: two adjacent mappings are one", kind);
	read_all(w, p, N * PG);
	is(c(a, counter), N / 2 * PG, "%s: the first half is its mapper's", kind);
	is(c(b, counter), N / 2 * PG, "%s: the second half is its own", kind);
	is(virt_of(a), N / 2 * PG, "%s: so is virtual size of the first", kind);
	is(virt_of(b), N / 2 * PG, "%s: and of the second", kind);
	exact("%s: merged mappings are exact", kind);
	must(munmap(p + N / 4 * PG, N / 2 * PG));
	is(c(a, counter), N / 4 * PG, "%s: a hole over both takes from the first", kind);
	is(c(b, counter), N / 4 * PG, "%s: and from the second", kind);
	is(virt_of(a) + virt_of(b), N / 2 * PG, "%s: virtual size as well", kind);
	must(munmap(p, N * PG));
	is(c(a, counter) + c(b, counter) + virt_of(a) + virt_of(b), 0, "%s: nothing is left", kind);
}

static void truncated(int fd, int counter, const char *kind)
{
	char *p = map_as(a, NULL, N, MAP_SHARED, fd, 0),
	     *q = map_as(b, NULL, N, MAP_PRIVATE, fd, 0);

	read_all(w, p, N * PG);
	read_all(w, q, N * PG);
	touch(w, q + (N - 4) * PG, 4 * PG);
	must(ftruncate(fd, N / 2 * PG));
	is(c(a, counter), N / 2 * PG, "%s: truncation ends pages of a shared mapping", kind);
	is(c(b, counter), N / 2 * PG, "%s: of a private one", kind);
	is(anon_of(w), 0, "%s: and private copies beyond the end", kind);
	exact("%s: truncated, exact", kind);
	must(ftruncate(fd, N * PG));
	if (!fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, N / 4 * PG)) {
		is(c(a, counter), smaps(p, N * PG).rss, "%s: a punched hole: as smaps says", kind);
		exact("%s: a punched hole: exact", kind);
	}
	must(munmap(p, N * PG));
	must(munmap(q, N * PG));
	is(c(a, counter) + c(b, counter), 0, "%s: nothing is left after truncation", kind);
	lseek(fd, 0, SEEK_SET);
}

static void private(int fd, int counter, const char *kind)
{
	char *p = map_as(a, NULL, N, MAP_PRIVATE, fd, 0);

	read_all(w, p, N * PG);
	is(c(a, counter), N * PG, "%s: private pages only read are the mapper's", kind);
	touch(w, p, N / 4 * PG);
	is(anon_of(w), N / 4 * PG, "%s: the copy of a private write is the writer's", kind);
	is(c(a, counter), (N - N / 4) * PG, "%s: in the place of the mapper's page", kind);
	exact("%s: private copies are exact", kind);
	must(madvise(p, N / 8 * PG, MADV_DONTNEED));
	is(anon_of(w), N / 8 * PG, "%s: discarded copies are gone", kind);
	read_all(b, p, N * PG);
	is(c(a, counter), (N - N / 8) * PG, "%s: the file's pages take their place", kind);
	in_child {
		touch(b, p, N / 4 * PG);
		is(anon_of(w), N / 8 * PG, "%s: a child's copy of a copy keeps its owner", kind);
		is(anon_of(b), N / 8 * PG, "%s: its copy of a file page is its own writer's", kind);
		exact("%s: a child with both is exact", kind);
	}
	/* Written to without having been read. */
	must(madvise(p, N * PG, MADV_DONTNEED));
	touch(b, p, N * PG);
	is(anon_of(b), N * PG, "%s: written to at once, all is the writer's", kind);
	must(munmap(p, N * PG));
	is(anon_of(b) + anon_of(w) + c(a, counter), 0, "%s: nothing is left", kind);
	exact("%s: exact in the end", kind);
}

static void anonymous(void)
{
	char *p = map_as(a, NULL, N, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	touch(w, p, N * PG);
	is(shmem_of(a), N * PG, "shared anonymous memory is the mapper's");
	in_child {
		touch(b, p, N * PG);
		is(shmem_of(a), N * PG, "in a child as well");
		is(anon_of(b) + shmem_of(b), 0,
		   "a page that another tag touches there stays the mapper's");
		exact("and exact");
	}
	must(madvise(p, N / 2 * PG, MADV_REMOVE));
	is(shmem_of(a), N / 2 * PG, "MADV_REMOVE ends it");
	must(munmap(p, N * PG));
	is(shmem_of(a), 0, "nothing is left");
}

static void sysv(void)
{
	int id = must(shmget(IPC_PRIVATE, N * PG, IPC_CREAT | 0600));
	mtag_t before;
	char *p, *q;

	before = mtag_enter(a);
	p = must((char *)shmat(id, NULL, 0));
	mtag_leave(before);
	before = mtag_enter(b);
	q = must((char *)shmat(id, NULL, SHM_RDONLY));
	mtag_leave(before);
	touch(w, p, N * PG);
	read_all(w, q, N / 2 * PG);
	is(shmem_of(a), N * PG, "a SysV segment is the attacher's");
	is(shmem_of(b), smaps(q, N * PG).rss, "a second attach is its own attacher's");
	is(c(a, MTAG_C_SHMATS), 1, "shmat is counted");
	is(c(a, MTAG_C_SHMAT_BYTES), N * PG, "with its bytes");
	is(virt_of(a), N * PG, "and virtual size");
	exact("SysV memory is exact");
	in_child {
		read_all(w, p, N * PG);
		is(shmem_of(a), N * PG, "a child inherits it");
		must(shmdt(p));
		is(shmem_of(a), 0, "and may detach it");
		exact("exactly");
	}
	before = mtag_enter(w);
	must(shmdt(p));
	must(shmdt(q));
	mtag_leave(before);
	is(c(w, MTAG_C_SHMDTS), 2, "shmdt is counted, under the caller's tag");
	is(c(w, MTAG_C_SHMDT_BYTES), 2 * N * PG, "with its bytes");
	is(shmem_of(a) + shmem_of(b) + virt_of(a) + virt_of(b), 0, "nothing is left");
	must(shmctl(id, IPC_RMID, NULL));
	exact("exact without them");
}

static void shared_swapped(void)
{
	char *p;

	if (!swap_zram()) {
		skip("shared memory that is swapped out is no process's swap (no zram)");
		return;
	}
	p = map_as(a, NULL, N, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	touch(w, p, N * PG);
	until((madvise(p, N * PG, MADV_PAGEOUT), smaps(p, N * PG).rss == 0), 30);
	is(shmem_of(a), smaps(p, N * PG).rss, "shared memory reclaimed: as smaps says");
	is(swap_of(a), 0, "its swap is the file's, not the process's");
	exact("exact with shared memory in swap");
	read_all(w, p, N * PG);
	is(shmem_of(a), N * PG, "it comes back to its mapper");
	must(munmap(p, N * PG));
	swapoff_all();
	exact("exact afterwards");
}

static void kind(int fd, int counter, const char *name)
{
	shared(fd, counter, name);
	adjacent(fd, MAP_SHARED, counter, name);
	private(fd, counter, name);
	truncated(fd, counter, name);
	close(fd);
}

int main(void)
{
	int memory;

	begin_test();
	begin();
	a = tag("a");
	b = tag("b");
	w = tag("worker");
	if (real_fs())
		kind(file_at(FS "/file"), MTAG_C_FILE, "ext4");
	else
		skip("files are exact (no file system)");
	kind(file_at("/dev/shm/mtag-file"), MTAG_C_SHMEM, "tmpfs");
	memory = must(memfd_create("mtag", 0));
	must(ftruncate(memory, N * PG));
	kind(memory, MTAG_C_SHMEM, "memfd");
	anonymous();
	sysv();
	shared_swapped();
	return end_test();
}
