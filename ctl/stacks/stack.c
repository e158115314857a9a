// SPDX-License-Identifier: GPL-2.0
/* The stacks of a process in the model. */
#include <inttypes.h>
#include <math.h>
#include <search.h>
#include <stdio.h>
#include <string.h>

#include "ctl.h"
#include "stacks/stack.h"
#include "uapi/linux/mtag.h"

static const char unknown[] = "unknown";
static const char *const kinds[] = {"", "before", "kernel", "unsampled"};
static const char *const brackets[] = {"[stack]", "[before]", "[kernel]", "[unsampled]"};
static const char *const whys[] = {"complete", "no_table", "page_absent", "too_deep",
				   "not_executable"};

/* ---- frames ---- */

static int by_text(const char *a, const char *b)
{
	return !a || !b ? !!a - !!b : strcmp(a, b);
}

static int by_frame(const void *a, const void *b)
{
	const struct frame *x = a, *y = b;
	int order = 0;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (x->inlined != y->inlined)
		return x->inlined - y->inlined;
	order = by_text(x->module, y->module);
	order = order ? order : by_text(x->function, y->function);
	order = order ? order : by_text(x->file, y->file);
	return order ? order : by_text(x->build_id, y->build_id);
}

static void frame_free(void *node)
{
	struct frame *frame = node;

	free(frame->function);
	free(frame->file);
	free(frame->module);
	free(frame->build_id);
	free(frame);
}

static bool copy_text(char **to, const char *from)
{
	*to = from ? strdup(from) : NULL;
	return *to || !from;
}

static struct frame *frame_copy(const struct frame *like)
{
	struct frame *frame = calloc(1, sizeof(*frame));

	if (!frame)
		return NULL;
	frame->line = like->line;
	frame->inlined = like->inlined;
	frame->offset = like->offset;
	frame->address = like->address;
	if (copy_text(&frame->function, like->function) && copy_text(&frame->file, like->file) &&
	    copy_text(&frame->module, like->module) && copy_text(&frame->build_id, like->build_id))
		return frame;
	frame_free(frame);
	return NULL;
}

const struct frame *stacks_frame(struct stacks *stacks, const struct frame *like)
{
	struct frame **found = tfind(like, &stacks->frames, by_frame), *frame;

	if (found)
		return *found;
	frame = frame_copy(like);
	if (frame && tsearch(frame, &stacks->frames, by_frame))
		return frame;
	if (frame)
		frame_free(frame);
	return NULL;
}

const char *frame_module(const struct frame *frame)
{
	const char *slash = frame->module ? strrchr(frame->module, '/') : NULL;

	return slash && slash[1] ? slash + 1 : frame->module;
}

char *frame_name(const struct frame *frame)
{
	char *name = NULL;

	if (frame->function)
		return strdup(frame->function);
	if (!frame->module)
		return strdup("[unknown]");
	if (asprintf(&name, "%s+0x%" PRIx64, frame_module(frame), frame->offset) < 0)
		return NULL;
	return name;
}

/* ---- stacks ---- */

struct stack *stacks_add_like(struct stacks *stacks, const struct frame **frames, size_t n)
{
	struct stack *stack = array_grow(stacks->stacks, stacks->n, &stacks->room, sizeof(*stack));

	if (!stack)
		return NULL;
	stacks->stacks = stack;
	stack += stacks->n++;
	*stack = (struct stack){.frames = frames, .n = n, .shared = true};
	return stack;
}

struct stack *stacks_add(struct stacks *stacks, size_t n)
{
	const struct frame **frames = calloc(n + 1, sizeof(struct frame *));
	struct stack *stack = frames ? stacks_add_like(stacks, frames, 0) : NULL;

	if (stack)
		stack->shared = false;
	else
		free(frames);
	return stack;
}

void stacks_clear(struct stacks *stacks)
{
	for (size_t i = 0; i < stacks->n; i++)
		if (!stacks->stacks[i].shared)
			free(stacks->stacks[i].frames);
	free(stacks->stacks);
	tdestroy(stacks->frames, frame_free);
	*stacks = (struct stacks){0};
}

void stack_heap_add(struct stack_heap *sum, const struct stack_heap *more)
{
	sum->asked += more->asked;
	sum->variance += more->variance;
	sum->objects += more->objects;
	sum->resident += more->resident;
}

uint64_t stack_heap_whole(double sum)
{
	if (!(sum > 0))
		return 0;
	return sum < 9e18 ? (uint64_t)(sum + 0.5) : UINT64_C(9000000000000000000);
}

uint64_t stack_heap_error(const struct stack_heap *heap)
{
	return heap->variance > 0 ? stack_heap_whole(sqrt(heap->variance)) : 0;
}

bool stack_is_complete(const struct stack *stack)
{
	return stack->kind == MTAG_STACK_TAKEN && stack->why == MTAG_STACK_COMPLETE;
}

const char *stack_kind(const struct stack *stack)
{
	return stack->kind < ARRAY_SIZE(brackets) ? brackets[stack->kind] : "[unknown]";
}

const char *stack_why(const struct stack *stack)
{
	if (stack->kind != MTAG_STACK_TAKEN)
		return stack->kind < ARRAY_SIZE(kinds) ? kinds[stack->kind] : unknown;
	return stack->why < ARRAY_SIZE(whys) ? whys[stack->why] : unknown;
}

bool stack_because(struct stack *stack, const char *why)
{
	for (uint32_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (i != MTAG_STACK_TAKEN && !strcmp(why, kinds[i])) {
			stack->kind = i;
			return true;
		}
	for (uint32_t i = 0; i < ARRAY_SIZE(whys); i++)
		if (!strcmp(why, whys[i])) {
			stack->kind = MTAG_STACK_TAKEN;
			stack->why = i;
			return true;
		}
	/* A newer kernel said it. */
	stack->why = ARRAY_SIZE(whys);
	return !strcmp(why, unknown);
}
