// SPDX-License-Identifier: GPL-2.0
/* Stacks as JSON. */
#include <errno.h>

#include "format/stack.h"
#include "stacks/json.h"

static struct json_object *row_object(const struct stack_view *view, const struct stack_row *row)
{
	struct json_object *object = json_object_new_object();
	struct stack stack = *row->stack;

	if (!object)
		return NULL;
	json_add_u64(object, "pid", (uint64_t)view->proc->pid);
	json_add_string(object, "comm", view->proc->comm);
	/* All tags: null. */
	if (row->tag)
		json_add_string(object, "tag", row->tag->path);
	else
		json_object_object_add(object, "tag", NULL);
	stack.anon = row->anon;
	stack.swap = row->swap;
	stack.touched = row->touched;
	stack.knows_touched = row->knows_touched;
	stack.heap = row->heap;
	stack_add_json(object, view->proc->stacks, &stack, STACK_WHOLE);
	return object;
}

int stacks_json(struct json_list *list, const struct stack_view *view)
{
	for (size_t i = 0; i < view->n; i++) {
		struct json_object *object = row_object(view, &view->rows[i]);

		if (!object || json_list_add(list, object))
			return -ENOMEM;
	}
	return 0;
}
