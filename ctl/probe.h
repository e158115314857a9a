/* SPDX-License-Identifier: GPL-2.0 */
/* What can be learnt of a machine's kernel without the module. */
#ifndef MTAGCTL_PROBE_H
#define MTAGCTL_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Below which directory all paths here are looked for: "" at first. */
void probe_set_root(const char *dir);
const char *probe_root(void);
/* Like access(2). */
int probe_access(const char *path, int mode);
/* The text of a file of whatever size it says it has, NULL with errno. */
char *probe_read(const char *path);
/* Likewise without the newline at the end, cut at @size; "" and false when it cannot be read. */
bool probe_line(const char *path, char *buf, size_t size);
/* What a program prints, NULL when it cannot be run; @argv[0] is looked up in PATH and in /sbin. */
char *probe_run(const char *const *argv);

/* The kernel's configuration, wherever it is found; NULL when nowhere. */
char *probe_config(const char *release);
/* CONFIG_@name is y or m in @config. */
bool probe_config_has(const char *config, const char *name);

/* What modinfo(8) prints of @file, or of the module installed for @release; NULL without it. */
char *probe_modinfo(const char *release, const char *file);
/* A field of that, to be freed; NULL when there is no such. */
char *probe_field(const char *modinfo, const char *name);

/* The kernel's log; NULL when the caller may not read it. */
char *probe_log(void);

/**
 * struct symbol - a function that is looked for
 * @name:	of the function, @len bytes
 * @found:	how often it is there
 * @variant:	what the compiler has made of it, such as "name.isra.0"; "" when nothing is seen
 */
struct symbol {
	const char *name;
	size_t len;
	unsigned int found;
	char variant[64];
};

/* The words of @names, which has to live as long; NULL without memory. Nothing is found yet. */
struct symbol *probe_words(const char *names, size_t *n);
/* Looks for @symbols in the lines of @path, after @skip words; 0 or -errno. */
int probe_symbols(const char *path, unsigned int skip, struct symbol *symbols, size_t n);

#endif
