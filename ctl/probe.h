/* SPDX-License-Identifier: GPL-2.0 */
/* Finds out about a machine's kernel without the module. */
#ifndef MTAGCTL_PROBE_H
#define MTAGCTL_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The directory below which all paths here are looked up; initially "". */
void probe_set_root(const char *dir);
const char *probe_root(void);
/* Like access(2). */
int probe_access(const char *path, int mode);
/* Reads a file, ignoring the size it claims. Returns NULL with errno set on failure. */
char *probe_read(const char *path);
/* Reads the first line, cut at @size. Returns false, with "" in @buf, if it cannot be read. */
bool probe_line(const char *path, char *buf, size_t size);

/* The kernel's configuration from the first place that has it, or NULL. */
char *probe_config(const char *release);
/* CONFIG_@name is y or m in @config. */
bool probe_config_has(const char *config, const char *name);

/* The output of modinfo(8) for @file, or for the module of @release; NULL without modinfo. */
char *probe_modinfo(const char *release, const char *file);
/* A field of that output, or NULL. Caller frees it. */
char *probe_field(const char *modinfo, const char *name);

/* The kernel's log, or NULL if the caller may not read it. */
char *probe_log(void);

/**
 * struct symbol - a function to look for
 * @name:	the function's name, @len bytes
 * @found:	how often it was found
 * @variant:	what the compiler made of it, such as "name.isra.0", or ""
 */
struct symbol {
	const char *name;
	size_t len;
	unsigned int found;
	char variant[64];
};

/* A symbol for each word of @names, not yet looked for, or NULL. @names must outlive them. */
struct symbol *probe_words(const char *names, size_t *n);
/* Looks for @symbols in the lines of @path, after @skip words of each. Returns 0 or -errno. */
int probe_symbols(const char *path, unsigned int skip, struct symbol *symbols, size_t n);

#endif
