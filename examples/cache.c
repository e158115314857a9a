// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A cache that shrinks itself: it is told by the page fault that makes its tag reach the limit, and
 * gives its oldest entries back. Nothing is polled but a descriptor, between two entries.
 *
 *	cache [LIMIT_MIB [FILL_MIB]]
 */
#include <mtag.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#define MIB   (1UL << 20)
#define ENTRY (64 * 1024UL)

struct cache {
	mtag_t tag;
	int told;
	char **entries; /* a ring, from the oldest on */
	size_t room, oldest, used;
};

static void drop_oldest(struct cache *c)
{
	/* Not free(): an allocator may keep what it is given back, which then stays resident. */
	munmap(c->entries[c->oldest], ENTRY);
	c->oldest = (c->oldest + 1) % c->room;
	c->used--;
}

/* Gives a quarter back. */
static void shrink(struct cache *c)
{
	for (size_t n = c->used / 4 + 1; n && c->used; n--)
		drop_oldest(c);
}

static int add(struct cache *c, int value)
{
	mtag_t before = mtag_enter(c->tag);
	char *entry = mmap(NULL, ENTRY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t times;

	if (entry != MAP_FAILED)
		memset(entry, value, ENTRY);
	mtag_leave(before);
	if (entry == MAP_FAILED)
		return -1;
	if (c->used == c->room)
		drop_oldest(c);
	c->entries[(c->oldest + c->used++) % c->room] = entry;
	if (read(c->told, &times, sizeof(times)) == sizeof(times))
		shrink(c);
	return 0;
}

int main(int argc, char **argv)
{
	size_t limit = (argc > 1 ? strtoul(argv[1], NULL, 10) : 16) * MIB;
	size_t fill = (argc > 2 ? strtoul(argv[2], NULL, 10) : 256) * MIB;
	struct cache c = {.room = fill / ENTRY + 1};
	struct mtag_usage usage;
	int err;

	c.tag = mtag_child(MTAG_UNTAGGED, "cache");
	c.told = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	c.entries = calloc(c.room, sizeof(*c.entries));
	if (c.told < 0 || !c.entries)
		return 1;
	/* An entry below the limit: the one under way when it is told still fits. */
	err = mtag_notify(c.tag, limit - ENTRY, c.told);
	if (err)
		fprintf(stderr, "cache: not limited: %s\n", strerror(-err));
	for (size_t i = 0; i < fill / ENTRY; i++)
		if (add(&c, (int)i))
			return 1;
	mtag_usage(c.tag, &usage);
	printf("filled with %zu MiB, limit %zu MiB: has %.1f MiB, had at most %.1f MiB\n",
	       fill / MIB, limit / MIB, (double)usage.rss_bytes / MIB,
	       (double)usage.peak_rss_bytes / MIB);
	return usage.peak_rss_bytes > limit;
}
