// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/utf8.c ctl/parse.c ctl/stacks/stack.c ctl/model.c ctl/heaps/maps.c */
/* mtagctl heap: which mappings of a process that has made them large are looked at page by page. */
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
	return tap_end();
}
