// SPDX-License-Identifier: GPL-2.0
/* A stack as JSON, and back. What is not known is null, or in a file has no key. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "ctl.h"
#include "format/stack.h"
#include "uapi/linux/mtag.h"

#define NAME_MOST 1024 /* bytes of a name that is written; longer ones, as C++ has them, are cut */

static void add_null(struct json_object *object, const char *key, enum stack_json how)
{
	if (how == STACK_WHOLE)
		json_object_object_add(object, key, NULL);
}

static void add_text(struct json_object *object, const char *key, const char *text,
		     enum stack_json how)
{
	char cut[NAME_MOST + 1];
	size_t length;

	if (!text)
		return add_null(object, key, how);
	length = strnlen(text, NAME_MOST);
	/* Not within a character of UTF-8. */
	while (length && ((unsigned char)text[length] & 0xc0) == 0x80)
		length--;
	memcpy(cut, text, length);
	cut[length] = '\0';
	json_add_string(object, key, cut);
}

static void add_number(struct json_object *object, const char *key, uint64_t number, bool known,
		       enum stack_json how)
{
	if (known)
		json_add_u64(object, key, number);
	else
		add_null(object, key, how);
}

static void add_frame(struct json_object *frames, const struct frame *frame, enum stack_json how)
{
	struct json_object *object = json_add_object(frames);

	add_text(object, "function", frame->function, how);
	add_text(object, "file", frame->file, how);
	add_number(object, "line", frame->line, frame->line, how);
	add_text(object, "module", frame->module, how);
	add_number(object, "offset", frame->offset, frame->module, how);
	add_text(object, "build_id", frame->build_id, how);
	json_add_bool(object, "inlined", frame->inlined);
	if (frame->address)
		json_add_u64(object, "address", frame->address);
}

/* What stands where there is no stack. */
static void add_kind(struct json_object *frames, const struct stack *stack, enum stack_json how)
{
	const struct frame kind = {.function = (char *)stack_kind(stack)};

	if (how == STACK_WHOLE)
		add_frame(frames, &kind, how);
	else
		json_add_string(json_add_object(frames), "function", kind.function);
}

void stack_add_json(struct json_object *object, const struct stacks *stacks,
		    const struct stack *stack, enum stack_json how)
{
	struct json_object *frames = json_add(object, "stack", json_object_new_array());

	if (stack->kind != MTAG_STACK_TAKEN)
		add_kind(frames, stack, how);
	for (size_t i = 0; i < stack->n; i++)
		add_frame(frames, stack->frames[i], how);
	json_add_u64(object, "anon_bytes", stack->anon);
	json_add_u64(object, "swap_bytes", stack->swap);
	add_number(object, "touched_bytes", stack->touched, stack->knows_touched, how);
	if (stacks->heap) {
		json_add_u64(object, "heap_asked_bytes", stack_heap_whole(stack->heap.asked));
		json_add_u64(object, "heap_objects", stack_heap_whole(stack->heap.objects));
		json_add_u64(object, "heap_error_bytes", stack_heap_error(&stack->heap));
		if (stacks->resident)
			json_add_u64(object, "heap_resident_bytes",
				     stack_heap_whole(stack->heap.resident));
	}
	json_add_bool(object, "complete", stack_is_complete(stack));
	json_add_string(object, "why", stack_why(stack));
	if (stacks->one_in)
		json_add_u64(object, "one_in", stacks->one_in);
	if (stacks->uncounted)
		json_add_u64(object, "uncounted_bytes", stacks->uncounted);
}

static const char *read_frame(struct json_object *object, struct stacks *stacks,
			      const struct frame **frame)
{
	struct frame like = {
		.function = (char *)json_get_text(object, "function"),
		.file = (char *)json_get_text(object, "file"),
		.module = (char *)json_get_text(object, "module"),
		.build_id = (char *)json_get_text(object, "build_id"),
		.inlined = json_object_get_boolean(json_object_object_get(object, "inlined")),
	};
	uint64_t line = 0;

	if (!json_object_is_type(object, json_type_object))
		return "\"stack\" is an array of frames, {…}";
	if (json_get_u64(object, "line", &line) && line > UINT_MAX)
		return "a \"line\" of a frame is a whole number up to 4294967295";
	like.line = (unsigned int)line;
	json_get_u64(object, "address", &like.address);
	if (like.module && !json_get_u64(object, "offset", &like.offset))
		return "a frame with a \"module\" has an \"offset\", a whole number";
	*frame = stacks_frame(stacks, &like);
	return *frame ? NULL : "out of memory";
}

static const char *read_bytes(struct json_object *object, struct stack *stack)
{
	const char *why = json_get_text(object, "why");

	if (!json_get_u64(object, "anon_bytes", &stack->anon) ||
	    !json_get_u64(object, "swap_bytes", &stack->swap))
		return "a stack has \"anon_bytes\" and \"swap_bytes\", whole numbers";
	stack->knows_touched = json_get_u64(object, "touched_bytes", &stack->touched);
	if (!why || !stack_because(stack, why))
		return "a stack says \"why\" it ends: complete, no_table, page_absent, too_deep, "
		       "not_executable, before, kernel, unsampled or unknown";
	return NULL;
}

/* What it has allocated: all of it is known, or nothing. */
static const char *read_heap(struct json_object *object, struct stacks *stacks, struct stack *stack)
{
	uint64_t asked, objects, error, resident = 0;

	if (!json_object_object_get_ex(object, "heap_asked_bytes", NULL))
		return NULL;
	if (!json_get_u64(object, "heap_asked_bytes", &asked) ||
	    !json_get_u64(object, "heap_objects", &objects) ||
	    !json_get_u64(object, "heap_error_bytes", &error))
		return "\"heap_asked_bytes\", \"heap_objects\" and \"heap_error_bytes\" of a stack "
		       "are whole numbers";
	stacks->heap = true;
	stacks->resident = json_get_u64(object, "heap_resident_bytes", &resident);
	stack->heap = (struct stack_heap){.asked = (double)asked,
					  .variance = (double)error * (double)error,
					  .objects = (double)objects,
					  .resident = (double)resident};
	return NULL;
}

/* What is known of all stacks of the process. */
static const char *read_process(struct json_object *object, struct stacks *stacks)
{
	uint64_t one_in = 0;

	if (json_object_object_get_ex(object, "one_in", NULL) &&
	    (!json_get_u64(object, "one_in", &one_in) || !one_in || one_in > UINT32_MAX))
		return "\"one_in\" of a stack is a whole number from 1 to 4294967295";
	if (one_in)
		stacks->one_in = (uint32_t)one_in;
	json_get_u64(object, "uncounted_bytes", &stacks->uncounted);
	return NULL;
}

const char *stack_read_json(struct json_object *object, struct stacks *stacks, struct stack **out)
{
	struct json_object *frames = json_object_object_get(object, "stack");
	struct stack *stack;
	const char *bad;
	size_t n;

	if (!json_object_is_type(frames, json_type_array))
		return "\"stack\" is an array of frames, {…}";
	n = json_object_array_length(frames);
	if (n > STACK_FRAMES_MOST)
		return "a stack has at most " TEXT_OF(STACK_FRAMES_MOST) " frames";
	stack = *out = stacks_add(stacks, n);
	if (!stack)
		return "out of memory";
	bad = read_process(object, stacks);
	bad = bad ? bad : read_bytes(object, stack);
	bad = bad ? bad : read_heap(object, stacks, stack);
	/* What is no stack has only a name. */
	for (size_t i = 0; i < n && !bad && stack->kind == MTAG_STACK_TAKEN; i++) {
		bad = read_frame(json_object_array_get_idx(frames, i), stacks,
				 &stack->frames[stack->n]);
		stack->n += !bad;
	}
	return bad;
}
