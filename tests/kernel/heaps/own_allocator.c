// SPDX-License-Identifier: GPL-2.0
/*
 * No test of its own: a program of t_heap_programs.sh. Built with -DOWN it is a program that has an
 * allocator linked into it, under the names of the C library's. That lacks aligned_alloc(3), which
 * with -DPARTLY is called, too. Prints "ready" when all is allocated.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void *aligned_alloc(size_t alignment, size_t size);

#ifdef OWN
#define HEADER 16 /* before an object: its size */

static char room[1 << 24] __attribute__((aligned(16)));
static size_t used;

void *malloc(size_t size)
{
	void *p = room + used + HEADER;

	memcpy(room + used, &size, sizeof(size));
	used += (size + 31) & ~15UL;
	return p;
}

void free(void *p)
{
	(void)p;
}

void *calloc(size_t n, size_t size)
{
	return memset(malloc(n * size), 0, n * size);
}

void *realloc(void *p, size_t size)
{
	size_t old = 0;
	void *q = malloc(size);

	if (p)
		memcpy(&old, (char *)p - HEADER, sizeof(old));
	return memcpy(q, p ? p : q, old < size ? old : size);
}

void *memalign(size_t alignment, size_t size)
{
	(void)alignment;
	return malloc(size);
}

void *tc_malloc(size_t size)
{
	return malloc(size);
}
#else
void *malloc(size_t size);
#endif

int main(void)
{
#ifdef PARTLY
	memset(aligned_alloc(64, 1 << 20), 1, 1 << 20);
#endif
	for (int i = 0; i < 1000; i++)
		memset(malloc(5000), 1, 5000);
	puts("ready");
	fflush(stdout);
	return pause();
}
