// SPDX-License-Identifier: GPL-2.0
/* mtagctl tree: the tags of one process. */
#include "cmd/cmd.h"
#include "ctl.h"
#include "fail.h"
#include "format/tree.h"
#include "offline/source.h"
#include "option.h"

static int tree_options(struct ctl *ctl, int argc, char **argv, struct source *source)
{
	static const struct option longs[] = {SOURCE_LONGS, OPTION_LONGS};
	int opt;

	while ((opt = option_next(ctl, argc, argv, ":" OPTION_SHORTS, longs)) >= 0)
		if (!source_option(source, opt, optarg))
			return OPTION_BAD;
	if (opt == OPTION_DONE && argc - optind != 1) {
		fail_print("tree takes one process id");
		return OPTION_BAD;
	}
	return opt;
}

int cmd_tree(struct ctl *ctl, int argc, char **argv)
{
	_cleanup_(snap_clear) struct snap snap = {0};
	_cleanup_(freep) pid_t *pids = NULL;
	struct source source = {0};
	struct fmt fmt;
	int err, opt = tree_options(ctl, argc, argv, &source);

	if (opt != OPTION_DONE)
		return option_status(opt);
	err = option_pids(1, argv + optind, &pids);
	if (err)
		return err;
	err = source_read(&source, pids, 1, &snap);
	if (err)
		return err;
	fmt_init(&fmt, ctl);
	err = ctl->json ? tree_json(&fmt, snap.procs) : tree_text(&fmt, snap.procs);
	return err ? fail_memory() : CTL_OK;
}
