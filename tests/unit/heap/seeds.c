// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Of 1,000 seeds, how many estimates of what is alive lie within 2 of their own standard errors of
 * the truth? 95 %, if both the estimates and their errors are right, whatever sizes the objects have. This program is made of the
 * library's own objects, so that all is as in any program, but for the seeds: the result is always
 * the same. So it can also make the table of samples full. mtagctl's objects are in it, too: what
 * these make of the area, with each other page resident, is compared likewise.
 */
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "heap/chance.h"
#include "heap/next.h"
#include "heap/sampler.h"
#include "heap/self.h"
#include "heap/view.h"
#include "heaps/view.h"
#include "mixes.h"

#define SEEDS	1000
#define OBJECTS 6000
#define PERIOD	8192

/* The last three are what mtagctl says. */
enum kind { ASKED, ALLOCATED, TOLD, RESIDENT, NUMBER, KINDS };
static const char *const names[KINDS] = {"bytes asked", "bytes allocated",
					 "bytes asked, by mtagctl", "bytes resident, by mtagctl",
					 "objects, by mtagctl"};

static struct {
	void *p;
	size_t size;
} objects[OBJECTS];

/* What is being compared, over all seeds. Variances are in squares of the truth. */
static struct result {
	unsigned within;
	double bias, square, variance;
} results[KINDS];

void mtag_heap_word(const uint32_t *word);

enum { TAG = 5, N_TAGS };
static const uint32_t fill_tag = TAG, no_tag;
/* What was allocated before main() is not far below the break. */
#define HEAP_BEFORE (UINT64_C(1) << 20)
static uint64_t heap_begin;

static const struct mix *mix;

static size_t size_of(uint64_t *random)
{
	return mix->size(mtag__chance_next(random));
}

/* ---- objects ---- */

/*
 * Two of three are freed again; some of those that stay grow from next to nothing, or shrink; others only
 * take what their chunk has left, which nothing is drawn for.
 */
static void fill(uint64_t *random)
{
	unsigned i;

	for (i = 0; i < OBJECTS; i++) {
		objects[i].size = size_of(random);
		objects[i].p = malloc(objects[i].size);
	}
	for (i = 0; i < OBJECTS; i += 1 + i % 3) {
		free(objects[i].p);
		objects[i].p = NULL;
	}
	for (i = 0; i < OBJECTS; i += 11) {
		if (!objects[i].p)
			continue;
		objects[i].size = size_of(random) + 1;
		objects[i].p = realloc(objects[i].p, objects[i].size);
	}
	for (i = 0; i < OBJECTS; i += 2) {
		if (!objects[i].p)
			continue;
		objects[i].size = malloc_usable_size(objects[i].p);
		objects[i].p = realloc(objects[i].p, objects[i].size);
	}
}

static void empty(void)
{
	unsigned i;

	for (i = 0; i < OBJECTS; i++)
		free(objects[i].p);
}

/* ---- what mtagctl says ---- */

static int read_area(void *arg, uint64_t offset, void *to, size_t length)
{
	memcpy(to, (char *)arg + offset, length);
	return 0;
}

/* Every other page is there. */
static int look(void *arg, uint64_t start, uint64_t end, uint32_t *pages)
{
	(void)arg;
	for (; start < end; start += PAGE_BYTES)
		*pages++ = start / PAGE_BYTES % 2 ? TAG | MTAG_OWNER_PRESENT : 0;
	return 0;
}

static double resident_of(const void *p, size_t size)
{
	uint64_t from = (uintptr_t)p, end = from + size, next;
	double sum = 0;

	for (; from < end; from = next) {
		next = (from / PAGE_BYTES + 1) * PAGE_BYTES;
		next = next < end ? next : end;
		sum += from / PAGE_BYTES % 2 ? (double)(next - from) : 0;
	}
	return sum;
}

/* The break, where all objects are. */
static struct heap_map map_of_objects(void)
{
	return (struct heap_map){.start = heap_begin,
				 .end = ((uintptr_t)sbrk(0) + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1),
				 .rss = PAGE_BYTES,
				 .kind = HEAP_MALLOC};
}

static struct heap_tag ask_mtagctl(void)
{
	struct tag tags[] = {{.id = 0, .name = (char *)"", .parent = -1},
			     {.id = TAG, .name = (char *)"a", .parent = -1}};
	const struct proc proc = {.tags = tags, .n_tags = 2};
	const struct heap_source source = {
		.read = read_area, .arg = mtag__view.head, .length = mtag__view.head->area_bytes};
	struct heap_map map = map_of_objects();
	struct heap_maps maps = {.maps = &map, .n = 1};
	struct heap_objects read = {0};
	struct heap_view view = {0};
	struct heap_parts parts = {
		.proc = &proc, .objects = &read, .maps = &maps, .pages = {look, NULL}};
	struct heap_tag tag;

	mtag_heap_word(&no_tag);
	if (heap_objects_read(&source, N_TAGS, &read) || heap_view_make(&view, &parts) ||
	    !heap_find(&view, TAG))
		abort();
	tag = *heap_find(&view, TAG);
	heap_view_clear(&view);
	heap_objects_clear(&read);
	return tag;
}

/* ---- comparing ---- */

static void get_truth(double truth[KINDS])
{
	for (unsigned i = 0; i < OBJECTS; i++) {
		size_t usable = objects[i].p ? malloc_usable_size(objects[i].p) : 0;

		if (!objects[i].p)
			continue;
		truth[ASKED] += (double)objects[i].size;
		truth[ALLOCATED] += (double)usable;
		truth[NUMBER] += 1;
		truth[RESIDENT] += resident_of(objects[i].p, usable);
	}
	truth[TOLD] = truth[ASKED];
}

static void get_estimates(double estimate[KINDS], double variance[KINDS])
{
	const double one = (double)(UINT64_C(1) << MTAG_HEAP_WEIGHT_SHIFT);

	for (unsigned i = 0; i < mtag__view.head->samples_used; i++) {
		const struct mtag_heap_sample *sample = &mtag__view.table.records[i];
		const double weight = (double)sample->weight / one;
		const double values[] = {(double)sample->asked, (double)sample->allocated};

		for (unsigned j = 0; sample->address && sample->tag == TAG && j < TOLD; j++) {
			estimate[j] += weight * values[j];
			variance[j] += weight * (weight - 1) * values[j] * values[j];
		}
	}
}

static void compare(void)
{
	const struct heap_tag tag = ask_mtagctl();
	double truth[KINDS] = {0}, estimate[KINDS] = {0}, variance[KINDS] = {0};

	get_truth(truth);
	get_estimates(estimate, variance);
	estimate[TOLD] = (double)tag.asked;
	variance[TOLD] = (double)tag.error * (double)tag.error;
	estimate[RESIDENT] = (double)tag.resident;
	variance[RESIDENT] = (double)tag.resident_error * (double)tag.resident_error;
	estimate[NUMBER] = (double)tag.objects;
	variance[NUMBER] = (double)tag.objects_error * (double)tag.objects_error;
	for (unsigned j = 0; j < KINDS; j++) {
		double error = estimate[j] - truth[j];

		results[j].within += fabs(error) <= 2 * sqrt(variance[j]);
		results[j].bias += error / truth[j];
		results[j].square += error / truth[j] * error / truth[j];
		results[j].variance += variance[j] / truth[j] / truth[j];
	}
}

static void run(uint64_t seed)
{
	uint64_t random = seed * UINT64_C(0x9e3779b97f4a7c15);

	mtag__self.random = ~random;
	mtag__self.countdown = mtag__chance_distance(&mtag__self.random, PERIOD);
	mtag_heap_word(&fill_tag);
	fill(&random);
	compare();
	empty();
}

static int report(unsigned n, const char *what, const char *of, int good)
{
	printf("%sok %u - %s: %s\n", good ? "" : "not ", n, of, what);
	return !good;
}

/* ---- what finds no room, and what was freed behind the library's back ---- */

enum { SMALL_PERIOD = 1024, ALWAYS = 41 * SMALL_PERIOD }; /* each object is a sample of weight 1 */

static int is_even(const struct mtag_heap_cell *cell)
{
	return cell->asked_in == cell->asked_out && cell->allocated_in == cell->allocated_out &&
	       cell->objects_in == cell->objects_out;
}

/* There is room for as many samples as there ever were, and for no more. */
static int check_full(unsigned *n)
{
	static const uint32_t full_tag = 7;
	const struct mtag_heap_cell *cell = &mtag__view.cells[full_tag];
	const uint64_t lost = mtag__view.head->samples_lost;
	const uint32_t max = mtag__view.table.max;
	unsigned i;
	int good;

	mtag__view.table.max = mtag__view.head->samples_used;
	mtag_heap_word(&full_tag);
	for (i = 0; i < OBJECTS; i++)
		objects[i].p = malloc(ALWAYS);
	good = mtag__view.head->samples_lost > lost && cell->objects_in < OBJECTS;
	empty();
	mtag__view.table.max = max;
	return report(++*n, "those that found no room are in no count", "samples",
		      good && cell->objects_in && is_even(cell));
}

static int check_replaced(unsigned *n)
{
	static const uint32_t stale_tag = 8;
	const struct mtag_heap_cell *cell = &mtag__view.cells[stale_tag];
	void *stale, *p;

	mtag_heap_word(&stale_tag);
	stale = malloc(ALWAYS);
	mtag__next.free(stale);
	p = malloc(ALWAYS);
	free(p);
	return report(++*n, "one that replaces another counts that out", "samples",
		      p == stale && cell->objects_in == 2 && is_even(cell));
}

/* ---- a fork while another thread changes the table ---- */

enum { KEPT = 600, TORN = 7 };

static const uint32_t forked_tag = 9;
static sem_t locked, forked;

static void *hold_lock(void *arg)
{
	mtag__sampler_fork();
	sem_post(&locked);
	while (sem_wait(&forked))
		;
	mtag__sampler_forked(false);
	return arg;
}

/* A half of the index is not there yet, and a record is half written. */
static void break_table(struct mtag__table *table)
{
	memset(table->indices + table->size, 0, table->size / 2 * sizeof(uint32_t));
	for (uint32_t i = 0; i < *table->used; i++)
		if (table->records[i].address == (uintptr_t)objects[TORN].p)
			table->records[i].asked ^= 1;
}

static unsigned still_sampled(void)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < *mtag__view.table.used; i++)
		for (unsigned j = 0; j < KEPT; j++)
			n += mtag__view.table.records[i].address == (uintptr_t)objects[j].p;
	return n;
}

/* Returns 0 if all is as it should be in the child, but for the record that was half written. */
static int child(uint64_t lost, const struct mtag_heap_cell *cell)
{
	unsigned i, before = still_sampled();
	void *p[KEPT];

	mtag_heap_word(&forked_tag);

	for (i = 0; i < KEPT; i++)
		free(objects[i].p);
	for (i = 0; i < KEPT; i++)
		p[i] = malloc(ALWAYS);
	if (mtag__view.table.alive < KEPT)
		return 5;
	for (i = 0; i < KEPT; i++)
		free(p[i]);
	if (still_sampled())
		return 1;
	if (before != KEPT - 1)
		return 2;
	if (mtag__view.head->samples_lost <= lost)
		return 3;
	return cell->objects_in != cell->objects_out + 1 ? 4 : 0;
}

static int check_forked(unsigned *n)
{
	const uint64_t lost = mtag__view.head->samples_lost;
	pthread_t thread;
	int status = -1;
	unsigned i;
	pid_t pid;

	mtag_heap_word(&forked_tag);
	for (i = 0; i < KEPT; i++)
		objects[i].p = malloc(ALWAYS);
	/* What the C library needs for the thread has another tag. */
	mtag_heap_word(&no_tag);
	sem_init(&locked, 0, 0);
	sem_init(&forked, 0, 0);
	if (pthread_create(&thread, NULL, hold_lock, NULL))
		abort();
	while (sem_wait(&locked))
		;
	break_table(&mtag__view.table);
	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(child(lost, &mtag__view.cells[forked_tag]));
	waitpid(pid, &status, 0);
	/* In the parent that thread is to find what it has left. */
	mtag__table_mend(&mtag__view.table);
	sem_post(&forked);
	pthread_join(thread, NULL);
	for (i = 0; i < KEPT; i++)
		free(objects[i].p);
	if (status)
		printf("# status %x\n", (unsigned)status);
	return report(++*n, "a child has whole ones, whoever was changing them", "samples",
		      !status);
}

/* A thread that has the lock may lose its processor for as long as others need to free a thousand samples. */
static int check_waiting(unsigned *n)
{
	const uint64_t lost = mtag__view.head->samples_lost;
	pthread_t thread;
	unsigned i;

	mtag_heap_word(&no_tag);
	for (i = 0; i < KEPT; i++)
		objects[i].p = malloc(ALWAYS);
	if (pthread_create(&thread, NULL, hold_lock, NULL))
		abort();
	while (sem_wait(&locked))
		;
	for (i = 0; i < KEPT; i++)
		free(objects[i].p);
	sem_post(&forked);
	pthread_join(thread, NULL);
	free(malloc(ALWAYS));
	if (still_sampled())
		printf("# %u of %u\n", still_sampled(), KEPT);
	return report(++*n, "those that are freed while another thread has the lock are gone",
		      "samples", !still_sampled() && mtag__view.head->samples_lost == lost);
}

static int check_cells(unsigned *n)
{
	mtag__view.period = SMALL_PERIOD;
	mtag__self.countdown = 0;
	return check_full(n) | check_replaced(n) | check_forked(n) | check_waiting(n);
}

/* Of the mixes that hold few bytes there are too few samples for the error of bytes to be certain. */
static int judge(unsigned *n, enum kind kind)
{
	const struct result *result = &results[kind];
	const char *name = names[kind];
	double mean = result->bias / SEEDS, error = sqrt(result->square / SEEDS / SEEDS);
	char what[80];
	int failed = 0;

	printf("# %s, %s: %u of %u within 2 standard errors, whose square is %.3f of what it should be; "
	       "off by %.3f %% +- %.3f %%\n",
	       mix->name, name, result->within, SEEDS, result->variance / result->square,
	       100 * mean, 100 * error);
	snprintf(what, sizeof(what), "%s, %s", mix->name, name);
	if (kind == NUMBER || mix == mixes)
		failed = report(++*n, "93 to 97 % are within 2 standard errors", what,
				result->within >= SEEDS * 93 / 100 &&
					result->within <= SEEDS * 97 / 100);
	return failed |
	       report(++*n, "estimates are not off on average", what, fabs(mean) < 3 * error);
}

static int check_mix(unsigned *n)
{
	int failed = 0;

	memset(results, 0, sizeof(results));
	for (unsigned seed = 1; seed <= SEEDS; seed++)
		run(seed);
	for (unsigned j = 0; j < KINDS; j++)
		failed |= judge(n, j);
	return failed;
}

int main(void)
{
	static char buffer[BUFSIZ];
	unsigned n = 0, before;
	int failed = 0;

	/* What this program itself prints is not to be a sample. */
	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	/* All objects are to lie in one mapping. */
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	heap_begin = ((uintptr_t)sbrk(0) & ~(PAGE_BYTES - 1)) - HEAP_BEFORE;
	free(malloc(1));
	mtag__view.period = PERIOD;
	before = mtag__view.table.alive;
	for (mix = mixes; mix < mixes + sizeof(mixes) / sizeof(mixes[0]); mix++)
		failed |= check_mix(&n);
	failed |= report(++n, "nothing is left of what was freed", "samples",
			 mtag__view.table.alive == before && !mtag__view.head->samples_lost);
	failed |= check_cells(&n);
	printf("1..%u\n", n);
	return failed;
}
