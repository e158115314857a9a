// SPDX-License-Identifier: GPL-2.0
/*
 * A program whose heap is known, for t_heap_view.sh: it fills, fragments, frees in another thread and never touches, under
 * tags. Prints a line for each tag, "TAG ASKED ALLOCATED OBJECTS RESIDENT", the truth as malloc_usable_size() and pagemap
 * have it, and waits for the end of its input.
 */
#include <malloc.h>
#include "lib/test.h"

#define MOST 8192

static struct {
	void *object;
	size_t asked;
} kept[3][MOST];

static const char *const names[] = {"a", "b", "c"};
static mtag_t tags[3];

static void keep(int tag, size_t n, size_t size, size_t touched)
{
	mtag_t before = mtag_enter(tags[tag]);

	for (size_t i = 0; n; i++) {
		if (kept[tag][i].object)
			continue;
		kept[tag][i].object = memset(malloc(size), 1, touched);
		kept[tag][i].asked = size;
		n--;
	}
	mtag_leave(before);
}

/* Frees each other one of a tag's first @n objects. */
static void drop(int tag, size_t n)
{
	for (size_t i = 0; i < n; i += 2) {
		free(kept[tag][i].object);
		kept[tag][i].object = NULL;
	}
}

static void *drop_elsewhere(void *unused)
{
	(void)unused;
	drop(1, 2000);
	return NULL;
}

static uint64_t resident_of(const char *object, size_t bytes)
{
	uint64_t first = (uintptr_t)object / PG, end = ((uintptr_t)object + bytes + PG - 1) / PG;
	uint64_t *word = calloc(end - first, sizeof(*word)), resident = 0;

	pagemap((const void *)(first * PG), end - first, word);
	for (uint64_t i = first; i < end; i++) {
		uint64_t from = i * PG, to = from + PG;

		from = from > (uintptr_t)object ? from : (uintptr_t)object;
		to = to < (uintptr_t)object + bytes ? to : (uintptr_t)object + bytes;
		resident += word[i - first] & PAGEMAP_PRESENT ? to - from : 0;
	}
	free(word);
	return resident;
}

static void tell(int tag)
{
	uint64_t asked = 0, allocated = 0, objects = 0, resident = 0;

	for (size_t i = 0; i < MOST; i++) {
		size_t usable = malloc_usable_size(kept[tag][i].object);

		if (!kept[tag][i].object)
			continue;
		objects++;
		asked += kept[tag][i].asked;
		allocated += usable;
		resident += resident_of(kept[tag][i].object, usable);
	}
	printf("%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", names[tag], asked, allocated,
	       objects, resident);
}

int main(void)
{
	/* What this program itself needs is allocated untagged. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 0; i < 3; i++)
		tags[i] = tag(names[i]);
	keep(0, 4000, 9000, 9000);	/* small ones */
	keep(0, 1, 48 * MIB, 24 * MIB); /* a large one, of which a half is touched */
	keep(1, 4000, 5000, 5000);
	keep(1, 100, 200 * KIB, 1);	 /* mapped alone, and hardly touched */
	in_thread(drop_elsewhere, NULL); /* freed by a thread that allocated none of it */
	drop(0, 4000);
	keep(2, 1500, 8500, 8500); /* fits into what a has freed, on pages that a touched */
	for (int i = 0; i < 3; i++)
		tell(i);
	puts("ready");
	while (getchar() != EOF)
		;
	return 0;
}
