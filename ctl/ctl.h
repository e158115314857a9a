/* SPDX-License-Identifier: GPL-2.0 */
/* What every part of mtagctl shares: exit statuses, the table of commands, errors, parsing. */
#ifndef MTAGCTL_CTL_H
#define MTAGCTL_CTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <getopt.h>
#include <sys/types.h>

#define _cleanup_(f)  __attribute__((cleanup(f)))
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static inline void freep(void *p)
{
	free(*(void **)p);
}

/* Exit statuses: part of the contract. */
enum {
	CTL_OK = 0,
	CTL_USAGE = 1,
	CTL_REFUSED = 2, /* the kernel refused */
	CTL_DRIFT = 3,	 /* drift found, threshold crossed */
	CTL_ABSENT = 4,	 /* no module */
};

/* The options that every command takes, before or after its name. */
struct ctl {
	bool json;
	bool pretty;
	bool stats;
};

struct command {
	const char *name;
	const char *args;
	const char *summary;
	const char *help;
	int (*run)(struct ctl *ctl, int argc, char **argv);
};

extern const struct command ctl_commands[]; /* ends with a NULL name */

int cmd_show(struct ctl *ctl, int argc, char **argv);
int cmd_tree(struct ctl *ctl, int argc, char **argv);
int cmd_watch(struct ctl *ctl, int argc, char **argv);
int cmd_run(struct ctl *ctl, int argc, char **argv);
int cmd_track(struct ctl *ctl, int argc, char **argv);
int cmd_untrack(struct ctl *ctl, int argc, char **argv);
int cmd_audit(struct ctl *ctl, int argc, char **argv);
int cmd_doctor(struct ctl *ctl, int argc, char **argv);
int cmd_help(struct ctl *ctl, int argc, char **argv);

/* "mtagctl: …" and a newline, on stderr. */
void ctl_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Beside a command's own options: */
enum { CTL_OPT_DONE = -1, CTL_OPT_BAD = -2, CTL_OPT_HELP = -3 };

/*
 * The next option of a command: what getopt_long() returns for one of its own; the common ones are
 * handled here. CTL_OPT_BAD: an error was printed; CTL_OPT_HELP: so was the command's help.
 * @longs ends with CTL_LONGS.
 */
int ctl_getopt(struct ctl *ctl, int argc, char **argv, const char *shorts,
	       const struct option *longs);

#define CTL_SHORTS "jpsh"
/* clang-format off */
#define CTL_LONGS                                                                                  \
	{"json", no_argument, NULL, 'j'}, {"pretty", no_argument, NULL, 'p'},                      \
	{"statistics", no_argument, NULL, 's'}, {"help", no_argument, NULL, 'h'},                  \
	{NULL, 0, NULL, 0}
/* clang-format on */

/* For a command without options: CTL_OPT_DONE, CTL_OPT_BAD or CTL_OPT_HELP; optind is set. */
int ctl_no_options(struct ctl *ctl, int argc, char **argv);
int ctl_opt_status(int opt);

const struct command *ctl_find(const char *name);
void ctl_command_help(const struct command *command);

/* parse.c: 0 or -EINVAL, -ERANGE; print nothing. */
int parse_pid(const char *text, pid_t *pid);
int parse_count(const char *text, unsigned long *count);
int parse_seconds(const char *text, uint64_t *nanoseconds);
/* The next component of a tag's path: its bytes, 0 at the end, or -EINVAL, -ENAMETOOLONG. */
int parse_component(const char **path, const char **name);
int parse_path(const char *path); /* how many components, or -errno */

/* Pids of a command line: 0, or CTL_USAGE after an error message. */
int ctl_pids(int argc, char **argv, pid_t **pids);

#endif
