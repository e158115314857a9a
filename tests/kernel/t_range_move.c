// SPDX-License-Identifier: GPL-2.0
/*
 * A call that moves many ranges takes no longer than they took to make, with or without room for them where they go:
 * it holds mmap_lock, and no signal ends it.
 */
/* vm: group=plain timeout=300 repairs=1 */
#include "lib/keepers.h"
#include "lib/test.h"

#define MOST 8192

/* Gives a page of each tag in turn, until that is refused. Returns the number of pages. */
static unsigned int alternate(char *p, unsigned int pages, const int *ids)
{
	struct mtag_ioc_range r = {.size = sizeof(r), .len = PG};

	for (unsigned int n = 0; n < pages; n++) {
		r.addr = (uintptr_t)p + n * PG;
		r.tag = ids[n % 2];
		if (mtag_ioctl(MTAG_IOC_RANGE, &r))
			return n;
	}
	return pages;
}

static void move(unsigned int pages, bool room)
{
	size_t len = (MOST + 1) * PG;
	char *p = must(mmap(NULL, 2 * len, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
	int ids[] = {tag("even"), tag("odd")};
	uint64_t lost = health("lost");
	double began = now(), gave, moved;
	unsigned int n = alternate(p, pages, ids);

	gave = now() - began;
	touch(ids[0], p, PG);
	ok(n == pages || (n > MOST - 4 && n <= MOST), "%u ranges are given", n);
	began = now();
	must(mremap(p, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, p + len));
	moved = now() - began;
	ok(moved < gave, "moving them takes no longer: %.0f and %.0f ms", 1000 * moved,
	   1000 * gave);
	is(health("lost") > lost, !room, "%s", room ? "no tag is lost" : "their tags are lost");
	exact("and the process is exact");
}

int main(void)
{
	need_root();
	set_limit("max_ranges", MOST);
	in_child {
		begin();
		move(MOST / 2 - 8, true);
	}
	in_child {
		begin();
		move(MOST + 1, false);
	}
	set_limit("max_ranges", 65536);
	return done();
}
