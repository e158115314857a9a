// SPDX-License-Identifier: GPL-2.0
/* Memory failure: a poisoned page leaves the process, and its owner's account. */
/* vm: core=1 group=parallel thread=multi mem=1G */
#include "lib/test.h"

#define N 32

static mtag_t a, w;

/*
 * The truth here is pagemap: the entry of a poisoned page maps nothing, and the kernel's own RSS does not include it,
 * but smaps of 6.1 shows it as resident (and pagemap as swapped, although nothing is in swap).
 */
static uint64_t poisoned(char *p, size_t len)
{
	uint64_t word, sum = 0;

	for (size_t at = 0; at < len; at += PG) {
		pagemap(p + at, 1, &word);
		if (!(word & PAGEMAP_PRESENT) && (word & PAGEMAP_SWAP))
			sum += PG;
	}
	return sum;
}

static void agrees(char *p, size_t len, const char *what)
{
	poisoned_bytes = poisoned(p, len);
	is(anon_of(a), present(p, len), "%s: as pagemap says", what);
	is(anon_of(a), smaps(p, len).anon - poisoned_bytes,
	   "%s: as smaps says, apart from what is poisoned", what);
	exact("%s: exact", what);
	poisoned_bytes = 0;
}

static void anonymous(void)
{
	char *p = area(N * PG);

	touch(a, p, N * PG);
	for (size_t i = 0; i < 4; i++)
		must0(poison(p + 3 * i * PG));
	agrees(p, N * PG, "anonymous pages");
	is(anon_of(a), (N - 4) * PG, "four poisoned pages are gone");
	must(madvise(p, N / 2 * PG, MADV_DONTNEED));
	agrees(p, N * PG, "poisoned pages discarded");
	touch(w, p, PG);
	is(anon_of(w), PG, "their place may be touched anew");
	must(munmap(p, N * PG));
	is(anon_of(a) + anon_of(w), 0, "nothing is left");
}

static void shared_by_fork(void)
{
	char *p = area(N * PG);
	struct gate *g = gate();
	pid_t pid;

	touch(a, p, N * PG);
	pid = child();
	if (!pid) {
		open_gate(g, 1);
		pass_gate(g, 2);
		is(anon_of(a), (N - 1) * PG, "a page poisoned in the parent is gone in the child");
		agrees(p, N * PG, "in the child");
		must0(poison(p + PG));
		is(anon_of(a), (N - 2) * PG, "and so is one that it poisons itself");
		agrees(p, N * PG, "in the child, another one");
		_exit(0);
	}
	pass_gate(g, 1);
	must0(poison(p));
	is(anon_of(a), (N - 1) * PG, "the parent has it no more");
	open_gate(g, 2);
	reap(pid);
	agrees(p, N * PG, "pages poisoned after a fork");
	is(anon_of(a), (N - 2) * PG, "the parent lost both");
	must(munmap(p, N * PG));
}

static void huge(void)
{
	char *p;

	if (!has_huge_pages()) {
		skip("a poisoned page of a huge page (no huge pages in this kernel)");
		return;
	}
	p = huge_area(HPAGE);
	touch(a, p, HPAGE);
	must0(poison(p + 5 * PG));
	agrees(p, HPAGE, "a page of a huge page");
	must(munmap(p, HPAGE));
	is(anon_of(a), 0, "nothing is left of it");
}

static void file(void)
{
	int fd;
	char *p;
	mtag_t before;

	if (!real_fs()) {
		skip("a poisoned file page is gone (no file system)");
		return;
	}
	fd = must(open(FS "/poison", O_RDWR | O_CREAT | O_TRUNC, 0600));
	must(ftruncate(fd, N * PG));
	before = mtag_enter(a);
	p = must(mmap(NULL, N * PG, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
	mtag_leave(before);
	read_all(w, p, N * PG);
	is(file_of(a), N * PG, "file pages are their mapper's");
	diag("a clean file page is poisoned: %s", strerror(-poison(p)));
	is(file_of(a), smaps(p, N * PG).rss, "a poisoned file page: as smaps says");
	exact("a poisoned file page: exact");
	must(munmap(p, N * PG));
	is(file_of(a), 0, "nothing is left");
	close(fd);
}

int main(void)
{
	char *probe;

	begin_test();
	swapoff_all();
	begin();
	probe = area(PG);
	touch(0, probe, PG);
	if (poison(probe))
		skip_all("this kernel has no memory failure handling");
	must(munmap(probe, PG));
	a = tag("a");
	w = tag("worker");
	exact("exact after the first poisoned page");
	anonymous();
	shared_by_fork();
	huge();
	file();
	return end_test();
}
