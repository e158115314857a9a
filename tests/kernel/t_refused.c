// SPDX-License-Identifier: GPL-2.0
/* Rule 4 for calls that the kernel refuses late, after it has begun to act on them. */
/* vm: timeout=300 */
#include "lib/test.h"
#include <sys/resource.h>

#define N 64

static mtag_t a, w;

struct calls {
	uint64_t mmaps, munmaps, mremaps, brks, virt;
};

static struct calls calls(void)
{
	struct usage u = usage(w);

	return (struct calls){u.c[MTAG_C_MMAPS], u.c[MTAG_C_MUNMAPS], u.c[MTAG_C_MREMAPS],
			      u.c[MTAG_C_BRKS], u.c[MTAG_C_VIRT]};
}

static void nothing_since(struct calls before, const char *what)
{
	struct calls after = calls();

	is(after.mmaps, before.mmaps, "%s: no mmap is counted", what);
	is(after.munmaps, before.munmaps, "%s: no munmap is counted", what);
	is(after.mremaps, before.mremaps, "%s: no mremap is counted", what);
	is(after.brks, before.brks, "%s: no brk is counted", what);
	is(after.virt, before.virt, "%s: nobody gets virtual size for it", what);
	exact("%s: the sum is VmSize", what);
}

/* All of these fail; @accounted: so does growing a mapping. */
static void ask(char *p, size_t len, bool accounted, const char *what)
{
	mtag_t before = mtag_enter(w);
	int good = 0;

	good += mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
		MAP_FAILED;
	good += mmap(p, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		     0) != MAP_FAILED;
	if (accounted)
		good += mremap(p, N * PG, len, MREMAP_MAYMOVE) != MAP_FAILED;
	good += brk((char *)sbrk(0) + len) == 0;
	mtag_leave(before);
	is(good, 0, "%s: calls for more are refused", what);
}

static void by_limit(void)
{
	struct rlimit old, small;
	char *p = area(N * PG);
	struct calls before;
	mtag_t was;

	touch(a, p, N * PG);
	must(getrlimit(RLIMIT_AS, &old));
	small = old;
	before = calls();
	small.rlim_cur = truth_of(getpid()).virt + MIB;
	must(setrlimit(RLIMIT_AS, &small));
	ask(p, 64 * MIB, true, "over RLIMIT_AS");
	must(setrlimit(RLIMIT_AS, &old));
	nothing_since(before, "over RLIMIT_AS");
	owns(a, p, N * PG, "over RLIMIT_AS: what was to be mapped over keeps its owner");
	was = mtag_enter(w);
	ok(mmap(NULL, PG, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED,
	   "a call that is not refused works");
	mtag_leave(was);
	is(calls().mmaps, before.mmaps + 1, "and is counted");
	is(calls().virt, before.virt + PG, "and gets its virtual size");
	must(munmap(p, N * PG));
}

static void by_overcommit(void)
{
	/* More than all memory and swap there is; 6.1 unmaps what is there before it refuses. */
	size_t room = 512UL * 1024 * MIB;
	char *p = must(mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			    0)),
	     *text = slurp("/proc/sys/vm/overcommit_memory");
	struct calls before;
	int mode = text ? atoi(text) : 0;

	must(mprotect(p, N * PG, PROT_READ | PROT_WRITE));
	touch(a, p, N * PG);
	before = calls();
	if (spew("/proc/sys/vm/overcommit_memory", "2")) {
		skip("without overcommit (cannot be set)");
		return;
	}
	/* Growing what is there is no matter of reserves: the area has none. */
	ask(p, room, false, "without overcommit");
	spew("/proc/sys/vm/overcommit_memory", "%d", mode);
	nothing_since(before, "without overcommit");
	is(anon_of(a), smaps(p, N * PG).anon, "without overcommit: what is there keeps its owner");
	must(munmap(p, room));
	is(anon_of(a), 0, "without overcommit: nothing is left");
	exact("without overcommit: exact in the end");
}

/* A file whose ->mmap fails. */
static void by_driver(void)
{
	char *p = area(N * PG);
	struct calls before = calls();
	mtag_t was;
	int good;

	touch(a, p, N * PG);
	was = mtag_enter(w);
	good = mmap(NULL, N * PG, PROT_READ | PROT_WRITE, MAP_SHARED, mtag_fd(), 1UL << 40) !=
	       MAP_FAILED;
	good += mmap(NULL, N * PG, PROT_READ | PROT_EXEC, MAP_PRIVATE, mtag_fd(), 0) != MAP_FAILED;
	mtag_leave(was);
	is(good, 0, "by the driver: bad mappings of it are refused");
	nothing_since(before, "by the driver");
	must(munmap(p, N * PG));
}

int main(void)
{
	begin_test();
	begin();
	a = tag("a");
	w = tag("worker");
	by_limit();
	by_overcommit();
	by_driver();
	return end_test();
}
