// SPDX-License-Identifier: GPL-2.0
/*
 * No test of its own: a program of t_heap_retained.sh. It frees nearly all of what it has allocated, in two threads, and
 * prints "filled". Then it does what lines say. At "ask" it waits until its allocator may be asked again, and prints
 * "ready SAYS STUCK", what the allocator itself says that it keeps free, and how much of this cannot be given back, as it
 * does not fill whole pages. At "release" it lets the allocator give back to the kernel all that it can, and prints by how
 * much that has lowered its RSS.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define OBJECTS 20480 /* of each thread */
#define SIZE	1000
#define STAYS	256 /* each so many-th stays, and the last one */
#define PAGE	4096

static int (*ctl)(const char *name, void *old, size_t *old_len, void *new, size_t new_len);
static int (*property)(const char *name, size_t *value);
static void (*release_free)(void);
static sem_t filled;
static FILE *info; /* for what glibc prints, with a buffer of its own */

static void *fill_and_free(void *arg)
{
	static char *objects[2][OBJECTS];
	char **p = objects[!!arg];

	for (int i = 0; i < OBJECTS; i++)
		p[i] = memset(malloc(SIZE), 1, SIZE);
	for (int i = 0; i < OBJECTS; i++)
		if (i % STAYS != STAYS - 1)
			free(p[i]);
	if (!arg)
		return NULL;
	sem_post(&filled);
	for (;;)
		pause();
}

/* ---- what the allocator says ---- */

static size_t jemalloc_says(const char *name)
{
	size_t value = 0, len = sizeof(value);

	if (ctl(name, &value, &len, NULL, 0))
		abort();
	return value;
}

static size_t tcmalloc_says(const char *name)
{
	size_t value;

	if (!property(name, &value))
		abort();
	return value;
}

/* The last lines of malloc_info(3) are those of all arenas. */
static size_t glibc_says(void)
{
	size_t size, fast = 0, rest = 0;
	char line[256];

	rewind(info);
	malloc_info(0, info);
	rewind(info);
	while (fgets(line, sizeof(line), info)) {
		if (sscanf(line, "<total type=\"fast\" count=\"%*u\" size=\"%zu\"", &size) == 1)
			fast = size;
		if (sscanf(line, "<total type=\"rest\" count=\"%*u\" size=\"%zu\"", &size) == 1)
			rest = size;
	}
	return fast + rest;
}

static void tell(void)
{
	size_t epoch = 1, says, stuck;

	if (ctl) {
		ctl("epoch", NULL, NULL, &epoch, sizeof(epoch));
		stuck = jemalloc_says("stats.active") - jemalloc_says("stats.allocated");
		says = stuck + jemalloc_says("stats.arenas.4096.pdirty") * PAGE;
	} else if (property) {
		stuck = tcmalloc_says("tcmalloc.central_cache_free_bytes") +
			tcmalloc_says("tcmalloc.transfer_cache_free_bytes") +
			tcmalloc_says("tcmalloc.current_total_thread_cache_bytes");
		says = stuck + tcmalloc_says("tcmalloc.pageheap_free_bytes");
	} else {
		/* A part of a page on either side of each object that stays. */
		stuck = 2 * PAGE * 2 * (OBJECTS / STAYS);
		says = glibc_says();
	}
	printf("ready %zu %zu\n", says, stuck);
}

/* ---- what the kernel says ---- */

static long rss(void)
{
	static char text[4096];
	int fd = open("/proc/self/smaps_rollup", O_RDONLY);
	ssize_t n = read(fd, text, sizeof(text) - 1);
	const char *line = n > 0 ? strstr(text, "\nRss:") : NULL;

	close(fd);
	if (!line)
		abort();
	return atol(line + 5) * 1024;
}

static void release(void)
{
	if (ctl)
		ctl("arena.4096.purge", NULL, NULL, NULL, 0);
	else if (release_free)
		release_free();
	else
		malloc_trim(0);
}

int main(void)
{
	static char out[BUFSIZ], buffer[BUFSIZ];
	char line[16];
	pthread_t thread;

	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	setvbuf(stdout, out, _IOLBF, sizeof(out));
	info = fdopen(memfd_create("info", 0), "w+");
	setvbuf(info, buffer, _IOFBF, sizeof(buffer));
	*(void **)&ctl = dlsym(RTLD_DEFAULT, "mallctl");
	*(void **)&property = dlsym(RTLD_DEFAULT, "MallocExtension_GetNumericProperty");
	*(void **)&release_free = dlsym(RTLD_DEFAULT, "MallocExtension_ReleaseFreeMemory");
	if (!info || pthread_create(&thread, NULL, fill_and_free, info))
		return 1;
	/* One after the other, so that neither's samples are lost to the other's lock. */
	sem_wait(&filled);
	fill_and_free(NULL);
	puts("filled");
	while (read(0, line, sizeof(line)) > 0) {
		long before;

		if (*line == 'a') {
			/* The library asks at a sample, which this is, when a second has passed. */
			usleep(1500000);
			memset(malloc(1 << 20), 1, 1 << 20);
			tell();
			continue;
		}
		before = rss();
		release();
		printf("released %ld\n", before - rss());
	}
	return 0;
}
