// SPDX-License-Identifier: GPL-2.0
/* All headers in one C++ program, twice; and the layout as C++ sees it. */
#include <mtag.h>
#include <mtag.h>
#include <mtag.hpp>
#include <mtag.hpp>

#include "layout.h"
#include "uapi/linux/mtag.h"

#include <cstdio>

/* libmtag's own struct, whose size is part of its ABI. */
static_assert(sizeof(struct mtag_usage) == 32 * 8);
static_assert(offsetof(struct mtag_usage, peak_rss_bytes) == 40);
static_assert(offsetof(struct mtag_usage, shmdt_bytes) == 19 * 8);
/* Read and written at once, so it may not cross a cache line where 64 bits are aligned to 32. */
static_assert(alignof(mtag_site) == 8);
static_assert(sizeof(mtag_frame) == 2 * sizeof(void *) && sizeof(mtag_site) == 8);

int main()
{
	MTAG_SCOPE("a");
	mtag::scope scope{"b"};
	std::puts("1..1\nok 1 - the headers are C++, and the layout is the same there");
}
