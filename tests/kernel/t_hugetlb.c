// SPDX-License-Identifier: GPL-2.0
/* hugetlb pages are no RSS, neither for the kernel nor for mtag. */
/* vm: */
#include "lib/test.h"

#define N 4

static mtag_t a, w;

static void none(const char *when)
{
	struct usage u = usage(a), v = usage(w);

	is(resident(&u), 0, "%s: the mapper has nothing resident", when);
	is(resident(&v), 0, "%s: nor has the toucher", when);
	is(u.c[MTAG_C_VIRT], N * HPAGE, "%s: virtual size is the mapper's", when);
	exact("%s: exact", when);
}

static void one(int flags, const char *kind)
{
	mtag_t before = mtag_enter(a);
	char *p = mmap(NULL, N * HPAGE, PROT_READ | PROT_WRITE, MAP_HUGETLB | MAP_ANONYMOUS | flags,
		       -1, 0);
	struct mtag_ioc_thread thread = {.size = sizeof(thread), .word = (uintptr_t)p};
	char when[64];

	mtag_leave(before);
	if (p == MAP_FAILED)
		bail("no hugetlb mapping");
	is(mtag_ioctl(MTAG_IOC_THREAD, &thread), -EINVAL, "%s: no place for a word", kind);
	touch(w, p, N * HPAGE);
	snprintf(when, sizeof(when), "%s, touched", kind);
	none(when);
	in_child {
		snprintf(when, sizeof(when), "%s, in a child", kind);
		none(when);
		touch(w, p, HPAGE);
		snprintf(when, sizeof(when), "%s, written to in a child", kind);
		none(when);
		must(munmap(p, N * HPAGE));
		is(virt_of(a), 0, "%s, unmapped in a child: no virtual size", kind);
		exact("%s, unmapped in a child: exact", kind);
	}
	must(madvise(p, HPAGE, MADV_DONTNEED));
	snprintf(when, sizeof(when), "%s, one discarded", kind);
	none(when);
	touch(w, p, HPAGE);
	must(munmap(p, N * HPAGE));
	is(virt_of(a), 0, "%s, unmapped: no virtual size", kind);
	exact("%s, unmapped: exact", kind);
}

int main(void)
{
	begin_test();
	begin();
	a = tag("a");
	w = tag("worker");
	compact_memory();
	if (spew("/proc/sys/vm/nr_hugepages", "%d", 2 * N) ||
	    file_field("/proc/meminfo", "HugePages_Free") < 2 * N)
		skip_all("no hugetlb pages to be had");
	one(MAP_PRIVATE, "private");
	one(MAP_SHARED, "shared");
	spew("/proc/sys/vm/nr_hugepages", "0");
	return end_test();
}
