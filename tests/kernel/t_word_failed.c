// SPDX-License-Identifier: GPL-2.0
/* The page with a thread's word fails: the thread goes on, untagged, and so does the machine. */
/* vm: group=parallel mem=1G timeout=120 */
#include <libgen.h>
#include "lib/fail.h"
#include "lib/test.h"

#define N 16

static int fail_load(void)
{
	char path[512], dir[512];

	snprintf(dir, sizeof(dir), "%s", module_path());
	snprintf(path, sizeof(path), "%s/failnth/failpage.ko", dirname(dir));
	return module_load(path, "");
}

static int fail_page(const void *p)
{
	return spew("/sys/module/failpage/parameters/address", "%lu", (unsigned long)p);
}

int main(void)
{
	struct mtag_ioc_thread thread = {.size = sizeof(thread)};
	uint32_t *word;
	mtag_t a;
	char *p;

	begin_test();
	begin();
	a = tag("a");
	if (fail_load())
		skip_all("this kernel has no function by which a page fails");
	word = must(mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	p = area(2 * N * PG);
	thread.word = (uintptr_t)word;
	must0(mtag_ioctl(MTAG_IOC_THREAD, &thread));
	*word = a;
	memset(p, 1, N * PG);
	is(anon_of(a), N * PG, "a thread's pages are its word's");
	must0(fail_page(word));
	memset(p + N * PG, 1, N * PG);
	must0(fail_page(NULL));
	is(anon_of(a), N * PG, "while the page with the word has failed, they are not");
	exact("exact");
	must(munmap(p, 2 * N * PG));
	exact("exact when they are unmapped");
	sh("rmmod failpage");
	return end_test();
}
