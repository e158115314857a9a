/* SPDX-License-Identifier: GPL-2.0 */
/* User stacks beneath tags, asked for by netlink. */
#ifndef MTAG_TESTS_STACKS_H
#define MTAG_TESTS_STACKS_H

#include "netlink.h"

#define STACKS_MAX  8192
#define FRAMES_MAX  127
#define IMAGES_SEEN 256

/* Its ids go on from those of all programs that the module has seen. */
struct image_seen {
	uint32_t id;
	const char *path;
};

struct stack_seen {
	uint16_t tag;
	uint32_t kind, why, nr, number;
	uint64_t anon, swap, touched;
	struct mtag_stack_frame frame[FRAMES_MAX];
};

/* What a process has; one answer at a time, in memory that is there from the first on. */
struct stacks {
	int error;
	unsigned int nr;
	bool ended; /* the last message has come */
	uint32_t one_in;
	uint64_t lost, uncounted;
	struct stack_seen *stack;
	unsigned int nr_images;
	struct image_seen image[IMAGES_SEEN];
};

/* What an answer calls an image: NULL if it does not name it. */
const char *image_path(const struct stacks *s, uint32_t id);

struct stacks *stacks(pid_t pid);
struct stacks *stacks_older(pid_t pid, uint32_t seconds);
struct stacks *stacks_named(pid_t pid); /* with those that the process knows by number */

/* Begins to take those of another process and its tree: 0 or -errno. fd -1: none. */
int stacks_start(pid_t pid, uint32_t one_in, int fd);

/* The same for the calling process, by ioctl. */
int stacks_start_self(uint32_t one_in, int fd);

/* Sums over the stacks of one tag, or of all, and how many of them own something. */
#define ANY_TAG	 0x10000
#define ANY_KIND 0xff
struct stack_sum {
	uint64_t anon, swap, touched, stacks;
};

void stack_add(struct stack_sum *sum, const struct stack_seen *e);
struct stack_sum stack_sum(const struct stacks *s, unsigned int tag, unsigned int kind);

#endif
