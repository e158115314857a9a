/* SPDX-License-Identifier: GPL-2.0 */
/* Stacks as JSON: a flat object each, but for its array of frames. */
#ifndef MTAGCTL_STACKS_JSON_H
#define MTAGCTL_STACKS_JSON_H

#include "format/json.h"
#include "stacks/view.h"

/* Adds the stacks of a process to a list. 0 or -ENOMEM. */
int stacks_json(struct json_list *list, const struct stack_view *view);

#endif
