// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Forks, with libmtag-heap preloaded. Prints what is still sampled of what handlers.c has freed, in the parent and in
 * the child, how many samples are lost, and how many of the children after that took the same samples as the first.
 */
#include <string.h>
#include <sys/wait.h>

#include "../reader.h"

#define CHILDREN 8
#define OBJECTS	 2000
#define BYTES	 500

extern void *handlers_freed[3];
static void *objects[OBJECTS];

/* Without an allocation. */
static bool sampled(const struct reader *reader, const void *p)
{
	struct mtag_heap_sample sample;
	uint32_t i;

	for (i = 0; i < reader->head.samples_used; i++)
		if (reader_get(reader, reader->head.samples_at + i * sizeof(sample), &sample,
			       sizeof(sample)) &&
		    sample.address == (uintptr_t)p)
			return true;
	return false;
}

/*
 * Which of the handlers' objects are alive, as bits, and how many samples have been lost. The library looks again when it
 * takes the next sample.
 */
static int alive(uint64_t *lost)
{
	struct reader reader;
	int i, bits = 0;

	free(malloc(1 << 20));
	if (!reader_open(&reader, getpid()))
		return 1 << 3;
	for (i = 0; i < 3; i++)
		bits |= sampled(&reader, handlers_freed[i]) << i;
	*lost = reader.head.samples_lost;
	reader_close(&reader);
	return bits;
}

static void write_samples(int out)
{
	struct reader reader;
	char taken[OBJECTS];
	int i;

	for (i = 0; i < OBJECTS; i++)
		objects[i] = malloc(BYTES);
	if (!reader_open(&reader, getpid()))
		_exit(1);
	for (i = 0; i < OBJECTS; i++)
		taken[i] = sampled(&reader, objects[i]);
	_exit(write(out, taken, sizeof(taken)) != sizeof(taken));
}

static int same_samples(void)
{
	static char taken[CHILDREN][OBJECTS];
	int i, fds[2], same = 0;

	for (i = 0; i < CHILDREN; i++) {
		if (pipe(fds))
			return -1;
		if (!fork())
			write_samples(fds[1]);
		close(fds[1]);
		if (read(fds[0], taken[i], OBJECTS) != OBJECTS)
			return -1;
		close(fds[0]);
		wait(NULL);
		same += i && !memcmp(taken[i], taken[0], OBJECTS);
	}
	return same;
}

int main(void)
{
	uint64_t lost;
	int status = 0, before = alive(&lost), after;

	if (!fork())
		_exit(alive(&lost));
	wait(&status);
	after = alive(&lost);
	printf("%d, then %d in the parent and %d in its child; %d lost; ", before, after,
	       WEXITSTATUS(status), (int)lost);
	handlers_freed[0] = handlers_freed[1] = handlers_freed[2] = NULL;
	printf("%d took the same\n", same_samples());
	return 0;
}
