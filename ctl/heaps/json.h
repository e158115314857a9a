/* SPDX-License-Identifier: GPL-2.0 */
/* A heap view as JSON. */
#ifndef MTAGCTL_HEAPS_JSON_H
#define MTAGCTL_HEAPS_JSON_H

#include "format/json.h"
#include "heaps/view.h"

/* Adds an object for each tag, and one for the process, whose tag is null. 0 or -ENOMEM. */
int heap_json(struct json_list *list, const struct heap_view *view);

#endif
