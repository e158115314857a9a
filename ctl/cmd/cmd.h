/* SPDX-License-Identifier: GPL-2.0 */
/* The commands, a file each. Each returns the exit status. */
#ifndef MTAGCTL_CMD_H
#define MTAGCTL_CMD_H

#include "ctl.h"

#define OLDER_MOST 1044464 /* seconds that `stacks --older` takes at most; cmd/stacks.c says why */

int cmd_show(struct ctl *ctl, int argc, char **argv);
int cmd_tree(struct ctl *ctl, int argc, char **argv);
int cmd_watch(struct ctl *ctl, int argc, char **argv);
int cmd_top(struct ctl *ctl, int argc, char **argv);
int cmd_snapshot(struct ctl *ctl, int argc, char **argv);
int cmd_diff(struct ctl *ctl, int argc, char **argv);
int cmd_merge(struct ctl *ctl, int argc, char **argv);
int cmd_run(struct ctl *ctl, int argc, char **argv);
int cmd_track(struct ctl *ctl, int argc, char **argv);
int cmd_untrack(struct ctl *ctl, int argc, char **argv);
int cmd_heap(struct ctl *ctl, int argc, char **argv);
int cmd_stacks(struct ctl *ctl, int argc, char **argv);
int cmd_events(struct ctl *ctl, int argc, char **argv);
int cmd_limit(struct ctl *ctl, int argc, char **argv);
int cmd_audit(struct ctl *ctl, int argc, char **argv);
int cmd_history(struct ctl *ctl, int argc, char **argv);
int cmd_doctor(struct ctl *ctl, int argc, char **argv);
int cmd_complete(struct ctl *ctl, int argc, char **argv);

#endif
