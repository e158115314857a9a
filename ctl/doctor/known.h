/* SPDX-License-Identifier: GPL-2.0 */
/* The kernels that the module knows, and the functions that it needs in each. */
#ifndef MTAGCTL_KNOWN_H
#define MTAGCTL_KNOWN_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct known - a kernel that the module knows
 * @major:	6 of 6.12
 * @minor:	12 of 6.12
 * @name:	"6.12"
 */
struct known {
	unsigned int major;
	unsigned int minor;
	const char *name;
};

/* The one nearest to @release, such as 6.10.3-amd64; NULL if that is no version. */
const struct known *known_nearest(const char *release);
/* @release is of a kernel that the module knows. */
bool known_is(const char *release);
/* All of them in words: "6.1, 6.12 and 7.2". */
void known_list(char *buf, size_t size);
/* The hooked functions, or the callers, of a kernel with or without huge pages: words. */
const char *known_hooks(const struct known *known, bool huge);
const char *known_callers(const struct known *known, bool huge);

#endif
