/* SPDX-License-Identifier: GPL-2.0 */
/* The heap of a process as JSON. */
#ifndef MTAGCTL_HEAPS_JSON_H
#define MTAGCTL_HEAPS_JSON_H

#include "format/json.h"
#include "model.h"

/* Adds an object for each tag, and one for the process, whose tag is null. It has a heap. 0 or -ENOMEM. */
int heap_json(struct json_list *list, const struct proc *proc);

#endif
