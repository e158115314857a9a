// SPDX-License-Identifier: GPL-2.0
/*
 * A program written for malloc-tag, with libmtag-heap preloaded, which counts exactly: it finds the
 * figures of malloc() and free() that malloc-tag has. t_malloc_tag.sh runs it.
 */
#include "malloc_tag_figures.hpp"

static bool counted(const std::string &scope, size_t asked, size_t freed, size_t mallocs,
		    size_t frees)
{
	return figure(scope, "nBytesSelfAllocated") == asked &&
	       figure(scope, "nBytesSelfFreed") == freed &&
	       figure(scope, "nCallsTo_malloc") == mallocs &&
	       figure(scope, "nCallsTo_free") == frees;
}

static void heap_figures()
{
	/* The compiler leaves out what nobody looks at. */
	void *volatile p[3];

	{
		MallocTagScope scope("asks");
		for (size_t i = 0; i < 3; i++)
			p[i] = malloc(1000 + i);
	}
	ok(counted("asks", 3003, 0, 3, 0), "what a scope asked malloc for, to the byte");
	{
		MallocTagScope scope("frees");
		free(p[0]);
	}
	ok(counted("asks", 3003, 1000, 3, 1), "what is freed elsewhere is its own");
	ok(counted("frees", 0, 0, 0, 0), "not the other's");
	ok(figure("asks", "nBytesSelf") < mib, "what is resident is there as well");
	free(p[1]);
	free(p[2]);
	ok(counted("asks", 3003, 3003, 3, 3), "in the end all is freed");
}

int main()
{
	ok(begin(), "the program is tracked");
	heap_figures();
	return end();
}
