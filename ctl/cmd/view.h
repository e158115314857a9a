/* SPDX-License-Identifier: GPL-2.0 */
/* What show and tree share: where processes and tags come from, in which form they go where. */
#ifndef MTAGCTL_CMD_VIEW_H
#define MTAGCTL_CMD_VIEW_H

#include "ctl.h"
#include "format/form.h"
#include "offline/source.h"

/**
 * struct view - what the options say
 * @source:	from where
 * @output:	a file, NULL for standard output
 * @form:	how; NULL until view_options()
 * @by_pid:	metrics are of each process
 * @one:	the command is about one process: without it there is nothing to print
 */
struct view {
	struct source source;
	const char *output;
	const struct form *form;
	bool by_pid;
	bool one;
};

/* Reads the options; without any, the form is @otherwise. Returns what option_next() does at the end. */
int view_options(struct ctl *ctl, int argc, char **argv, const char *otherwise, struct view *view);
/*
 * Reads the @n processes @pids, or with 0 all, and prints what could be read. @json: NULL, or how
 * the command prints JSON if not as show does. Returns the exit status.
 */
int view_print(const struct ctl *ctl, struct view *view, pid_t *pids, size_t n,
	       int (*json)(const struct fmt *fmt, const struct snap *snap));

#endif
