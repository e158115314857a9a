// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * An allocator that lacks malloc_usable_size(), as glibc's libmemusage.so does: the program gets
 * the C library's.
 */
#include <stddef.h>

void *__libc_malloc(size_t size);
void __libc_free(void *p);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size)
{
	return __libc_malloc(size);
}

void free(void *p)
{
	__libc_free(p);
}

void *calloc(size_t n, size_t size)
{
	return __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	return __libc_realloc(p, size);
}

int posix_memalign(void **p, size_t alignment, size_t size)
{
	*p = __libc_memalign(alignment, size);
	return *p ? 0 : 12;
}
