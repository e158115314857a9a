/* SPDX-License-Identifier: GPL-2.0 */
/* What every part of mtagctl shares: exit statuses, the common options, what a command is. */
#ifndef MTAGCTL_CTL_H
#define MTAGCTL_CTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define _cleanup_(f)  __attribute__((cleanup(f)))
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* The text of a constant that is defined as one plain number, for messages that name it. */
#define TEXT_OF(constant)   TEXT_OF_IT(constant)
#define TEXT_OF_IT(literal) #literal

static inline void freep(void *p)
{
	free(*(void **)p);
}

/*
 * @array with room for more than @n elements of @size, of which *room counts those that fit; NULL without memory, and
 * then it stays as it was.
 */
static inline void *array_grow(void *array, size_t n, size_t *room, size_t size)
{
	size_t more = *room ? *room * 2 : 1; /* there may be many processes with one tag */
	void *p;

	if (n < *room)
		return array;
	p = reallocarray(array, more, size);
	if (p)
		*room = more;
	return p;
}

/* A page of all processors that the module is for. */
#define PAGE_BYTES UINT64_C(4096)

/* Exit statuses: part of the contract. */
enum {
	CTL_OK = 0,
	CTL_USAGE = 1,
	CTL_REFUSED = 2, /* the kernel refused */
	CTL_DRIFT = 3,	 /* drift found, threshold crossed */
	CTL_ABSENT = 4,	 /* no module */
};

struct ctl;

/**
 * struct command - a command
 * @args:	its usage line, and
 * @help:	its options: also what completions offer is read from them, see synopsis.h
 * @summary:	NULL hides the command
 * @takes:	letters of the common options that do something here, j, p, s or f (see option.h); S and F:
 *		that letter means something else here; L: it only knows what is so now, hence no --from
 */
struct command {
	const char *name;
	const char *args;
	const char *summary;
	const char *help;
	int (*run)(struct ctl *ctl, int argc, char **argv);
	const char *takes;
};

/**
 * struct ctl - what a command is called with
 * @commands:	all commands, ended by one without a name
 * @command:	the command, NULL until it is known
 * @json:	the options that commands have in common, before or after the name
 * @pretty:	likewise
 * @stats:	likewise
 * @over_limit:	what SIGXFSZ does to programs that are run, as mtagctl itself ignores it
 * @child_ended:	likewise SIGCHLD, which mtagctl never ignores
 */
struct ctl {
	const struct command *commands;
	const struct command *command;
	bool json;
	bool pretty;
	bool stats;
	void (*over_limit)(int signal);
	void (*child_ended)(int signal);
};

#endif
