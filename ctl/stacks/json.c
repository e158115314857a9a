// SPDX-License-Identifier: GPL-2.0
/* Stacks as JSON. What is not known has no key. */
#include <errno.h>

#include "ctl.h"
#include "stacks/json.h"

static void add_frame(struct json_object *stack, const struct frame *frame)
{
	struct json_object *object = json_add_object(stack);
	char id[TRACE_BUILD_ID_TEXT];

	if (frame->function)
		json_add_string(object, "function", frame->function);
	if (frame->file)
		json_add_string(object, "file", frame->file);
	if (frame->line)
		json_add_u64(object, "line", frame->line);
	if (frame->image) {
		json_add_string(object, "module", frame->image->path);
		json_add_u64(object, "offset", frame->offset);
		if (*trace_build_id(frame->image, id))
			json_add_string(object, "build_id", id);
	}
	json_add_bool(object, "inlined", frame->inlined);
}

static struct json_object *stack_object(const struct stacks *stacks, const struct stack *stack)
{
	struct json_object *object = json_object_new_object(), *frames;

	if (!object)
		return NULL;
	json_add_u64(object, "pid", (uint64_t)stacks->proc->pid);
	json_add_string(object, "comm", stacks->proc->comm);
	/* All tags: null. */
	if (stack->tag)
		json_add_string(object, "tag", stack->tag->path);
	else
		json_object_object_add(object, "tag", NULL);
	frames = json_add(object, "stack", json_object_new_array());
	if (stack->trace->kind != MTAG_STACK_TAKEN)
		json_add_string(json_add_object(frames), "function",
				trace_kind(stack->trace->kind));
	for (size_t i = 0; i < stack->n; i++)
		add_frame(frames, stack->frames[i]);
	json_add_u64(object, "anon_bytes", stack->anon);
	json_add_u64(object, "swap_bytes", stack->swap);
	if (stack->knows_touched)
		json_add_u64(object, "touched_bytes", stack->touched);
	json_add_bool(object, "complete", stack_is_complete(stack));
	json_add_string(object, "why", trace_why(stack->trace));
	return object;
}

int stacks_json(struct json_list *list, const struct stacks *stacks)
{
	for (size_t i = 0; i < stacks->n; i++) {
		struct json_object *object = stack_object(stacks, &stacks->stacks[i]);

		if (!object || json_list_add(list, object))
			return -ENOMEM;
	}
	return 0;
}
