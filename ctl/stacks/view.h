/* SPDX-License-Identifier: GPL-2.0 */
/* The stacks of a process as they are shown: those that were asked for, the largest first. */
#ifndef MTAGCTL_STACKS_VIEW_H
#define MTAGCTL_STACKS_VIEW_H

#include "model.h"
#include "stacks/stack.h"

/**
 * struct stack_choice - which stacks, and how
 * @tag:	path; this one and all below it; NULL: all
 * @most:	the largest of each process, 0: all
 * @combined:	one stack is one, whatever its tag
 */
struct stack_choice {
	const char *tag;
	unsigned long most;
	bool combined;
};

/**
 * struct stack_row - the bytes of a stack beneath a tag, or of all tags
 * @tag:	NULL for all
 * @stack:	one that has these frames, for all but its bytes
 * @anon:	sums over all that have it
 * @swap:	likewise
 * @touched:	likewise
 * @knows_touched: it is known for all of them
 * @heap:	sums likewise
 */
struct stack_row {
	const struct tag *tag;
	const struct stack *stack;
	uint64_t anon, swap, touched;
	bool knows_touched;
	struct stack_heap heap;
};

/**
 * struct stack_view - what is shown of a process; refers to it
 * @proc:	its name, tags and stacks
 * @rows:	@n of them, the largest first
 * @n_all:	how many there are without the choice's most, and behind @n they are
 * @anon:	sums over all of them
 * @swap:	likewise
 * @one_in:	of so many first touches one was sampled: what the kernel says, else an estimate; at least 1
 */
struct stack_view {
	const struct proc *proc;
	struct stack_row *rows;
	size_t n, n_all;
	uint64_t anon, swap;
	double one_in;
};

/* @proc must have stacks. 0 or -ENOMEM. The caller clears it in both cases. */
int stack_view_make(struct stack_view *view, const struct proc *proc,
		    const struct stack_choice *choice);
void stack_view_clear(struct stack_view *view);

/* Whether the path of a tag is @path, or below it; LABEL_UNTAGGED is a path, too. */
bool stacks_within(const struct tag *tag, const char *path);
/* How far the pages that @bytes of samples stand for may be from the truth: 0.05 is 5 %; 0 if all are sampled. */
double stack_view_error(const struct stack_view *view, uint64_t bytes);

#endif
