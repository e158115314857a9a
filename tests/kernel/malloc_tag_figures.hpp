/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What programs written for malloc-tag share: the figures of a scope, memory of known size for it,
 * and TAP.
 */
#ifndef MALLOC_TAG_FIGURES_HPP
#define MALLOC_TAG_FIGURES_HPP

#include "malloc_tag.h"

#include <cerrno>
#include <cstring>
#include <iostream>

#include <sys/mman.h>
#include <sys/prctl.h>

static int tests, failed;
static const size_t mib = 1 << 20;

inline void ok(bool good, const std::string &name)
{
	std::cout << (good ? "" : "not ") << "ok " << ++tests << " - " << name << std::endl;
	failed |= !good;
}

/* Fresh pages of the allocator's, touched. */
inline char *take(size_t size)
{
	char *p = static_cast<char *>(malloc(size));

	memset(p, 1, size);
	return p;
}

/* Of a scope of the main thread, by its path; ~0 where there is none. */
inline size_t figure(const std::string &scope, const char *name = "nBytesSelfAllocated")
{
	MallocTagStatMap_t stats = MallocTagEngine::collect_stats();
	std::string key = MallocTagEngine::get_stat_key_prefix_for_thread() +
			  program_invocation_short_name + "." + scope + "." + name;

	return stats.count(key) ? stats[key] : ~size_t{0};
}

inline size_t failures()
{
	return MallocTagEngine::collect_stats()[".nPushNodeFailures"];
}

/* Fresh pages of the kernel's, touched: exactly as many. */
inline char *map_pages(size_t size)
{
	void *p = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return nullptr;
	madvise(p, size, MADV_NOHUGEPAGE);
	memset(p, 1, size);
	return static_cast<char *>(p);
}

inline bool about(size_t got, size_t want)
{
	/* What malloc puts around a block, and its pages at both ends. */
	return got >= want && got <= want + 16384;
}

/* True if this process is tracked, and so has figures. */
inline bool begin()
{
	const bool tracked = MallocTagEngine::init();

	/* No page is larger than what was asked for. */
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	/* Each block comes from the kernel and returns to it. */
	mallopt(M_MMAP_THRESHOLD, 65536);
	return tracked;
}

/* What main() returns. */
inline int end()
{
	std::cout << "1.." << tests << std::endl;
	return failed;
}

#endif
