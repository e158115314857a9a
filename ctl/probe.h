/* SPDX-License-Identifier: GPL-2.0 */
/* What can be learnt of this machine's kernel without the module. */
#ifndef MTAGCTL_PROBE_H
#define MTAGCTL_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The text of a file of whatever size it says it has, NULL with errno. */
char *probe_read(const char *path);
/* Likewise without the newline at the end, cut at @size; "" and false when it cannot be read. */
bool probe_line(const char *path, char *buf, size_t size);

/* The kernel's configuration, wherever it is found; NULL when nowhere. */
char *probe_config(const char *release);
/* CONFIG_@name is y or m in @config. */
bool probe_config_has(const char *config, const char *name);

/*
 * Of several alternatives "a|b" that one name of @names may be, some is the first word of a line of
 * @path, after @skip words. Bit i of *@found is name i. At most 64 names; 0 or -errno.
 */
int probe_symbols(const char *path, unsigned int skip, const char *const *names, size_t n,
		  uint64_t *found);

#endif
