/* SPDX-License-Identifier: GPL-2.0 */
/* The cgroups of processes, from /proc. */
#ifndef MTAGCTL_CGROUP_H
#define MTAGCTL_CGROUP_H

#include "model.h"

/*
 * Finds the cgroup v2 of each process, as the caller sees it. A process that has ended keeps none; so do
 * all where cgroup v2 is not mounted. 0 or -ENOMEM.
 */
int cgroup_read(struct snap *snap);

#endif
