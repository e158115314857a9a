/* SPDX-License-Identifier: GPL-2.0 */
/* The words of a command line: the options that every command takes, its help, and process ids. */
#ifndef MTAGCTL_OPTION_H
#define MTAGCTL_OPTION_H

#include <getopt.h>
#include <sys/types.h>

#include "ctl.h"

/* Beside a command's own options: */
enum { OPTION_DONE = -1, OPTION_BAD = -2, OPTION_HELP = -3 };

/*
 * The next option of a command: what getopt_long() returns for one of its own; the common ones are
 * handled here. OPTION_BAD: an error was printed; OPTION_HELP: so was the command's help.
 * @longs ends with OPTION_LONGS.
 */
int option_next(struct ctl *ctl, int argc, char **argv, const char *shorts,
		const struct option *longs);

#define OPTION_SHORTS "jpsh"
/* clang-format off */
#define OPTION_LONGS                                                                       \
	{"json", no_argument, NULL, 'j'}, {"pretty", no_argument, NULL, 'p'},              \
	{"statistics", no_argument, NULL, 's'}, {"help", no_argument, NULL, 'h'},          \
	{NULL, 0, NULL, 0}
/* clang-format on */

/* For a command without options: OPTION_DONE, OPTION_BAD or OPTION_HELP; optind is set. */
int option_none(struct ctl *ctl, int argc, char **argv);
int option_status(int opt);

/* The help of a command on stdout, and its part on the options that every command takes. */
void option_help(const struct command *command);
extern const char option_common[];

/* Pids of a command line: 0, or CTL_USAGE after an error message. */
int option_pids(int argc, char **argv, pid_t **pids);

#endif
