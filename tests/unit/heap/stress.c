// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * stress ROUNDS: threads that allocate in all ways, pass objects on to each other, and are
 * interrupted by signals, while others fork and children do the same. Each byte of an object is
 * checked before the object is freed. In the end the library's counts are those of what is left,
 * and of nothing when that is freed; in children what they add is. What it prints does not depend
 * on the allocator, or on time.
 *
 * link: -pthread
 */
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reader.h"

#define THREADS 6
#define SHARED	4096
#define TAG	30

/* As libmtag calls it; and what C23 has. */
__attribute__((weak)) void mtag_heap_word(const uint32_t *word);
__attribute__((weak)) void free_sized(void *p, size_t size);
__attribute__((weak)) void free_aligned_sized(void *p, size_t alignment, size_t size);

static const uint32_t tag = TAG, no_tag;

/* @asked: bytes of all of it; @alignment: that was asked for, or 0 */
struct object {
	size_t size, asked, alignment;
	unsigned char fill, bytes[];
};

static _Atomic(struct object *) shared[SHARED];
static atomic_ulong signals, broken;

static uint32_t next(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

/* Allocates nothing: most allocators cannot be called in the midst of themselves. */
static void on_signal(int signal)
{
	(void)signal;
	signals++;
}

static void *get(size_t *size, size_t *alignment, uint32_t way)
{
	void *p = NULL;

	*alignment = 0;
	switch (way % 12) {
	case 0:
		return calloc(1, *size);
	case 1:
		*alignment = (size_t)16 << way % 9;
		return memalign(*alignment, *size);
	case 2:
		*alignment = 64;
		*size = (*size + 63) & ~(size_t)63;
		return aligned_alloc(64, *size);
	case 3:
		*alignment = 128;
		return posix_memalign(&p, 128, *size) ? NULL : p;
	case 4:
		*alignment = (size_t)sysconf(_SC_PAGESIZE);
		return valloc(*size);
	case 5:
		return realloc(malloc(*size / 2 + 1), *size);
	case 6:
		return reallocarray(NULL, *size, 1);
	default:
		return malloc(*size);
	}
}

static size_t size_of(uint32_t random)
{
	unsigned kind = random % 64;

	if (!kind)
		return 100000 + random % 400000;
	return kind < 8 ? random % 20000 : random % 400;
}

static struct object *make(uint32_t *state)
{
	size_t size = size_of(next(state)), asked = sizeof(struct object) + size, alignment;
	struct object *object = get(&asked, &alignment, next(state));

	if (!object)
		abort();
	object->size = size;
	object->asked = asked;
	object->alignment = alignment;
	object->fill = (unsigned char)next(state);
	memset(object->bytes, object->fill, size);
	return object;
}

static int good(const struct object *object)
{
	size_t i;

	for (i = 0; i < object->size; i++)
		if (object->bytes[i] != object->fill)
			return 0;
	return malloc_usable_size((void *)object) >= sizeof(*object) + object->size;
}

static void check(struct object *object)
{
	if (object && !good(object))
		broken++;
}

static struct object *resize(struct object *object, uint32_t *state)
{
	size_t size = size_of(next(state)), old = object->size;

	object = realloc(object, sizeof(*object) + size);
	if (!object)
		abort();
	object->size = size;
	object->asked = sizeof(*object) + size;
	object->alignment = 0;
	if (size > old)
		memset(object->bytes + old, object->fill, size - old);
	return object;
}

/* As C has it since 2023, too. */
static void release(struct object *object, uint32_t way)
{
	check(object);
	if (!object || way % 3)
		free(object);
	else if (object->alignment)
		free_aligned_sized(object, object->alignment, object->asked);
	else
		free_sized(object, object->asked);
}

static void churn(uint32_t seed, unsigned rounds)
{
	uint32_t state = seed;
	struct object *object;

	mtag_heap_word(&tag);
	while (rounds--) {
		object = make(&state);
		if (next(&state) % 4 == 0)
			object = resize(object, &state);
		object = atomic_exchange(&shared[next(&state) % SHARED], object);
		release(object, next(&state));
	}
}

/* ---- what the library has counted ---- */

static struct reader reader;

/*
 * Bytes and objects that the library has of the tag, beyond those that are shared: 0 while no
 * thread has any.
 */
static struct mtag_heap_cell surplus(void)
{
	struct mtag_heap_cell sum = reader_cell(&reader, TAG);
	unsigned i;

	for (i = 0; i < SHARED; i++) {
		if (!shared[i])
			continue;
		sum.asked_out += shared[i]->asked;
		sum.allocated_out += malloc_usable_size(shared[i]);
		sum.objects_out++;
	}
	sum.asked_in -= sum.asked_out;
	sum.allocated_in -= sum.allocated_out;
	sum.objects_in -= sum.objects_out;
	return sum;
}

static void compare(struct mtag_heap_cell is, struct mtag_heap_cell was)
{
	if (reader.head.mode != MTAG_HEAP_EXACT)
		return;
	if (is.asked_in == was.asked_in && is.allocated_in == was.allocated_in &&
	    is.objects_in == was.objects_in)
		return;
	broken++;
	printf("counts: %lld bytes, %lld allocated, %lld objects too many\n",
	       (long long)(is.asked_in - was.asked_in),
	       (long long)(is.allocated_in - was.allocated_in),
	       (long long)(is.objects_in - was.objects_in));
}

/* Of what was sampled and is freed nothing is left, but for what is said to be lost. */
static void compare_samples(void)
{
	struct alive alive;

	mtag_heap_word(&no_tag);
	/* What is freed may wait for the next sample. */
	free(malloc(64 << 20));
	alive = reader_alive(&reader, TAG);
	if (alive.n <= reader.head.samples_lost && !alive.bad)
		return;
	broken++;
	printf("samples: %u of what is freed, %u bad\n", alive.n, alive.bad);
}

static unsigned rounds_wanted;

static void *run(void *arg)
{
	churn((uint32_t)(uintptr_t)arg, rounds_wanted);
	return NULL;
}

/* Short-lived threads, in the parent and in children. */
static void *come_and_go(void *arg)
{
	pthread_t thread;
	unsigned i;

	for (i = 0; i < rounds_wanted / 2000 + 1; i++) {
		if (pthread_create(&thread, NULL, run, (void *)(uintptr_t)(i + 77)))
			abort();
		pthread_join(thread, NULL);
	}
	return arg;
}

static void interrupt(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	struct itimerval timer = {{0, 2000}, {0, 2000}};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

static void fork_children(void)
{
	unsigned i, children = 20;
	int status;
	pid_t pid;

	for (i = 0; i < children; i++) {
		pid = fork();
		if (!pid) {
			unsigned long before = broken;
			struct mtag_heap_cell was;

			if (!reader_open(&reader, getpid()))
				_exit(2);
			/* The other threads' objects are nobody's here. */
			was = surplus();
			interrupt();
			churn(1000 + i, rounds_wanted / 20);
			compare(surplus(), was);
			fflush(stdout);
			_exit(broken != before);
		}
		while (waitpid(pid, &status, 0) < 0)
			;
		if (status)
			printf("child %u: status %d\n", i, status);
	}
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS], brief;
	uintptr_t i;

	rounds_wanted = argc > 1 ? (unsigned)atoi(argv[1]) : 20000;
	/* What the C library needs for output is of no tag. */
	printf("%s", "");
	interrupt();
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, run, (void *)(i + 1)))
			abort();
	if (pthread_create(&brief, NULL, come_and_go, NULL))
		abort();
	fork_children();
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_join(brief, NULL);
	if (!reader_open(&reader, getpid()))
		return 2;
	compare(surplus(), (struct mtag_heap_cell){0});
	for (i = 0; i < SHARED; i++)
		release(atomic_exchange(&shared[i], NULL), (uint32_t)i);
	compare(surplus(), (struct mtag_heap_cell){0});
	compare_samples();
	printf("broken %lu, interrupted %s%s\n", (unsigned long)broken, signals ? "yes" : "no",
	       reader.head.mode == MTAG_HEAP_EXACT ? ", counted" : "");
	return broken != 0;
}
