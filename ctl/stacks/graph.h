/* SPDX-License-Identifier: GPL-2.0 */
/* Stacks as tags beneath tags, for the forms and pictures that processes and tags have. */
#ifndef MTAGCTL_STACKS_GRAPH_H
#define MTAGCTL_STACKS_GRAPH_H

#include "stacks/view.h"

/*
 * Adds a process whose tags own nothing but the stacks beneath them: each function is a frame of the model, or
 * (@lines) each line of it, and the innermost owns the bytes. 0 or -ENOMEM.
 */
int graph_add(struct snap *snap, const struct stack_view *view, bool lines);
/* Likewise by lines, of what stacks have allocated and nobody has freed: values for pprof_print_heap(). */
int graph_add_heap(struct snap *snap, const struct stack_view *view);

#endif
