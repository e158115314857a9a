// SPDX-License-Identifier: GPL-2.0
/* Tags, and memory to try them on. */
#include "memory.h"
#include "files.h"

#ifndef MADV_HWPOISON
#define MADV_HWPOISON 100
#endif

mtag_t tag(const char *name)
{
	mtag_t id = mtag_child(MTAG_UNTAGGED, name);

	if (id == MTAG_UNTAGGED)
		bail("mtag_child(%s)", name);
	return id;
}

__attribute__((noinline)) void prefault_stack(void)
{
	volatile char room[128 * KIB];

	for (size_t at = 0; at < sizeof(room); at += PG)
		room[at] = 1;
}

void no_huge(void *p, size_t len)
{
	if (madvise(p, len, MADV_NOHUGEPAGE) && errno != EINVAL)
		must(-1);
}

char *area_prot(size_t len, size_t align, int prot)
{
	size_t room = len + 2 * PG + align;
	char *base = must(mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			       -1, 0));
	char *p = base + PG;

	if (align)
		p = (char *)(((uintptr_t)p + align - 1) & -align);
	must(mprotect(p, len, prot));
	if (!align)
		no_huge(p, len);
	return p;
}

char *area(size_t len)
{
	return area_prot(len, 0, PROT_READ | PROT_WRITE);
}

bool has_huge_pages(void)
{
	return !access("/sys/kernel/mm/transparent_hugepage", F_OK);
}

void no_khugepaged(void)
{
	if (has_huge_pages())
		spew("/sys/kernel/mm/transparent_hugepage/khugepaged/scan_sleep_millisecs",
		     "1000000");
}

int compact_memory(void)
{
	return spew("/proc/sys/vm/compact_memory", "1");
}

char *huge_area(size_t len)
{
	char *p = area_prot(len, HPAGE, PROT_READ | PROT_WRITE);

	if (has_huge_pages())
		must(madvise(p, len, MADV_HUGEPAGE));
	return p;
}

void touch(mtag_t as, void *start, size_t len)
{
	static _Atomic uint64_t salt = 0x9e3779b97f4a7c15;
	mtag_t before = mtag_enter(as);

	for (size_t at = 0; at < len; at += PG)
		*(volatile uint64_t *)((char *)start + at) = atomic_fetch_add(&salt, 0x1234567) | 1;
	mtag_leave(before);
}

uint64_t read_all(mtag_t as, const void *start, size_t len)
{
	mtag_t before = mtag_enter(as);
	uint64_t sum = 0;

	for (size_t at = 0; at < len; at += PG)
		sum += *(const volatile uint64_t *)((const char *)start + at);
	mtag_leave(before);
	return sum;
}

/* Since 6.11 the kernel sends SIGBUS when MADV_HWPOISON poisons a page that is in use. */
static void poisoned_in_use(int signal)
{
	(void)signal;
}

int poison(void *page)
{
	signal(SIGBUS, poisoned_in_use);
	return madvise(page, PG, MADV_HWPOISON) ? -errno : 0;
}
