// SPDX-License-Identifier: GPL-2.0
/* Has libmtag-heap.so preloaded into the program that this one becomes. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ctl.h"
#include "fail.h"
#include "heaps/load.h"
#include "heaps/preload.h"
#include "stacks/needed.h"

#define LIBRARY "libmtag-heap.so"

/* Where the library is, seen from the directory of mtagctl: installed, of a Debian package, in the source tree. */
static const char *const places[] = {"../lib/" LIBRARY, "../lib/x86_64-linux-gnu/" LIBRARY};

/* The library that belongs to this mtagctl, NULL if there is none. Caller frees it. */
static char *find_library(void)
{
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (length < 0)
		return NULL;
	self[length] = '\0';
	slash = strrchr(self, '/');
	for (size_t i = 0; slash && i < ARRAY_SIZE(places); i++) {
		_cleanup_(freep) char *path = NULL;
		char *found;

		*slash = '\0';
		if (asprintf(&path, "%s/%s", self, places[i]) < 0) {
			path = NULL;
			return NULL;
		}
		found = realpath(path, NULL);
		if (found)
			return found;
	}
	return NULL;
}

static int set_environment(const char *library, bool exact)
{
	const char *before = getenv("LD_PRELOAD");
	_cleanup_(freep) char *all = NULL;

	if (asprintf(&all, "%s%s%s", library, before && *before ? ":" : "", before ? before : "") <
	    0) {
		all = NULL;
		return fail_memory();
	}
	if (setenv("LD_PRELOAD", all, 1) || setenv("MTAG_HEAP", exact ? "exact" : "sampled", 1))
		return fail_memory();
	return CTL_OK;
}

int heap_preload(const char *command, bool exact)
{
	_cleanup_(freep) char *library = find_library(), *program = NULL;

	if (!library) {
		fail_print("run: cannot find " LIBRARY " in ../lib beside mtagctl: it comes with "
			   "libmtag");
		return CTL_REFUSED;
	}
	if (strpbrk(library, ": ")) {
		fail_print("run: the dynamic linker cannot preload '%s': there is a blank or a "
			   "colon in the path",
			   library);
		return CTL_REFUSED;
	}
	program = needed_find(command);
	if (program && heap_is_static(program))
		fail_print("run: %s is linked statically: no library can come between it and its "
			   "allocator, and there will be no heap view",
			   program);
	return set_environment(library, exact);
}
