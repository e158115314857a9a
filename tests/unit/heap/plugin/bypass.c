// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Prints whether libmtag-heap knows that malloc() is the program's own, and how many allocations it
 * has seen. OWN: it is, for some of the functions; ADDRESS: it is not, but the program has a symbol
 * of that name.
 */
#include "../reader.h"

#ifdef OWN
void *__libc_malloc(size_t size);

void *malloc(size_t size)
{
	return __libc_malloc(size);
}
#endif

int main(void)
{
	struct reader reader;
#ifdef ADDRESS
	void *(*volatile allocate)(size_t size) = malloc;
#endif

	free(memset(calloc(1, 1 << 20), 1, 1 << 20));
#ifdef ADDRESS
	free(allocate(1 << 20));
#endif
	if (!reader_open(&reader, getpid()))
		return 1;
	printf("%s, %s\n", reader.head.flags & MTAG_HEAP_BYPASSED ? "bypassed" : "not bypassed",
	       reader.head.seen ? "seen" : "none seen");
	return 0;
}
