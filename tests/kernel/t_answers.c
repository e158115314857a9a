// SPDX-License-Identifier: GPL-2.0
/*
 * What mtag remembers of ranges is never out of date: threads of one process change the tags of ranges in every way, and
 * map and unmap pages in them between any two changes. Every page must be charged to the tag that its place has then.
 */
/* vm: timeout=900 */
#include "lib/test.h"
#include "lib/fuzz.h"

#define THREADS 3
#define PAGES	384
#define TAGS	12
#define ROUNDS	8
#define CHANGES 150
#define PART	24 /* at most so many pages change at once: more than the kernel maps around a fault */

/* The memory of one thread, and the tag that each of its pages must have. */
struct place {
	char *start;
	int fd;
	struct random random;
	mtag_t *tag[PAGES];
};

static mtag_t tags[TAGS];
static struct place places[THREADS];

static mtag_t *any_tag(struct place *p)
{
	return &tags[below(&p->random, TAGS)];
}

static void set(struct place *p, size_t from, size_t n, mtag_t *tag)
{
	for (size_t i = from; i < from + n; i++)
		p->tag[i] = tag;
}

/* The file goes on from one mapping to the next, so the kernel merges them: one mapping has many ranges. */
static void map(struct place *p, size_t from, size_t n)
{
	mtag_t *tag = any_tag(p), before = mtag_enter(*tag);

	must(mmap(p->start + from * PG, n * PG, PROT_READ, MAP_SHARED | MAP_FIXED, p->fd,
		  (off_t)(from * PG)));
	mtag_leave(before);
	set(p, from, n, tag);
}

static void unmap_and_map(struct place *p, size_t from, size_t n)
{
	must(munmap(p->start + from * PG, n * PG));
	map(p, from, n);
}

static void give(struct place *p, size_t from, size_t n)
{
	mtag_t *tag = any_tag(p);

	must0(mtag_range(p->start + from * PG, n * PG, *tag, 0));
	set(p, from, n, tag);
}

/* Pages take their tags along. The old place is mapped again, and so is the new one if there was more than a mapping. */
static void move(struct place *p, size_t from, size_t n)
{
	size_t to = (from + PAGES / 2) % PAGES;

	if (to + n > PAGES)
		return;
	if (mremap(p->start + from * PG, n * PG, n * PG, MREMAP_MAYMOVE | MREMAP_FIXED,
		   p->start + to * PG) == MAP_FAILED)
		map(p, to, n);
	else
		memcpy(&p->tag[to], &p->tag[from], n * sizeof(p->tag[0]));
	map(p, from, n);
}

/* Neither changes a tag, but both change what is one mapping. */
static void protect(struct place *p, size_t from, size_t n)
{
	must(mprotect(p->start + from * PG, n * PG,
		      one_in(&p->random, 2) ? PROT_READ | PROT_WRITE : PROT_READ));
}

static void advise(struct place *p, size_t from, size_t n)
{
	must(madvise(p->start + from * PG, n * PG,
		     one_in(&p->random, 2) ? MADV_RANDOM : MADV_NORMAL));
}

typedef void change_t(struct place *p, size_t from, size_t n);

static change_t *const changes[] = {map, unmap_and_map, give, move, protect, advise};

static void come_and_go(struct place *p, size_t from, size_t n)
{
	read_all(MTAG_UNTAGGED, p->start + from * PG, n * PG);
	if (one_in(&p->random, 2))
		must(madvise(p->start + from * PG, n * PG, MADV_DONTNEED));
}

static void *change(void *arg)
{
	struct place *p = arg;

	for (int i = 0; i < CHANGES; i++) {
		size_t n = 1 + below(&p->random, PART), from = below(&p->random, PAGES - n);

		changes[below(&p->random, COUNT(changes))](p, from, n);
		come_and_go(p, from, n);
		n = 1 + below(&p->random, PART);
		come_and_go(p, below(&p->random, PAGES - n), n);
	}
	return NULL;
}

/* Compares each tag with what pagemap shows at the places that have it. */
static bool as_wanted(void)
{
	uint64_t want[TAGS] = {}, word[PAGES];
	bool good = true;

	for (int t = 0; t < THREADS; t++) {
		pagemap(places[t].start, PAGES, word);
		for (int i = 0; i < PAGES; i++)
			if (word[i] & PAGEMAP_PRESENT)
				want[places[t].tag[i] - tags] += PG;
	}
	for (int i = 0; i < TAGS; i++) {
		uint64_t got = c(tags[i], MTAG_C_SHMEM);

		if (got != want[i])
			diag("tag %d: %" PRIu64 " bytes, not %" PRIu64, i, got, want[i]);
		good &= got == want[i];
	}
	return good;
}

static void round_of(int round)
{
	pthread_t thread[THREADS];

	for (int t = 0; t < THREADS; t++)
		must0(pthread_create(&thread[t], NULL, change, &places[t]));
	for (int t = 0; t < THREADS; t++)
		must0(pthread_join(thread[t], NULL));
	ok(as_wanted(), "%d: after %d changes of each thread every tag has the pages of its ranges",
	   round, CHANGES);
	exact("%d: the sums over all tags are what the kernel says", round);
	in_child {
		ok(as_wanted(), "%d: a child starts with them", round);
		change(&places[0]);
		ok(as_wanted(), "%d: and changes its own", round);
		exact("%d: a child is exact", round);
	}
	ok(as_wanted(), "%d: its parent's stay", round);
}

int main(int argc, char **argv)
{
	struct fuzz f;

	begin_test();
	f = fuzz_arguments(argc, argv, ROUNDS, ROUNDS, ROUNDS);
	begin();
	for (int i = 0; i < TAGS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "tag%d", i);
		tags[i] = tag(name);
	}
	for (int t = 0; t < THREADS; t++) {
		struct place *p = &places[t];

		p->start = area(PAGES * PG);
		p->fd = must(memfd_create("place", MFD_CLOEXEC));
		p->random = random_of(f.seed, (uint64_t)t);
		must(ftruncate(p->fd, PAGES * PG));
		map(p, 0, PAGES);
		must0(mprotect(p->start, PAGES * PG, PROT_READ | PROT_WRITE));
		touch(MTAG_UNTAGGED, p->start, PAGES * PG);
	}
	for (int i = 0; i < ROUNDS; i++)
		round_of(i);
	return end_test();
}
