// SPDX-License-Identifier: GPL-2.0
/* Pages stay beneath the stack that first touched them when their contents go to another address, or another frame. */
#include "lib/keepers.h"
#include "lib/stacks.h"
#include "stacks/sites.h"

#define MOVED 8

#ifndef MADV_SOFT_OFFLINE
#define MADV_SOFT_OFFLINE 101
#endif

static void moved(mtag_t a)
{
	char *p = area(N * PG), *q = area(N * PG);
	struct site s;

	visit(&s, 4, touch_here, a, p, N);
	must(mremap(p, N * PG, N * PG, MREMAP_MAYMOVE | MREMAP_FIXED, q));
	has(getpid(), a, &s, N * PG, 0, "mremap keeps the stack");
	must(munmap(q, N * PG));
}

/* Contents that the kernel moves to other frames, as compaction does. */
static void migrated(mtag_t a)
{
	char *p = area(2 * MOVED * PG);
	uint64_t frames[2 * MOVED];
	struct site s, w;
	size_t other = 0;

	visit(&s, 4, touch_here, a, p, MOVED);
	visit(&w, 11, touch_here, a, p + MOVED * PG, MOVED);
	for (size_t i = 0; i < 2 * MOVED; i++)
		frames[i] = pfn_of(p + i * PG);
	for (size_t i = 0; i < 2 * MOVED; i++)
		if (madvise(p + i * PG, PG, MADV_SOFT_OFFLINE)) {
			skip("migrated pages keep their stacks (%s)", strerror(errno));
			must(munmap(p, 2 * MOVED * PG));
			return;
		}
	for (size_t i = 0; i < 2 * MOVED; i++)
		other += pfn_of(p + i * PG) != frames[i];
	is(other, 2 * MOVED, "all pages are in other frames");
	has(getpid(), a, &s, MOVED * PG, 0, "migrated pages keep their stack");
	has(getpid(), a, &w, MOVED * PG, 0, "and the others theirs");
	tag_adds_up(a, "migrated");
	must(munmap(p, 2 * MOVED * PG));
}

int main(void)
{
	ssize_t n = must(readlink("/proc/self/exe", exe, sizeof(exe) - 1));
	mtag_t a;

	exe[n] = '\0';
	begin_test();
	hand_in_tables();
	begin();
	no_khugepaged();
	a = tag("a");
	read_code();
	must0(-stacks_start_self(1, -1));
	moved(a);
	migrated(a);
	is(stacks(getpid())->lost, 0, "no stack was lost");
	return end_test();
}
