// SPDX-License-Identifier: GPL-2.0
/* Stacks of addresses into stacks of functions. Each address is looked up once. */
#include <errno.h>
#include <search.h>

#include "ctl.h"
#include "progress.h"
#include "stacks/guard.h"
#include "stacks/known.h"
#include "stacks/resolve.h"

/* An address, and the functions there, the innermost first. */
struct place {
	struct mtag_stack_frame address;
	size_t n;
	const struct frame *frames[SYMBOL_INLINES_MOST];
};

/* What was made of frames that several traces share. */
struct shape {
	const struct mtag_stack_frame *of;
	const struct frame **frames; /* NULL: nothing yet */
	size_t n;
};

/* What is known while the stacks of a process are made. */
struct resolver {
	struct stacks *stacks;
	const struct traces *traces;
	struct guard *symbols; /* NULL: none are wanted */
	struct known *known;
	struct trace_image *images; /* those of the traces, with build-ids of their files */
	void *places, *shapes;
};

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

static int add_frame(struct resolver *r, struct place *place, const struct frame *like)
{
	const struct frame *frame = stacks_frame(r->stacks, like);

	if (!frame)
		return -ENOMEM;
	place->frames[place->n++] = frame;
	return 0;
}

/* @image with the build-id of its file, which the kernel does not tell. */
static const struct trace_image *identified(struct resolver *r, const struct trace_image *image)
{
	struct trace_image *known = &r->images[image - r->traces->images];

	if (!known->path) {
		*known = *image;
		if (!known->build_id_length)
			known->build_id_length = guard_build_id(r->symbols, image, known->build_id);
	}
	return known;
}

/* As symbols_find(). */
static size_t find_symbols(struct resolver *r, const struct trace_image *image, uint64_t offset,
			   bool exact, struct symbol found[SYMBOL_INLINES_MOST])
{
	const struct trace_image *named = identified(r, image);
	size_t n = known_find(r->known, named, offset, exact, found);

	if (!n) {
		n = guard_find(r->symbols, image, offset, exact, found);
		known_add(r->known, named, offset, exact, found, n);
	}
	return n;
}

/* Fills @place with the functions at its address. */
static int look_up(struct resolver *r, struct place *place)
{
	const struct trace_image *image = traces_image(r->traces, place->address.image);
	struct symbol found[SYMBOL_INLINES_MOST];
	struct frame like = {.offset = place->address.offset};
	char id[TRACE_BUILD_ID_TEXT];
	size_t n = 0;
	int err = 0;

	if (!image)
		return add_frame(r, place, &like);
	like.module = image->path;
	like.build_id = *trace_build_id(image, id) ? id : NULL;
	if (r->symbols)
		n = find_symbols(r, image, place->address.offset,
				 place->address.flags & MTAG_STACK_EXACT, found);
	for (size_t i = 0; i < n; i++) {
		like.function = found[i].function;
		like.file = found[i].file;
		like.line = found[i].line;
		like.inlined = found[i].inlined;
		err = err ? err : add_frame(r, place, &like);
		free(found[i].function);
		free(found[i].file);
	}
	if (r->symbols && !n)
		like.address = guard_address(r->symbols);
	return n ? err : add_frame(r, place, &like);
}

/* NULL without memory. */
static const struct place *find_place(struct resolver *r, const struct mtag_stack_frame *address)
{
	struct place *place = calloc(1, sizeof(*place)), **found;

	if (!place)
		return NULL;
	place->address = *address;
	found = tsearch(place, &r->places, by_address);
	if (!found || *found != place) {
		free(place);
		return found ? *found : NULL;
	}
	return look_up(r, place) ? NULL : place;
}

static int by_frames(const void *a, const void *b)
{
	const struct shape *x = a, *y = b;

	return ((uintptr_t)x->of > (uintptr_t)y->of) - ((uintptr_t)x->of < (uintptr_t)y->of);
}

/* NULL without memory. */
static struct shape *find_shape(struct resolver *r, const struct mtag_stack_frame *of)
{
	struct shape *shape = calloc(1, sizeof(*shape)), **found;

	if (!shape)
		return NULL;
	shape->of = of;
	found = tsearch(shape, &r->shapes, by_frames);
	if (found && *found == shape)
		return shape;
	free(shape);
	return found ? *found : NULL;
}

/* A stack with the functions of the trace, and nothing else of it. NULL without memory. */
static struct stack *make_stack(struct resolver *r, const struct trace *trace)
{
	const struct place *places[TRACE_FRAMES_MOST];
	struct stack *stack;
	size_t n = 0;

	for (size_t i = 0; i < trace->n; i++) {
		places[i] = find_place(r, &trace->frames[i]);
		if (!places[i])
			return NULL;
		n += places[i]->n;
	}
	stack = stacks_add(r->stacks, n);
	for (size_t i = trace->n; stack && i-- > 0;)
		for (size_t j = places[i]->n; j-- > 0;)
			stack->frames[stack->n++] = places[i]->frames[j];
	return stack;
}

/* A process may have a stack beneath thousands of tags: it is made once. */
static struct stack *make_shared(struct resolver *r, const struct trace *trace)
{
	struct shape *shape = find_shape(r, trace->frames);
	struct stack *stack;

	if (!shape)
		return NULL;
	if (shape->frames)
		return stacks_add_like(r->stacks, shape->frames, shape->n);
	stack = make_stack(r, trace);
	if (stack) {
		shape->frames = stack->frames;
		shape->n = stack->n;
	}
	return stack;
}

static int add_stack(struct resolver *r, const struct trace *trace)
{
	struct stack *stack = trace->shared ? make_shared(r, trace) : make_stack(r, trace);

	if (!stack)
		return -ENOMEM;
	stack->tag = trace->tag;
	stack->kind = trace->kind;
	stack->why = trace->why;
	stack->anon = trace->anon;
	stack->swap = trace->swap;
	stack->touched = trace->touched;
	stack->knows_touched = trace->knows_touched;
	stack->heap = trace->heap;
	return 0;
}

int stacks_resolve(struct stacks *stacks, const struct traces *traces, bool symbols)
{
	_cleanup_(guard_closep) struct guard *open = NULL;
	_cleanup_(known_closep) struct known *known = NULL;
	_cleanup_(freep) struct trace_image *images = calloc(traces->n_images + 1, sizeof(*images));
	struct progress progress = {.what = "looking up functions: stack", .all = traces->n};
	struct resolver r = {.stacks = stacks, .traces = traces, .images = images};
	int err = 0;

	if (symbols)
		r.symbols = open = guard_open(traces->pid, &traces->owner);
	if (symbols)
		r.known = known = known_open();
	if (!images || (symbols && (!open || !known)))
		return -ENOMEM;
	if (open)
		guard_tell(open, &progress);
	stacks->one_in = traces->one_in;
	stacks->lost = traces->lost;
	stacks->uncounted = traces->uncounted;
	stacks->heap = traces->heap;
	stacks->resident = traces->resident;
	for (size_t i = 0; i < traces->n && !err; i++) {
		progress_show(&progress, i);
		err = add_stack(&r, &traces->traces[i]);
	}
	progress_end(&progress);
	tdestroy(r.places, free);
	tdestroy(r.shapes, free);
	return err;
}
