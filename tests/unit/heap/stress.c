// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * stress ROUNDS: threads that allocate in all ways, pass objects on to each other, and are interrupted by
 * signals, while others fork and children do the same. Each byte of an object is checked before the
 * object is freed. What it prints does not depend on the allocator, or on time.
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

#define THREADS 6
#define SHARED	4096

struct object {
	size_t size;
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

static void *get(size_t size, uint32_t way)
{
	void *p = NULL;

	switch (way % 12) {
	case 0:
		return calloc(1, size);
	case 1:
		return memalign((size_t)16 << way % 9, size);
	case 2:
		return aligned_alloc(64, (size + 63) & ~(size_t)63);
	case 3:
		return posix_memalign(&p, 128, size) ? NULL : p;
	case 4:
		return valloc(size);
	case 5:
		return realloc(malloc(size / 2 + 1), size);
	case 6:
		return reallocarray(NULL, size, 1);
	default:
		return malloc(size);
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
	size_t size = size_of(next(state));
	struct object *object = get(sizeof(*object) + size, next(state));

	if (!object)
		abort();
	object->size = size;
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
	if (size > old)
		memset(object->bytes + old, object->fill, size - old);
	return object;
}

static void churn(uint32_t seed, unsigned rounds)
{
	uint32_t state = seed;
	struct object *object;

	while (rounds--) {
		object = make(&state);
		if (next(&state) % 4 == 0)
			object = resize(object, &state);
		object = atomic_exchange(&shared[next(&state) % SHARED], object);
		check(object);
		free(object);
	}
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

			interrupt();
			churn(1000 + i, rounds_wanted / 20);
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
	for (i = 0; i < SHARED; i++) {
		check(shared[i]);
		free(shared[i]);
	}
	printf("broken %lu, interrupted %s\n", (unsigned long)broken, signals ? "yes" : "no");
	return broken != 0;
}
