// SPDX-License-Identifier: GPL-2.0
/* mtagctl show: the tags of some processes, or of all. */
#include "cmd/cmd.h"
#include "cmd/view.h"
#include "option.h"

int cmd_show(struct ctl *ctl, int argc, char **argv)
{
	_cleanup_(freep) pid_t *pids = NULL;
	struct view view = {0};
	int status, opt = view_options(ctl, argc, argv, "table", &view);

	if (opt != OPTION_DONE)
		return option_status(opt);
	argc -= optind;
	status = option_pids(argc, argv + optind, &pids);
	return status ? status : view_print(ctl, &view, pids, (size_t)argc, NULL);
}
