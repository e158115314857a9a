/* SPDX-License-Identifier: GPL-2.0 */
/* What every part of mtagctl shares: exit statuses, the common options, what a command is. */
#ifndef MTAGCTL_CTL_H
#define MTAGCTL_CTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

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

struct ctl;

struct command {
	const char *name;
	const char *args;
	const char *summary;
	const char *help;
	int (*run)(struct ctl *ctl, int argc, char **argv);
};

/**
 * struct ctl - what a command is called with
 * @command:	the command, NULL until it is known
 * @json:	the options that every command takes, before or after its name
 * @pretty:	likewise
 * @stats:	likewise
 */
struct ctl {
	const struct command *command;
	bool json;
	bool pretty;
	bool stats;
};

#endif
