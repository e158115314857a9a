/* SPDX-License-Identifier: GPL-2.0 */
/* The words of a command line: the options that commands share, their help, and process ids. */
#ifndef MTAGCTL_OPTION_H
#define MTAGCTL_OPTION_H

#include <getopt.h>
#include <stdint.h>
#include <sys/types.h>

#include "ctl.h"

/* Returned instead of a command's own option: */
enum { OPTION_DONE = -1, OPTION_BAD = -2, OPTION_HELP = -3 };

/*
 * Returns the next option of the command's own, as getopt_long() does; common options are handled
 * here. OPTION_BAD: an error was printed. OPTION_HELP: the command's help was printed. @shorts has
 * OPTION_SHORTS, @longs ends with OPTION_LONGS.
 */
int option_next(struct ctl *ctl, int argc, char **argv, const char *shorts,
		const struct option *longs);

#define OPTION_SHORTS "f:jpsh"
/* clang-format off */
#define OPTION_LONGS                                                                       \
	{"json", no_argument, NULL, 'j'}, {"pretty", no_argument, NULL, 'p'},              \
	{"statistics", no_argument, NULL, 's'}, {"help", no_argument, NULL, 'h'},          \
	{"format", required_argument, NULL, 'f'}, {NULL, 0, NULL, 0}
/* clang-format on */

/* Likewise for a command without options of its own: reads all and sets optind. */
int option_none(struct ctl *ctl, int argc, char **argv);
/* The exit status for OPTION_BAD or OPTION_HELP. */
int option_status(int opt);

/* Prints the help of a command. */
void option_help(const struct command *command);
/* The next line of help on the common options that @command takes, or NULL; all commands, if it is NULL. */
const char *option_common(const struct command *command, size_t *at);
/* The common options before the command do something in it. Returns false after an error message. */
bool option_fits(const struct ctl *ctl);
/* What only stands before a command. */
extern const char option_global[];

/* Parses a number, at least 1, of what a message calls @of. Returns false after an error message. */
bool option_count(const char *command, const char *text, const char *of, unsigned long *count);
/* Parses a number of bytes. Returns false after an error message that begins with @command. */
bool option_size(const char *command, const char *text, uint64_t *size);
/* Parses the value of --stacks, "1/N", or NULL for all. Returns false after an error message. */
bool option_one_in(const char *command, const char *text, uint32_t *one_in);
/* The file of -o: NULL, which is standard output, for "-". */
const char *option_output(const char *path);
/*
 * Of @paths and @other, which may be NULL, only one can be standard input. Returns false after an
 * error message.
 */
bool option_one_input(const char *command, int n, char *const *paths, const char *other);
/* Parses process ids. Returns 0, or an exit status after an error message. Caller frees *@pids. */
int option_pids(int argc, char **argv, pid_t **pids);

#endif
