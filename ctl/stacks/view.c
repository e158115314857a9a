// SPDX-License-Identifier: GPL-2.0
/* The stacks of a process as they are shown. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <search.h>
#include <stdio.h>
#include <string.h>

#include "ctl.h"
#include "format/label.h"
#include "stacks/symbol.h"
#include "stacks/view.h"

#define PAGE_BYTES 4096.0 /* of all processors that the module is for */

/* An address, and the functions there, the innermost first. */
struct place {
	struct mtag_stack_frame address;
	size_t n;
	struct frame frames[SYMBOL_INLINES_MOST];
};

/* ---- addresses ---- */

static int by_address(const void *a, const void *b)
{
	const struct mtag_stack_frame *x = &((const struct place *)a)->address;
	const struct mtag_stack_frame *y = &((const struct place *)b)->address;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return (x->flags > y->flags) - (x->flags < y->flags);
}

static void place_free(void *node)
{
	struct place *place = node;

	for (size_t i = 0; i < place->n; i++) {
		free((char *)place->frames[i].function);
		free((char *)place->frames[i].file);
	}
	free(place);
}

static void resolve(struct place *place, const struct trace_image *image, struct symbols *symbols)
{
	struct symbol found[SYMBOL_INLINES_MOST];
	const struct frame unknown = {.image = image, .offset = place->address.offset};
	size_t n = 0;

	if (image && symbols)
		n = symbols_find(symbols, image, place->address.offset,
				 place->address.flags & MTAG_STACK_EXACT, found);
	for (size_t i = 0; i < n; i++) {
		struct frame *frame = &place->frames[i];

		*frame = unknown;
		frame->function = found[i].function;
		frame->file = found[i].file;
		frame->line = found[i].line;
		frame->inlined = found[i].inlined;
	}
	if (!n)
		place->frames[n++] = unknown;
	place->n = n;
}

/* NULL without memory. */
static const struct place *find_place(struct stacks *stacks, struct symbols *symbols,
				      const struct mtag_stack_frame *address)
{
	struct place *place = calloc(1, sizeof(*place)), **found;

	if (!place)
		return NULL;
	place->address = *address;
	found = tsearch(place, &stacks->places, by_address);
	if (!found || *found != place) {
		free(place);
		return found ? *found : NULL;
	}
	resolve(place, traces_image(stacks->traces, address->image), symbols);
	return place;
}

/* ---- stacks ---- */

static int add_frames(struct stacks *stacks, struct symbols *symbols, struct stack *stack)
{
	const struct trace *trace = stack->trace;
	const struct place *places[TRACE_FRAMES_MOST];
	size_t n = 0;

	for (size_t i = 0; i < trace->n; i++) {
		places[i] = find_place(stacks, symbols, &trace->frames[i]);
		if (!places[i])
			return -ENOMEM;
		n += places[i]->n;
	}
	stack->frames = calloc(n + 1, sizeof(*stack->frames));
	if (!stack->frames)
		return -ENOMEM;
	for (size_t i = trace->n; i-- > 0;)
		for (size_t j = places[i]->n; j-- > 0;)
			stack->frames[stack->n++] = &places[i]->frames[j];
	return 0;
}

static int add_stack(struct stacks *stacks, struct symbols *symbols, const struct trace *trace,
		     const struct choice *choice)
{
	const struct tag *tag = proc_find_tag(stacks->proc, trace->tag);
	struct stack *stack = &stacks->stacks[stacks->n];

	/* A tag that was made since the tags were read is not known yet: its stacks come the next time. */
	if (!tag || (choice->tag && !stacks_within(tag, choice->tag)))
		return 0;
	stacks->n++;
	stack->tag = choice->combined ? NULL : tag;
	stack->trace = trace;
	stack->anon = trace->anon;
	stack->swap = trace->swap;
	stack->touched = trace->touched;
	stack->knows_touched = trace->knows_touched;
	stacks->anon += trace->anon;
	stacks->swap += trace->swap;
	return add_frames(stacks, symbols, stack);
}

static int by_frames(const struct stack *x, const struct stack *y)
{
	if (x->n != y->n)
		return x->n < y->n ? -1 : 1;
	return x->n ? memcmp(x->frames, y->frames, x->n * sizeof(struct frame *)) : 0;
}

static int by_stack(const void *a, const void *b)
{
	const struct stack *x = a, *y = b;

	if (x->tag != y->tag)
		return x->tag < y->tag ? -1 : 1;
	if (x->trace->kind != y->trace->kind)
		return x->trace->kind < y->trace->kind ? -1 : 1;
	if (x->trace->why != y->trace->why)
		return x->trace->why < y->trace->why ? -1 : 1;
	return by_frames(x, y);
}

static int by_size(const void *a, const void *b)
{
	const struct stack *x = a, *y = b;
	uint64_t p = x->anon + x->swap, q = y->anon + y->swap;

	if (p != q)
		return p > q ? -1 : 1;
	if (x->touched != y->touched)
		return x->touched > y->touched ? -1 : 1;
	return (x->trace > y->trace) - (x->trace < y->trace);
}

/* The same stack beneath the same tag, or any, is one. */
static void merge(struct stacks *stacks)
{
	size_t n = 0;

	if (stacks->n)
		qsort(stacks->stacks, stacks->n, sizeof(*stacks->stacks), by_stack);
	for (size_t i = 0; i < stacks->n; i++) {
		struct stack *stack = &stacks->stacks[i], *last = &stacks->stacks[n - !!n];

		if (!n || by_stack(last, stack)) {
			stacks->stacks[n++] = *stack;
			continue;
		}
		last->anon += stack->anon;
		last->swap += stack->swap;
		last->touched += stack->touched;
		last->knows_touched &= stack->knows_touched;
		if (stack->trace < last->trace)
			last->trace = stack->trace;
		free(stack->frames);
	}
	stacks->n = n;
	if (n)
		qsort(stacks->stacks, n, sizeof(*stacks->stacks), by_size);
}

/* Unless the kernel says it, what was not sampled tells it, of all tags. */
static double estimate_one_in(const struct traces *traces)
{
	double sampled = 0, unsampled = 0;

	for (size_t i = 0; i < traces->n; i++) {
		const struct trace *trace = &traces->traces[i];

		if (trace->kind == MTAG_STACK_TAKEN)
			sampled += (double)(trace->anon + trace->swap);
		if (trace->kind == MTAG_STACK_UNSAMPLED)
			unsampled += (double)(trace->anon + trace->swap);
	}
	if (traces->one_in)
		return traces->one_in;
	return sampled > 0 ? (sampled + unsampled) / sampled : 1;
}

int stacks_make(struct stacks *stacks, const struct proc *proc, const struct traces *traces,
		const struct choice *choice)
{
	_cleanup_(symbols_closep) struct symbols *symbols = NULL;

	*stacks =
		(struct stacks){.proc = proc, .traces = traces, .one_in = estimate_one_in(traces)};
	stacks->stacks = calloc(traces->n + 1, sizeof(*stacks->stacks));
	if (choice->symbols)
		symbols = symbols_open(traces->pid);
	if (!stacks->stacks || (choice->symbols && !symbols))
		return -ENOMEM;
	for (size_t i = 0; i < traces->n; i++) {
		int err = add_stack(stacks, symbols, &traces->traces[i], choice);

		if (err) {
			stacks->n_all = stacks->n;
			return err;
		}
	}
	merge(stacks);
	stacks->n_all = stacks->n;
	if (choice->most && choice->most < stacks->n)
		stacks->n = choice->most;
	return 0;
}

void stacks_clear(struct stacks *stacks)
{
	for (size_t i = 0; i < stacks->n_all; i++)
		free(stacks->stacks[i].frames);
	free(stacks->stacks);
	tdestroy(stacks->places, place_free);
	*stacks = (struct stacks){0};
}

/* ---- what they are called ---- */

bool stacks_within(const struct tag *tag, const char *path)
{
	size_t length = strlen(path);

	if (tag->id == MTAG_ID_UNTAGGED)
		return !length || !strcmp(path, LABEL_UNTAGGED);
	return length && !strncmp(tag->path, path, length) &&
	       (!tag->path[length] || tag->path[length] == '/');
}

char *frame_name(const struct frame *frame)
{
	char *name = NULL;

	if (frame->function)
		return strdup(frame->function);
	if (!frame->image)
		return strdup("[unknown]");
	if (asprintf(&name, "%s+0x%" PRIx64, trace_image_name(frame->image), frame->offset) < 0)
		return NULL;
	return name;
}

bool stack_is_complete(const struct stack *stack)
{
	return stack->trace->kind == MTAG_STACK_TAKEN && stack->trace->why == MTAG_STACK_COMPLETE;
}

double stacks_error(const struct stacks *stacks, uint64_t bytes)
{
	double n = stacks->one_in, pages = n * (double)bytes / PAGE_BYTES;

	return n > 1 && pages > 0 ? sqrt((n - 1) / pages) : 0;
}
