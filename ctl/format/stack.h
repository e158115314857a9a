/* SPDX-License-Identifier: GPL-2.0 */
/* A stack as JSON, for `stacks -j` and for snapshot files: flat, but for its array of frames. */
#ifndef MTAGCTL_FORMAT_STACK_H
#define MTAGCTL_FORMAT_STACK_H

#include "format/json.h"
#include "stacks/stack.h"

/* Of a stack that is read; the module's have fewer, with all that is inlined. */
#define STACK_FRAMES_MOST 4096

/* Of what is unknown, all objects have the keys, with null; or, in a file, so that it is smaller, none. */
enum stack_json { STACK_WHOLE, STACK_COMPACT };

/* Adds the frames, the bytes, why there are no more, and what is known of all @stacks of the process. */
void stack_add_json(struct json_object *object, const struct stacks *stacks,
		    const struct stack *stack, enum stack_json how);
/* Reads either, as a new stack of @stacks. Returns NULL, or what is wrong. */
const char *stack_read_json(struct json_object *object, struct stacks *stacks,
			    struct stack **stack);

#endif
