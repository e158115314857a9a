// SPDX-License-Identifier: GPL-2.0
/* mtagctl tree: the tags of one process. */
#include "cmd/cmd.h"
#include "cmd/view.h"
#include "fail.h"
#include "format/tree.h"
#include "option.h"

static int print_json(const struct fmt *fmt, const struct snap *snap)
{
	return tree_json(fmt, snap->procs);
}

int cmd_tree(struct ctl *ctl, int argc, char **argv)
{
	_cleanup_(freep) pid_t *pids = NULL;
	struct view view = {.one = true};
	int status, opt = view_options(ctl, argc, argv, "tree", &view);

	if (opt != OPTION_DONE)
		return option_status(opt);
	if (argc - optind != 1) {
		fail_print("tree takes one process id");
		return CTL_USAGE;
	}
	status = option_pids(1, argv + optind, &pids);
	return status ? status : view_print(ctl, &view, pids, 1, print_json);
}
