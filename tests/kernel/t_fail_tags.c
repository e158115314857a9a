// SPDX-License-Identifier: GPL-2.0
/*
 * mtagctl run --by-thread=tid: a thread whose record cannot be had for lack of memory does not keep the tag that was
 * made for it. Its tag is used again, like that of any thread that has ended.
 */
/* vm: group=parallel mem=1G timeout=300 */
#include "lib/fail.h"

#define THREADS 400 /* each takes a tag; a sweep leaves some 100, more where it is slow */

static unsigned count_tags(void)
{
	struct usage u;
	mtag_t tag = MTAG_ID_FIRST;

	while (!usage_get(tag, &u))
		tag++;
	return tag - MTAG_ID_FIRST;
}

static void *short_life(void *page)
{
	*(volatile char *)page = 1;
	return NULL;
}

static void threads(int count)
{
	char *page = area(PG);
	pthread_t thread;

	for (int i = 0; i < count; i++) {
		must0(pthread_create(&thread, NULL, short_life, page));
		pthread_join(thread, NULL);
		must(madvise(page, PG, MADV_DONTNEED));
	}
	must(munmap(page, PG));
}

static void no_records(void)
{
	struct mtag_ioc_attach arg = {.size = sizeof(arg), .flags = MTAG_ATTACH_BY_TID};
	uint64_t lost;
	int failed;

	must0(mtag_ioctl(MTAG_IOC_ATTACH, &arg));
	prefault_stack();
	lost = health("lost");
	fail_set("every", 1);
	fail_arm(getpid(), 1);
	threads(THREADS);
	failed = fail_disarm(NULL);
	fail_set("every", 0);
	ok(failed >= THREADS, "%d threads get no record (%d allocations fail)", THREADS, failed);
	ok(health("lost") - lost >= THREADS, "which is counted for each of them");
	/* The last sweep may still run. */
	threads(THREADS / 4);
	ok(count_tags() < THREADS, "all of them needed %u tags", count_tags());
	exact("the sums are exact after them");
}

int main(void)
{
	begin_test();
	fail_begin();
	fail_beneath_function("mtag_thread_start");
	in_child
		no_records();
	fail_end();
	return end_test();
}
