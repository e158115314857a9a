/* SPDX-License-Identifier: GPL-2.0 */
/* The stacks of a process in the model: functions, and the bytes first touched there. */
#ifndef MTAGCTL_STACKS_STACK_H
#define MTAGCTL_STACKS_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct frame - a function of a stack. What is unknown is NULL or 0.
 * @line:	in @file, its source
 * @inlined:	into its caller, the frame before it: both have one address
 * @module:	path of the file that the code is in; or "[vdso]", or "[anon]", whose offsets are addresses
 * @offset:	in it
 * @build_id:	its, in hexadecimal
 * @address:	of a place without a function, as the file's own headers count addresses; of a caller, that of its call
 */
struct frame {
	char *function;
	char *file;
	unsigned int line;
	bool inlined;
	char *module;
	uint64_t offset;
	char *build_id;
	uint64_t address;
};

/**
 * struct stack_heap - objects that a stack has allocated, and that nobody has freed
 * @asked:	bytes
 * @variance:	of @asked
 * @objects:	how many
 * @resident:	bytes of them on pages that are there, where somebody asked for that
 */
struct stack_heap {
	double asked, variance, objects, resident;
};

void stack_heap_add(struct stack_heap *sum, const struct stack_heap *more);
/* A sum of them as a whole number, however large a damaged view makes it. */
uint64_t stack_heap_whole(double sum);
/* 1 sigma of the bytes. */
uint64_t stack_heap_error(const struct stack_heap *heap);

/**
 * struct stack - a stack beneath a tag
 * @tag:	the kernel's id of the tag
 * @kind:	enum mtag_stack_kind; only MTAG_STACK_TAKEN has frames
 * @why:	enum mtag_stack_why
 * @frames:	outermost first; equal frames of a process are one
 * @shared:	the array is that of another stack
 * @anon:	bytes
 * @swap:	likewise
 * @touched:	likewise, ever; 0 unless @knows_touched
 * @heap:	what it has allocated; nothing unless struct stacks knows that
 */
struct stack {
	uint16_t tag;
	uint32_t kind;
	uint32_t why;
	const struct frame **frames;
	size_t n;
	bool shared;
	uint64_t anon, swap, touched;
	bool knows_touched;
	struct stack_heap heap;
};

/**
 * struct stacks - the stacks of a process; initially all 0
 * @stacks:	@n of them; several may have equal frames
 * @one_in:	of so many first touches one was sampled; 0 if nobody said
 * @lost:	first touches whose stack found no room
 * @uncounted:	bytes ever first touched that are in no @touched
 * @heap:	the process has a heap view, and stacks say what they have allocated
 * @resident:	and what of that is resident
 * @frames:	all that are referred to
 */
struct stacks {
	struct stack *stacks;
	size_t n, room;
	uint32_t one_in;
	uint64_t lost, uncounted;
	bool heap, resident;
	void *frames;
};

/* The frame that is as @like, of which it has copies. NULL without memory. */
const struct frame *stacks_frame(struct stacks *stacks, const struct frame *like);
/* A new stack with room for @n frames, which the caller sets, as all else. Likewise. */
struct stack *stacks_add(struct stacks *stacks, size_t n);
/* One with @n frames of another one. Likewise. */
struct stack *stacks_add_like(struct stacks *stacks, const struct frame **frames, size_t n);
void stacks_clear(struct stacks *stacks);

/* "main", "libc.so.6+0x2724a", "[unknown]". NULL without memory; caller frees it. */
char *frame_name(const struct frame *frame);
/* The last component of the module's path, NULL if it has none. */
const char *frame_module(const struct frame *frame);
/* The outermost frame was reached. */
bool stack_is_complete(const struct stack *stack);
/* "[before]", where there is no stack. */
const char *stack_kind(const struct stack *stack);
/* Why there is no more of it, in a word: "complete", "before"; "unknown" if a newer kernel said it. */
const char *stack_why(const struct stack *stack);
/* What such a word says. False if it is none. */
bool stack_because(struct stack *stack, const char *why);

#endif
