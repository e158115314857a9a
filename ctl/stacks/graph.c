// SPDX-License-Identifier: GPL-2.0
/* Stacks as tags beneath tags. Stacks that begin alike share their beginning. */
#include <errno.h>
#include <search.h>
#include <string.h>

#include "ctl.h"
#include "format/pprof.h"
#include "stacks/graph.h"

/* A frame of the model that exists. Where lines do not matter, it has neither @file nor @line. */
struct node {
	int parent;
	int index;
	char *name;
	const char *file;
	unsigned int line;
	const struct frame
		*place; /* what is to be known of a place without a function, else NULL */
};

static int by_name(const void *a, const void *b)
{
	const struct node *x = a, *y = b;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (!x->file != !y->file)
		return x->file ? 1 : -1;
	if (x->file && strcmp(x->file, y->file) != 0)
		return strcmp(x->file, y->file);
	/* Equal frames of a process are one. */
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void node_free(void *node)
{
	free(((struct node *)node)->name);
	free(node);
}

/* What is drawn of stacks: their pages, or their objects. */
struct measure {
	bool (*has)(const struct stack_row *row);
	void (*add)(const struct stack_row *row, uint64_t *c);
};

struct nodes {
	void *root;
	bool lines;
	const struct measure *measure;
};

static void nodes_clear(struct nodes *nodes)
{
	tdestroy(nodes->root, node_free);
}

static int set_place(struct tag *tag, const struct frame *place)
{
	tag->address = place->address;
	tag->module = strdup(place->module);
	tag->build_id = strdup(place->build_id ? place->build_id : "");
	return tag->module && tag->build_id ? 0 : -ENOMEM;
}

static int add_frame(struct proc *proc, const struct node *node)
{
	struct tag *tag = proc_add_frame(proc, node->parent, node->name);

	if (!tag)
		return -ENOMEM;
	tag->line = node->line;
	tag->file = node->file ? strdup(node->file) : NULL;
	if (node->file && !tag->file)
		return -ENOMEM;
	return node->place && set_place(tag, node->place) ? -ENOMEM : node->index;
}

/* The index of @frame, which has that name, beneath @parent; takes @name. Negative without memory. */
static int find_node(struct nodes *nodes, struct proc *proc, int parent, const struct frame *frame,
		     char *name)
{
	struct node *node = malloc(sizeof(*node)), **found = NULL;

	if (node && name) {
		*node = (struct node){parent,
				      (int)proc->n_tags,
				      name,
				      nodes->lines ? frame->file : NULL,
				      nodes->lines ? frame->line : 0,
				      nodes->lines && frame->address && frame->module ? frame
										      : NULL};
		found = tsearch(node, &nodes->root, by_name);
	}
	if (!found || *found != node) {
		free(node);
		free(name);
		return found ? (*found)->index : -ENOMEM;
	}
	return add_frame(proc, node);
}

static int add_stack(struct nodes *nodes, struct proc *proc, const struct stack_row *row)
{
	const struct tag *tag = row->tag ? proc_find_tag(proc, row->tag->id) : NULL;
	const struct stack *stack = row->stack;
	int at = tag ? (int)(tag - proc->tags) : -1;
	static const struct frame none;

	if (stack->kind != MTAG_STACK_TAKEN)
		at = find_node(nodes, proc, at, &none, strdup(stack_kind(stack)));
	else if (!stack->n)
		at = find_node(nodes, proc, at, &none, strdup("[unknown]"));
	for (size_t i = 0; i < stack->n && at >= -1; i++)
		at = find_node(nodes, proc, at, stack->frames[i], frame_name(stack->frames[i]));
	if (at < 0)
		return -ENOMEM;
	nodes->measure->add(row, proc->tags[at].c);
	return 0;
}

/* Of what was only touched once nothing can be drawn. */
static bool has_pages(const struct stack_row *row)
{
	return row->anon || row->swap;
}

static void add_pages(const struct stack_row *row, uint64_t *c)
{
	c[MTAG_C_ANON] += row->anon;
	c[MTAG_C_SWAP] += row->swap;
	c[MTAG_C_TOUCHED] += row->touched;
}

static bool has_objects(const struct stack_row *row)
{
	return stack_heap_whole(row->heap.asked) || stack_heap_whole(row->heap.objects);
}

static void add_objects(const struct stack_row *row, uint64_t *c)
{
	c[PPROF_INUSE_OBJECTS] += stack_heap_whole(row->heap.objects);
	c[PPROF_INUSE_SPACE] += stack_heap_whole(row->heap.asked);
	c[PPROF_INUSE_RESIDENT] += stack_heap_whole(row->heap.resident);
}

static const struct measure pages = {has_pages, add_pages};
static const struct measure objects = {has_objects, add_objects};

/* The tags that have stacks, and all above these. */
static int add_tags(struct proc *proc, const struct stack_view *view, const struct measure *measure)
{
	const struct proc *from = view->proc;
	_cleanup_(freep) bool *needed = calloc(from->n_tags + 1, sizeof(*needed));

	if (!needed)
		return -ENOMEM;
	for (size_t i = 0; i < view->n; i++)
		if (view->rows[i].tag && measure->has(&view->rows[i]))
			needed[view->rows[i].tag - from->tags] = true;
	for (size_t i = from->n_tags; i-- > 0;)
		if (needed[i] && from->tags[i].parent >= 0)
			needed[from->tags[i].parent] = true;
	for (size_t i = 0; i < from->n_tags; i++)
		if (needed[i] && !proc_add_tag(proc, from->tags[i].id, from->tags[i].parent_id,
					       from->tags[i].name))
			return -ENOMEM;
	return 0;
}

static int add(struct snap *snap, const struct stack_view *view, bool lines,
	       const struct measure *measure)
{
	_cleanup_(snap_clear) struct snap one = {0};
	_cleanup_(nodes_clear) struct nodes nodes = {.lines = lines, .measure = measure};
	struct proc *proc = snap_add_proc(&one, view->proc->pid, view->proc->comm);

	if (!proc || add_tags(proc, view, measure) || snap_finish(&one))
		return -ENOMEM;
	/* Frames come behind all tags, and have a higher id: proc_find_tag() still finds these. */
	for (size_t i = 0; i < view->n; i++)
		if (measure->has(&view->rows[i]) && add_stack(&nodes, proc, &view->rows[i]))
			return -ENOMEM;
	return !proc_finish_frames(proc) && snap_move_proc(snap, proc) ? 0 : -ENOMEM;
}

int graph_add(struct snap *snap, const struct stack_view *view, bool lines)
{
	return add(snap, view, lines, &pages);
}

int graph_add_heap(struct snap *snap, const struct stack_view *view)
{
	return add(snap, view, true, &objects);
}
