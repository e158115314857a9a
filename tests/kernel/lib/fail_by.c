// SPDX-License-Identifier: GPL-2.0
/* Tags that come by themselves, of threads and of mappings, while allocations fail. */
#include "fail_by.h"
#include "fail_each.h"

static void attach(uint32_t flags)
{
	struct mtag_ioc_attach arg = {.size = sizeof(arg), .flags = flags};

	must0(mtag_ioctl(MTAG_IOC_ATTACH, &arg));
	prefault_stack();
	exactly("before");
}

static void *thread(void *area)
{
	prctl(PR_SET_NAME, "renamed");
	write_pages(area, N);
	return NULL;
}

void by_tid(void)
{
	char *p = area(N * PG);
	uint64_t before;
	int failed;

	attach(MTAG_ATTACH_BY_TID);
	before = losses();
	arm();
	in_thread(thread, p);
	failed = disarm();
	counted(failed, before);
	exactly("after a thread that has a tag");
	in_thread(thread, p);
	exactly("after another one");
}

void by_map(void)
{
	int fd = must(memfd_create("fails", MFD_CLOEXEC)), failed;
	uint64_t before;
	char *anon, *file, *more;

	must(ftruncate(fd, N * PG));
	attach(MTAG_ATTACH_BY_MAP);
	before = losses();
	arm();
	anon = mmap(NULL, N * PG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	file = mmap(NULL, N * PG, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	more = sbrk(N * PG);
	failed = disarm();
	good(anon != MAP_FAILED && file != MAP_FAILED && (intptr_t)more != -1, "a mapping fails");
	counted(failed, before);
	write_pages(anon, N);
	write_pages(file, N);
	write_pages(more, N);
	exactly("after mappings that have tags");
	must(munmap(anon, N * PG));
	exactly("after one of them is gone");
}
