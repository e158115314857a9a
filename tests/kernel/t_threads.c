// SPDX-License-Identifier: GPL-2.0
/* I4 under load: threads that change tags at every page while others map, move and unmap. */
/* vm: core=1 group=parallel thread=multi mem=1G timeout=400 */
#include "lib/test.h"

#define TOUCHERS 4
#define MAPPERS	 3
#define TAGS	 16
#define N	 2048
#define ROUNDS	 12

static mtag_t tags[TAGS], mapper_tags[MAPPERS];
static char *areas[TOUCHERS];
static atomic_bool stop;
static atomic_long cycles;
static pthread_barrier_t barrier;

/* The tag of a page: scattered, so that neighbours differ and no tag follows the thread. */
static size_t tag_index(size_t thread, size_t page, size_t round)
{
	return (page * 7 + page / 13 + thread * 3 + round) % TAGS;
}

struct toucher {
	size_t index;
	uint64_t count[TAGS]; /* pages now, by this thread's own arithmetic */
};

static void *toucher(void *arg)
{
	struct toucher *self = arg;
	char *p = areas[self->index];

	prefault_stack();
	mtag_leave(mtag_enter(0));
	pthread_barrier_wait(&barrier);
	for (size_t round = 0; round < ROUNDS; round++) {
		for (size_t i = 0; i < N; i++) {
			mtag_enter(tags[tag_index(self->index, i, round)]);
			*(volatile char *)(p + i * PG) = 1;
		}
		mtag_enter(0);
		if (round < ROUNDS - 1)
			must(madvise(p, N * PG, MADV_DONTNEED));
	}
	/* Some of the last round go again, one by one. */
	for (size_t i = 0; i < N; i++) {
		if (i % 5 == 0)
			must(madvise(p + i * PG, PG, MADV_DONTNEED));
		else
			self->count[tag_index(self->index, i, ROUNDS - 1)]++;
	}
	return NULL;
}

static void *mapper(void *arg)
{
	mtag_t mine = mapper_tags[(uintptr_t)arg];

	prefault_stack();
	mtag_leave(mtag_enter(0));
	pthread_barrier_wait(&barrier);
	mtag_enter(mine);
	while (!atomic_load(&stop)) {
		char *p = must(mmap(NULL, 32 * PG, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));

		for (size_t i = 0; i < 32; i++)
			((volatile char *)p)[i * PG] = 1;
		p = must(mremap(p, 32 * PG, 48 * PG, MREMAP_MAYMOVE));
		must(mprotect(p + 8 * PG, 8 * PG, PROT_READ));
		for (size_t i = 32; i < 48; i++)
			((volatile char *)p)[i * PG] = 1;
		must(munmap(p + 4 * PG, 8 * PG));
		must(munmap(p, 48 * PG));
		atomic_fetch_add(&cycles, 1);
	}
	mtag_enter(0);
	return NULL;
}

/* Tags made, threads made and children forked while all that runs. */
static void *maker(void *arg)
{
	(void)arg;
	pthread_barrier_wait(&barrier);
	for (int i = 0; !atomic_load(&stop); i++) {
		char name[32];

		snprintf(name, sizeof(name), "made-%d", i % 200);
		mtag_child(tags[i % TAGS], name);
		if (i % 20 == 0) {
			pid_t pid = child();

			if (!pid)
				_exit(0);
			reap(pid);
		}
	}
	return NULL;
}

static struct toucher self[TOUCHERS];

static mtag_t numbered_tag(const char *kind, size_t i)
{
	char name[16];

	snprintf(name, sizeof(name), "%s-%zu", kind, i);
	return tag(name);
}

/* Runs all threads until the touchers have ended. */
static void load(void)
{
	pthread_t touchers[TOUCHERS], others[MAPPERS + 1];

	pthread_barrier_init(&barrier, NULL, TOUCHERS + MAPPERS + 1);
	for (uintptr_t i = 0; i < TOUCHERS; i++) {
		self[i].index = i;
		must0(pthread_create(&touchers[i], NULL, toucher, &self[i]));
	}
	for (uintptr_t i = 0; i < MAPPERS; i++)
		must0(pthread_create(&others[i], NULL, mapper, (void *)i));
	must0(pthread_create(&others[MAPPERS], NULL, maker, NULL));
	for (size_t i = 0; i < TOUCHERS; i++)
		pthread_join(touchers[i], NULL);
	atomic_store(&stop, true);
	for (size_t i = 0; i < MAPPERS + 1; i++)
		pthread_join(others[i], NULL);
	diag("%d threads touched %d pages each, %d times; %d others mapped and unmapped %ld times",
	     TOUCHERS, N, ROUNDS, MAPPERS, atomic_load(&cycles));
}

static void touched(void)
{
	bool mixed = true;
	uint64_t want;

	for (size_t t = 0; t < TAGS; t++) {
		want = 0;
		for (size_t i = 0; i < TOUCHERS; i++)
			want += self[i].count[t];
		mixed &= want > 0;
		is(anon_of(tags[t]), want * PG, "tag %zu has exactly the pages touched under it",
		   t);
	}
	ok(mixed, "every tag had pages");
}

static void mapped(void)
{
	uint64_t mremaps = 0, touched = 0;

	for (size_t i = 0; i < MAPPERS; i++) {
		is(anon_of(mapper_tags[i]), 0, "mapper %zu left nothing resident", i);
		is(virt_of(mapper_tags[i]), 0, "mapper %zu left nothing mapped", i);
	}
	for (size_t i = 0; i < MAPPERS; i++) {
		mremaps += c(mapper_tags[i], MTAG_C_MREMAPS);
		touched += c(mapper_tags[i], MTAG_C_TOUCHED);
	}
	is(mremaps, atomic_load(&cycles), "every mremap was counted");
	is(touched, atomic_load(&cycles) * 48 * PG, "every first touch was counted");
}

static void unmapped(void)
{
	uint64_t left = 0;

	for (size_t i = 0; i < TOUCHERS; i++)
		must(munmap(areas[i], N * PG));
	for (size_t t = 0; t < TAGS; t++)
		left += anon_of(tags[t]);
	is(left, 0, "munmap leaves nothing to any tag");
}

int main(void)
{
	begin_test();
	begin();
	for (size_t i = 0; i < TAGS; i++)
		tags[i] = numbered_tag("tag", i);
	for (size_t i = 0; i < MAPPERS; i++)
		mapper_tags[i] = numbered_tag("mapper", i);
	for (size_t i = 0; i < TOUCHERS; i++)
		areas[i] = area(N * PG);
	load();
	touched();
	mapped();
	exact("the process is exact");
	clean(getpid(), "audit agrees while every tag has pages");
	unmapped();
	return end_test();
}
