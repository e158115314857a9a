// SPDX-License-Identifier: GPL-2.0
/*
 * No test of its own: a program that uses libmtag, for the tests that are scripts.
 *   numbers       a fixed workload; prints what each tag has at its steps, the same everywhere
 *   loop SEC      threads that change tags, touch, map and fork, for that long
 *   absent        without the module: every call is a no-op; prints TAP
 *   outlive       attached; for each line on stdin does all calls again and says how it went
 */
#include "lib/test.h"

#define N 64

static const int all_counters[] = {
	MTAG_C_ANON,	   MTAG_C_FILE,		MTAG_C_SHMEM,	 MTAG_C_SWAP,	 MTAG_C_VIRT,
	MTAG_C_TOUCHED,	   MTAG_C_MMAPS,	MTAG_C_MUNMAPS,	 MTAG_C_MREMAPS, MTAG_C_BRKS,
	MTAG_C_MMAP_BYTES, MTAG_C_MUNMAP_BYTES, MTAG_C_BRK_BYTES};

static void print(const char *step, mtag_t t)
{
	struct usage u = usage(t);
	char path[MTAG_PATH_MAX];

	printf("%s %s", step, mtag_path(t, path, sizeof(path)));
	for (size_t i = 0; i < COUNT(all_counters); i++)
		printf(" %" PRIu64, u.c[all_counters[i]]);
	printf("\n");
}

static void exact_or_exit(const char *step)
{
	struct compared c = compare();

	if (c.equal)
		return;
	printf("%s: not exact\n", step);
	show_compared(&c);
	exit(3);
}

static void copied(char *p, mtag_t a, mtag_t b, mtag_t s)
{
	touch(b, p, N * PG);
	print("copied", a);
	print("copied", b);
	p = area(N * PG);
	touch(b, p, N / 4 * PG);
	touch(s, p + N / 4 * PG, N / 4 * PG);
	print("child", a);
	print("child", b);
	print("child", s);
	exact_or_exit("copied");
	fflush(stdout);
}

static int numbers(void)
{
	mtag_t a, b, s, before;
	char *p, *q, *h;

	begin();
	printf("# step tag anon file shmem swap virt touched mmaps munmaps mremaps brks and their bytes\n");
	fflush(stdout);
	a = mtag_child(tag("work"), "a");
	b = mtag_child(tag("work"), "b");
	s = tag("shared");
	before = mtag_enter(a);
	p = must(mmap(NULL, N * PG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	/* A kernel without huge pages knows no such advice. */
	madvise(p, N * PG, MADV_NOHUGEPAGE);
	mtag_enter(s);
	q = must(mmap(NULL, N * PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	mtag_leave(before);
	for (size_t i = 0; i < N; i++)
		touch(i % 3 ? a : b, p + i * PG, PG);
	touch(b, q, N / 2 * PG);
	print("touched", a);
	print("touched", b);
	print("touched", s);
	exact_or_exit("touched");
	in_child
		copied(p, a, b, s);
	before = mtag_enter(b);
	p = must(mremap(p, N * PG, 2 * N * PG, MREMAP_MAYMOVE));
	mtag_leave(before);
	must(madvise(p, N / 4 * PG, MADV_DONTNEED));
	print("moved", a);
	print("moved", b);
	exact_or_exit("moved");
	h = has_huge_pages() ? huge_area(HPAGE) : area(HPAGE);
	touch(b, h, HPAGE);
	must(munmap(h + 5 * PG, 9 * PG));
	print("huge", b);
	exact_or_exit("huge");
	if (!madvise(p, N * PG, MADV_PAGEOUT)) {
		touch(s, p + N / 4 * PG, (N - N / 4) * PG);
		print("paged", a);
		print("paged", s);
		exact_or_exit("paged");
	}
	must(munmap(p, 2 * N * PG));
	must(munmap(q, N * PG));
	must(munmap(h, HPAGE));
	print("unmapped", a);
	print("unmapped", b);
	print("unmapped", s);
	exact_or_exit("unmapped");
	return 0;
}

static double loop_end;

static void *loop_thread(void *arg)
{
	unsigned seed = (uintptr_t)arg;
	mtag_t tags[8];

	for (int i = 0; i < 8; i++) {
		char name[16];

		snprintf(name, sizeof(name), "loop-%d", i);
		tags[i] = mtag_child(MTAG_UNTAGGED, name);
	}
	while (now() < loop_end) {
		char *p = must(mmap(NULL, 16 * PG, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));

		for (int i = 0; i < 16; i++) {
			mtag_enter(tags[rand_r(&seed) % 8]);
			p[i * PG] = i;
		}
		if (rand_r(&seed) % 16 == 0) {
			pid_t pid = child();

			if (!pid) {
				p[3 * PG] = 4;
				_exit(0);
			}
			waitpid(pid, NULL, 0);
		}
		for (int i = 0; i < 16; i++)
			if (p[i * PG] != i)
				bail("memory changed");
		must(munmap(p, 16 * PG));
		mtag_enter(MTAG_UNTAGGED);
	}
	return NULL;
}

static int loop(double seconds)
{
	pthread_t threads[3];

	loop_end = now() + seconds;
	for (uintptr_t i = 0; i < 3; i++)
		must0(pthread_create(&threads[i], NULL, loop_thread, (void *)i));
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* Every call of the library; none may fail the program, whatever has become of the module. */
static int every_call(void)
{
	mtag_t t = mtag_child(MTAG_UNTAGGED, "every"), before = mtag_enter(t);
	char buf[MTAG_PATH_MAX], *p = area(N * PG);
	struct mtag_usage u;

	for (size_t i = 0; i < N; i++)
		p[i * PG] = 1;
	{
		MTAG_SCOPE("scope");
		p[0] = 2;
		(void)mtag_current();
	}
	(void)mtag_range(p, N * PG, t, 0);
	(void)mtag_usage(t, &u);
	(void)mtag_default(t);
	(void)mtag_path(t, buf, sizeof(buf));
	mtag_leave(before);
	must(munmap(p, N * PG));
	loop_end = now() + 0.2;
	in_thread(loop_thread, (void *)7);
	in_child (void)
		mtag_enter(t);
	return mtag_init();
}

static int outlive(void)
{
	char line[64];

	printf("init %d\n", mtag_init());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		int error = every_call();

		printf("init %d active %d\n", error, mtag_active());
		fflush(stdout);
	}
	return 0;
}

static int absent(void)
{
	struct mtag_usage u;
	char buf[MTAG_PATH_MAX] = "x";
	mtag_t before;

	is(mtag_init(), -ENOENT, "mtag_init says ENOENT");
	ok(!mtag_active(), "mtag_active says no");
	is(mtag_child(MTAG_UNTAGGED, "x"), MTAG_UNTAGGED, "mtag_child returns the parent");
	before = mtag_enter(MTAG_UNTAGGED);
	is(before, MTAG_UNTAGGED, "mtag_enter is harmless");
	mtag_leave(before);
	is(mtag_current(), MTAG_UNTAGGED, "mtag_current is untagged");
	ok(mtag_default(MTAG_UNTAGGED) < 0, "mtag_default fails");
	ok(mtag_range(buf, PG, MTAG_UNTAGGED, 0) < 0, "mtag_range fails");
	memset(&u, 1, sizeof(u));
	ok(mtag_usage(MTAG_UNTAGGED, &u) < 0, "mtag_usage fails");
	is(u.anon_bytes, 0, "and gives zeros");
	ok(mtag_path(MTAG_UNTAGGED, buf, sizeof(buf)) && !*buf,
	   "the path of what is untagged is empty");
	ok(every_call() < 0, "every call, threads and children run");
	return done();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "numbers"))
		return numbers();
	if (!strcmp(what, "loop"))
		return loop(argc > 2 ? atof(argv[2]) : 1);
	if (!strcmp(what, "absent"))
		return absent();
	if (!strcmp(what, "outlive"))
		return outlive();
	fprintf(stderr, "usage: tagger numbers | loop SEC | absent | outlive\n");
	return 2;
}
