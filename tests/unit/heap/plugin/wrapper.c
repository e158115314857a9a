// SPDX-License-Identifier: LGPL-2.1-or-later
/* A program with a malloc() of its own, which puts a header before each object, around the C library's. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define HEADER 16
#define MAGIC  0x6d746167u

static void *(*next_realloc)(void *p, size_t size);
static void (*next_free)(void *p);

static void *with_header(char *p)
{
	if (!p)
		return NULL;
	*(uint32_t *)p = MAGIC;
	return p + HEADER;
}

void *malloc(size_t size)
{
	if (!next_realloc) {
		*(void **)&next_realloc = dlsym(RTLD_NEXT, "realloc");
		*(void **)&next_free = dlsym(RTLD_NEXT, "free");
	}
	return with_header(next_realloc(NULL, size + HEADER));
}

void free(void *p)
{
	if (p && *(uint32_t *)((char *)p - HEADER) != MAGIC)
		__builtin_trap();
	next_free(p ? (char *)p - HEADER : NULL);
}

void *calloc(size_t n, size_t size)
{
	void *p = malloc(n * size);

	return p ? memset(p, 0, n * size) : NULL;
}

void *realloc(void *p, size_t size)
{
	if (!p)
		return malloc(size);
	return with_header(next_realloc((char *)p - HEADER, size + HEADER));
}

int main(void)
{
	char *p = malloc(100), *q;

	p = realloc(p, 100000);
	q = realloc(NULL, 50);
	free(p);
	free(q);
	puts("good");
	return 0;
}
