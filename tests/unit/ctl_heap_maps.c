// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/utf8.c ctl/parse.c ctl/stacks/stack.c ctl/model.c ctl/heaps/maps.c */
/*
 * mtagctl heap: the mappings of a process, and which of them are looked at page by page if they are
 * large.
 */
#include <stdio.h>
#include <string.h>

#include "ctl.h"
#include "ctl_tap.h"
#include "heaps/maps.h"

#define TIB (UINT64_C(1) << 40)

/* The first, third and fourth have 4 TiB, of which the third has no page resident. The last is the allocator's. */
static const char large[] = "10000000000-50000000000 rw-p 00000000 00:00 0 \n"
			    "Rss:                   4 kB\n"
			    "50000000000-50000001000 rw-p 00000000 00:00 0 \n"
			    "Rss:                   4 kB\n"
			    "50000002000-90000002000 rw-p 00000000 00:00 0 \n"
			    "Rss:                   0 kB\n"
			    "90000002000-d0000002000 rw-p 00000000 00:00 0 \n"
			    "Rss:                   4 kB\n"
			    "d0000003000-d0000103000 rw-p 00000000 00:00 0    [heap]\n"
			    "Rss:                   0 kB\n";

/*
 * Lines that begin a mapping but are not taken: of the kernel's, before one's place, empty, and not
 * of whole pages.
 */
static const char refused[] =
	"10000-14000 rw-p 00000000 00:00 0    [stack]\n"
	"Rss:                  16 kB\n"
	"Anonymous:            12 kB\n"
	"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0    [vsyscall]\n"
	"Rss:                   0 kB\n"
	"Anonymous:             0 kB\n"
	"20000-21000 rw-p 00000000 00:00 0 \n"
	"Rss:                   4 kB\n"
	"15000-16000 rw-p 00000000 00:00 0 \n"
	"Rss:                 100 kB\n"
	"30000-30000 rw-p 00000000 00:00 0 \n"
	"Rss:                 200 kB\n"
	"30000-30010 rw-p 00000000 00:00 0 \n"
	"Anonymous:           300 kB\n";

static void end_of_a_mapping(void)
{
	FILE *file = fmemopen((void *)(uintptr_t)refused, strlen(refused), "r");
	struct heap_maps maps = {0};

	ok(!heap_maps_parse(file, &maps) && maps.n == 2, "of six mappings two can be");
	ok(maps.maps[0].rss == 16 << 10 && maps.maps[0].anon == 12 << 10,
	   "what is said of [vsyscall] is not said of the stack before it");
	ok(maps.maps[1].rss == 4 << 10 && !maps.maps[1].anon, "likewise of all others");
	heap_maps_clear(&maps);
	fclose(file);
}

static void budget(void)
{
	struct heap_map map[] = {{.rss = 4096}, {.rss = 0}};
	struct heap_maps sparse = {.maps = map, .n = 2};

	ok(heap_maps_budget(&sparse) == (TIB >> 2) + 64 * 4096,
	   "a process with little in large mappings is not looked at for long");
	map[1].rss = 8 * (TIB >> 10);
	ok(heap_maps_budget(&sparse) == (TIB >> 2) + (TIB >> 1) + 64 * 4096,
	   "one that uses its memory is");
	map[1].rss = UINT64_MAX / 2;
	ok(heap_maps_budget(&sparse) == 4 * TIB, "to an end");
}

int main(void)
{
	static const bool unseen[] = {true, false, false, true, false};
	FILE *file = fmemopen((void *)(uintptr_t)large, strlen(large), "r");
	struct heap_maps maps = {0};

	ok(!heap_maps_parse(file, &maps) && maps.n == ARRAY_SIZE(unseen), "mappings of 4 TiB");
	heap_maps_limit(&maps, 4 * TIB);
	for (size_t i = 0; i < maps.n && i < ARRAY_SIZE(unseen); i++)
		ok(maps.maps[i].unseen == unseen[i],
		   unseen[i] ? "too large beside the heap" : "looked at, or nothing there");
	heap_maps_limit(&maps, 5 * TIB);
	ok(!maps.maps[0].unseen && maps.maps[3].unseen && !maps.maps[4].unseen,
	   "the first where there is room, and the heap in any case");
	heap_maps_clear(&maps);
	fclose(file);
	end_of_a_mapping();
	budget();
	return tap_end();
}
