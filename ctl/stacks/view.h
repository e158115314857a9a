/* SPDX-License-Identifier: GPL-2.0 */
/* The stacks of a process as they are shown: with functions, those that were asked for, the largest first. */
#ifndef MTAGCTL_STACKS_VIEW_H
#define MTAGCTL_STACKS_VIEW_H

#include "model.h"
#include "stacks/trace.h"

/**
 * struct frame - a function of a stack
 * @function:	NULL if it is unknown
 * @file:	its source, NULL if it is unknown
 * @line:	0 if it is unknown
 * @inlined:	into its caller, the frame before it: both have one address
 * @image:	NULL if the kernel did not say which
 * @offset:	in it
 */
struct frame {
	const char *function;
	const char *file;
	unsigned int line;
	bool inlined;
	const struct trace_image *image;
	uint64_t offset;
};

/**
 * struct stack - the bytes of a stack beneath a tag, or of all tags
 * @tag:	NULL for all
 * @trace:	one that has this stack, for its kind and why it ended
 * @frames:	outermost first
 * @anon:	sums over all that have it
 * @swap:	likewise
 * @touched:	likewise
 * @knows_touched: it is known for all of them
 */
struct stack {
	const struct tag *tag;
	const struct trace *trace;
	const struct frame **frames;
	size_t n;
	uint64_t anon, swap, touched;
	bool knows_touched;
};

/**
 * struct choice - which stacks, and how
 * @tag:	path; this one and all below it; NULL: all
 * @most:	the largest of each process, 0: all
 * @combined:	one stack is one, whatever its tag
 * @symbols:	addresses become functions
 */
struct choice {
	const char *tag;
	unsigned long most;
	bool combined;
	bool symbols;
};

/**
 * struct stacks - what is shown of a process; refers to the process and its traces
 * @proc:	its name and tags
 * @traces:	what it was made of
 * @stacks:	@n of them, the largest first
 * @n_all:	how many there are without struct choice's most, and behind @n they are
 * @anon:	sums over all of them
 * @swap:	likewise
 * @one_in:	of so many first touches one was sampled: what the kernel says, else an estimate; at least 1
 * @places:	the functions of each address
 */
struct stacks {
	const struct proc *proc;
	const struct traces *traces;
	struct stack *stacks;
	size_t n, n_all;
	uint64_t anon, swap;
	double one_in;
	void *places;
};

/* 0 or -ENOMEM. The caller clears it in both cases. */
int stacks_make(struct stacks *stacks, const struct proc *proc, const struct traces *traces,
		const struct choice *choice);
void stacks_clear(struct stacks *stacks);

/* Whether the path of a tag is @path, or below it; LABEL_UNTAGGED is a path, too. */
bool stacks_within(const struct tag *tag, const char *path);
/* "main", "libc.so.6+0x2724a", "[unknown]". NULL without memory; caller frees it. */
char *frame_name(const struct frame *frame);
/* The outermost frame was reached. */
bool stack_is_complete(const struct stack *stack);
/* How far the pages that @bytes of samples stand for may be from the truth: 0.05 is 5 %; 0 if all are sampled. */
double stacks_error(const struct stacks *stacks, uint64_t bytes);

#endif
