// SPDX-License-Identifier: GPL-2.0
/* USS and PSS by tag are those of smaps for huge pages, and folios of other sizes, too. */
/* vm: timeout=600 */
#include "lib/folios.h"
#include "lib/keepers.h"
#include "lib/shares.h"

static mtag_t a, f, w;

static void huge(void)
{
	char *p;
	pid_t one, two;

	if (!has_huge_pages()) {
		skip("huge pages are shared as smaps says (there are none)");
		return;
	}
	p = huge_area(3 * HPAGE);
	touch(a, p, 3 * HPAGE);
	diag("%" PRIu64 " bytes of %lu in huge pages", smaps(p, 3 * HPAGE).huge, 3 * HPAGE);
	shares_own(getpid(), a, p, 3 * HPAGE, "huge pages of one process");
	frozen_child(one)
	{
	}
	shares_own(one, a, p, 3 * HPAGE, "huge pages that a child maps as well");
	is(shares(one).tag[a].pss, 3 * HPAGE / 2, "are half its own");
	frozen_child(two)
	{
		must(munmap(p + HPAGE / 2, HPAGE));
		touch(w, p, PG);
	}
	must(madvise(p + 2 * HPAGE, PG, MADV_DONTNEED));
	shares_family("parts of huge pages", (pid_t[]){getpid(), one, two, 0}, a, p, 3 * HPAGE);
	end_child(one);
	end_child(two);
	must(munmap(p, 3 * HPAGE));
}

static void shared_huge(void)
{
	mtag_t before;
	pid_t pid;
	char *p;

	if (!has_huge_pages() || spew(THP "shmem_enabled", "advise")) {
		skip("huge pages of shared memory are shared as smaps says (there are none)");
		return;
	}
	before = mtag_enter(f);
	p = must(mmap(NULL, 4 * HPAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	mtag_leave(before);
	must(madvise(p, 4 * HPAGE, MADV_HUGEPAGE));
	touch(w, p, 4 * HPAGE);
	frozen_child(pid)
	{
		read_all(0, p, 3 * HPAGE);
		must(munmap(p + HPAGE + 5 * PG, PG));
	}
	diag("%" PRIu64 " bytes of %lu in huge pages", smaps(p, 4 * HPAGE).huge, 4 * HPAGE);
	shares_own(getpid(), f, p, 4 * HPAGE, "huge pages of shared memory");
	shares_exact(getpid(), "huge pages of shared memory: exact");
	shares_own(pid, f, p, 4 * HPAGE, "the same, mapped in parts");
	shares_exact(pid, "the same, mapped in parts: exact");
	end_child(pid);
	must(munmap(p, 4 * HPAGE));
	spew(THP "shmem_enabled", "never");
}

static void folios_of(size_t size)
{
	size_t len = 32 * size, pages = size / PG;
	pid_t pid;
	char *p;

	use_folios(size);
	p = area_prot(len, HPAGE, PROT_READ | PROT_WRITE);
	touch(a, p, len);
	use_folios(0);
	frozen_child(pid)
	{
		touch(w, p + size, PG);
		must(munmap(p + 3 * size, (pages / 2) * PG));
		must(madvise(p + 5 * size, PG, MADV_DONTNEED));
	}
	must(madvise(p + 7 * size + PG, PG, MADV_DONTNEED));
	shares_own(getpid(), a, p, len, "folios of %zu KiB, shared in parts: the parent's",
		   size / KIB);
	shares_own(pid, a, p, len, "folios of %zu KiB: the child's", size / KIB);
	shares_exact(pid, "folios of %zu KiB: exact", size / KIB);
	end_child(pid);
	must(munmap(p, len));
}

static void folios(void)
{
	size_t size[16], n = folio_sizes(size, COUNT(size));

	if (n < 2) {
		skip("folios of other sizes are shared as smaps says (there are none)");
		return;
	}
	for (size_t i = 0; i < n; i++)
		if (size[i] == 16 * KIB || size[i] == 64 * KIB || size[i] == 512 * KIB)
			folios_of(size[i]);
	folios_end();
}

int main(void)
{
	begin_test();
	begin();
	a = tag("a");
	f = tag("f");
	w = tag("w");
	huge();
	shared_huge();
	folios();
	return end_test();
}
