/* SPDX-License-Identifier: GPL-2.0 */
/* -f and -o of commands with more formats than a table and JSON, and printing in one of them. */
#ifndef MTAGCTL_CMD_SHAPE_H
#define MTAGCTL_CMD_SHAPE_H

#include "ctl.h"
#include "format/fmt.h"

/**
 * struct shape - what is printed, and where to
 * @forms:	the names of those that there are, as in "table, json or pprof"
 * @form:	one of them; NULL until it is known
 * @output:	a file, NULL: standard output
 */
struct shape {
	const char *forms;
	const char *form;
	const char *output;
};

/* The option -f or -o. Returns false after an error message. */
bool shape_option(struct ctl *ctl, struct shape *shape, int opt, const char *value);
/* All options are known. Likewise. */
bool shape_settle(const struct ctl *ctl, struct shape *shape);
bool shape_is(const struct shape *shape, const char *form);
/* A binary form is not for a terminal. Likewise. */
bool shape_fits(const char *command, bool binary, const char *output);

/* Has @print, which returns 0 or -ENOMEM, print @what into a file, or to standard output. Returns an exit status. */
int shape_print(const struct ctl *ctl, const char *output,
		int (*print)(const struct fmt *fmt, const void *what), const void *what);

#endif
