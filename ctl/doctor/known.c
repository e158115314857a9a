// SPDX-License-Identifier: GPL-2.0
/*
 * The kernels that the module knows, and the functions that it needs in each: its own lists, in
 * kmod/compat/. The Makefile makes known_lists.h of their names, oldest first:
 *
 *   LIST(6, 12)
 *   #include "kmod/compat/functions-6.12.h"
 *   END
 */
#include <stdio.h>
#include <stdlib.h>

#include "ctl.h"
#include "doctor/known.h"

#define HOOK(function, ...)
#define CALLED(function, ...)
#define CALLER(function, ...)
#define PART(function, ...)
#define LIST(major, minor) {major, minor, #major "." #minor},
#define END
static const struct known all[] = {
#include "known_lists.h"
};
#undef HOOK
#undef LIST
#undef END

#define LIST(major, minor)
#define END		    "",
#define HOOK(function, ...) function " "
static const char *const small_hooks[] = {
#include "known_lists.h"
};
#define CONFIG_TRANSPARENT_HUGEPAGE 1
static const char *const huge_hooks[] = {
#include "known_lists.h"
};
#undef HOOK
#undef CALLER

#define HOOK(function, ...)
#define CALLER(function, ...) function " "
static const char *const huge_callers[] = {
#include "known_lists.h"
};
#undef CONFIG_TRANSPARENT_HUGEPAGE
static const char *const small_callers[] = {
#include "known_lists.h"
};

static bool read_version(const char *release, unsigned int *major, unsigned int *minor)
{
	return sscanf(release, "%3u.%4u", major, minor) == 2;
}

/* Versions in the order of their releases: 7.0 followed 6.19. */
static long number_of(unsigned int major, unsigned int minor)
{
	return (long)major * 20 + minor;
}

/* Of two as near it is the older: what a kernel has it mostly has of its predecessors. */
const struct known *known_nearest(const char *release)
{
	const struct known *nearest = NULL;
	unsigned int major, minor;
	long least = 0;

	if (!read_version(release, &major, &minor))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		long far = labs(number_of(all[i].major, all[i].minor) - number_of(major, minor));

		if (nearest && far >= least)
			continue;
		nearest = &all[i];
		least = far;
	}
	return nearest;
}

bool known_is(const char *release)
{
	unsigned int major, minor;

	if (!read_version(release, &major, &minor))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i].major == major && all[i].minor == minor)
			return true;
	return false;
}

void known_list(char *buf, size_t size)
{
	size_t len = 0;

	for (size_t i = 0; i < ARRAY_SIZE(all) && len < size; i++)
		len += (size_t)snprintf(buf + len, size - len, "%s%s",
					!i			   ? ""
					: i + 1 == ARRAY_SIZE(all) ? " and "
								   : ", ",
					all[i].name);
}

const char *known_hooks(const struct known *known, bool huge)
{
	return (huge ? huge_hooks : small_hooks)[known - all];
}

const char *known_callers(const struct known *known, bool huge)
{
	return (huge ? huge_callers : small_callers)[known - all];
}
