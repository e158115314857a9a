/* SPDX-License-Identifier: GPL-2.0 */
/* The user stacks of a process as the kernel gives them: addresses in files, and the bytes first touched there. */
#ifndef MTAGCTL_STACKS_TRACE_H
#define MTAGCTL_STACKS_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "stacks/stack.h"
#include "uapi/linux/mtag.h"

#define TRACE_FRAMES_MOST   255 /* deeper frames, which the kernel does not send, are left out */
#define TRACE_BUILD_ID_MOST 64

/**
 * struct trace_image - what frames are in
 * @path:	of a file, in the process's root; or "[vdso]", or "[anon]", whose offsets are addresses
 */
struct trace_image {
	uint32_t id;
	char *path;
	uint8_t build_id[TRACE_BUILD_ID_MOST];
	size_t build_id_length;
};

/**
 * struct trace - a stack beneath a tag
 * @kind:	enum mtag_stack_kind; only MTAG_STACK_TAKEN has frames
 * @why:	enum mtag_stack_why
 * @knows_touched: @touched is known
 * @heap:	what it has allocated; by heap_sites_add()
 * @number:	by which the process knows the stack, else 0. With a number it is beneath no tag
 * @frames:	innermost first
 * @shared:	these are those of another trace
 */
struct trace {
	uint16_t tag;
	uint32_t kind;
	uint32_t why;
	uint64_t anon, swap, touched;
	bool knows_touched;
	struct stack_heap heap;
	uint32_t number;
	struct mtag_stack_frame *frames;
	size_t n;
	bool shared;
};

/* Whose a process is; @known: it was there. */
struct trace_owner {
	bool known;
	uid_t uid;
	gid_t gid;
};

/* Whose it is now. */
struct trace_owner trace_owner_of(pid_t pid);

/**
 * struct traces - the stacks of a process; initially all 0
 * @owner:	of the process, before they were read
 * @one_in:	of so many first touches one was sampled; 0 if nobody said
 * @lost:	first touches whose stack found no room
 * @uncounted:	bytes ever first touched that are in no @touched
 * @heap:	traces say what they have allocated
 * @resident:	and what of that is resident
 * @named:	those with a number
 */
struct traces {
	pid_t pid;
	struct trace_owner owner;
	uint32_t one_in;
	uint64_t lost, uncounted;
	bool heap, resident;
	struct trace_image *images;
	size_t n_images, images_room;
	struct trace *traces;
	size_t n, room;
	struct trace *named;
	size_t n_named, named_room;
};

/* These return NULL without memory, and leave @traces valid. */
struct trace_image *traces_add_image(struct traces *traces, uint32_t id, const char *path);
struct trace *traces_add(struct traces *traces, const struct mtag_stack_frame *frames, size_t n);
struct trace *traces_add_named(struct traces *traces, const struct mtag_stack_frame *frames,
			       size_t n);
/* Has the frames of one with a number, but for the @inner innermost, and nothing else of it. */
struct trace *traces_add_like(struct traces *traces, const struct trace *named, size_t inner);
/* NULL if there is none. */
const struct trace_image *traces_image(const struct traces *traces, uint32_t id);
void traces_clear(struct traces *traces);

/* "deadbeef…": the build-id in hexadecimal, "" if there is none. */
#define TRACE_BUILD_ID_TEXT (2 * TRACE_BUILD_ID_MOST + 1)
const char *trace_build_id(const struct trace_image *image, char text[TRACE_BUILD_ID_TEXT]);
/* The last component of the path. */
const char *trace_image_name(const struct trace_image *image);

#endif
