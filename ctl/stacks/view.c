// SPDX-License-Identifier: GPL-2.0
/* The stacks of a process as they are shown. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "ctl.h"
#include "format/label.h"
#include "stacks/view.h"

static void add_row(struct stack_view *view, const struct stack *stack,
		    const struct stack_choice *choice)
{
	const struct tag *tag = proc_find_tag(view->proc, stack->tag);

	/* A tag that was made since the tags were read is not known yet: its stacks come the next time. */
	if (!tag || (choice->tag && !stacks_within(tag, choice->tag)))
		return;
	view->rows[view->n++] = (struct stack_row){
		.tag = choice->combined ? NULL : tag,
		.stack = stack,
		.anon = stack->anon,
		.swap = stack->swap,
		.touched = stack->touched,
		.knows_touched = stack->knows_touched,
		.heap = stack->heap,
	};
	view->anon += stack->anon;
	view->swap += stack->swap;
}

static int by_frames(const struct stack *x, const struct stack *y)
{
	if (x->n != y->n)
		return x->n < y->n ? -1 : 1;
	return x->n ? memcmp(x->frames, y->frames, x->n * sizeof(*x->frames)) : 0;
}

static int by_stack(const void *a, const void *b)
{
	const struct stack_row *x = a, *y = b;

	if (x->tag != y->tag)
		return x->tag < y->tag ? -1 : 1;
	if (x->stack->kind != y->stack->kind)
		return x->stack->kind < y->stack->kind ? -1 : 1;
	if (x->stack->why != y->stack->why)
		return x->stack->why < y->stack->why ? -1 : 1;
	return by_frames(x->stack, y->stack);
}

/* What grows RSS, or what was never freed, whichever is more. */
static double size_of(const struct stack_row *row)
{
	double bytes = (double)(row->anon + row->swap);

	return row->heap.asked > bytes ? row->heap.asked : bytes;
}

static int by_size(const void *a, const void *b)
{
	const struct stack_row *x = a, *y = b;
	double p = size_of(x), q = size_of(y);

	if (p > q || p < q)
		return p > q ? -1 : 1;
	if (x->touched != y->touched)
		return x->touched > y->touched ? -1 : 1;
	return (x->stack > y->stack) - (x->stack < y->stack);
}

/* The same stack beneath the same tag, or any, is one. */
static void merge(struct stack_view *view)
{
	size_t n = 0;

	if (view->n)
		qsort(view->rows, view->n, sizeof(*view->rows), by_stack);
	for (size_t i = 0; i < view->n; i++) {
		struct stack_row *row = &view->rows[i], *last = &view->rows[n - !!n];

		if (!n || by_stack(last, row)) {
			view->rows[n++] = *row;
			continue;
		}
		last->anon += row->anon;
		last->swap += row->swap;
		last->touched += row->touched;
		last->knows_touched &= row->knows_touched;
		stack_heap_add(&last->heap, &row->heap);
		if (row->stack < last->stack)
			last->stack = row->stack;
	}
	view->n = n;
	if (n)
		qsort(view->rows, n, sizeof(*view->rows), by_size);
}

/* Unless the kernel says it, what was not sampled tells it, of all tags. */
static double estimate_one_in(const struct stacks *stacks)
{
	double sampled = 0, unsampled = 0;

	for (size_t i = 0; i < stacks->n; i++) {
		const struct stack *stack = &stacks->stacks[i];

		if (stack->kind == MTAG_STACK_TAKEN)
			sampled += (double)(stack->anon + stack->swap);
		if (stack->kind == MTAG_STACK_UNSAMPLED)
			unsampled += (double)(stack->anon + stack->swap);
	}
	if (stacks->one_in)
		return stacks->one_in;
	return sampled > 0 ? (sampled + unsampled) / sampled : 1;
}

int stack_view_make(struct stack_view *view, const struct proc *proc,
		    const struct stack_choice *choice)
{
	const struct stacks *stacks = proc->stacks;

	*view = (struct stack_view){.proc = proc, .one_in = estimate_one_in(stacks)};
	view->rows = calloc(stacks->n + 1, sizeof(*view->rows));
	if (!view->rows)
		return -ENOMEM;
	for (size_t i = 0; i < stacks->n; i++)
		add_row(view, &stacks->stacks[i], choice);
	merge(view);
	view->n_all = view->n;
	if (choice->most && choice->most < view->n)
		view->n = choice->most;
	return 0;
}

void stack_view_clear(struct stack_view *view)
{
	free(view->rows);
	*view = (struct stack_view){0};
}

bool stacks_within(const struct tag *tag, const char *path)
{
	size_t length = strlen(path);

	if (tag->id == MTAG_ID_UNTAGGED)
		return !length || !strcmp(path, LABEL_UNTAGGED);
	return length && !strncmp(tag->path, path, length) &&
	       (!tag->path[length] || tag->path[length] == '/');
}

double stack_view_error(const struct stack_view *view, uint64_t bytes)
{
	double n = view->one_in, pages = n * (double)bytes / (double)PAGE_BYTES;

	return n > 1 && pages > 0 ? sqrt((n - 1) / pages) : 0;
}
