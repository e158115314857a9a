/* SPDX-License-Identifier: GPL-2.0 */
/* Hands the unwind tables of programs and processes to the module. */
#ifndef MTAGCTL_STACKS_LOAD_H
#define MTAGCTL_STACKS_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/**
 * struct loader - which files have been seen to
 * @device:	/dev/mtag, open while tables are handed in, else -1: whoever has it open keeps the module
 * @owner:	whose process it is: the module has the tables of his files in his share
 * @group:	of the process
 * @patience:	milliseconds that its untrusted files may still take altogether
 * @foreign:	it has another root directory: what a container's root wrote may have the build-id of any file, and is
 *		not kept by it
 * @file:	what identifies each, and for whom; a program that was rebuilt may have the inode of the old one
 * @files:	how many
 * @room:	how many fit
 */
struct loader {
	int device;
	uid_t owner;
	gid_t group;
	uint64_t patience;
	bool foreign;
	struct loaded {
		uid_t owner;
		dev_t dev;
		ino_t ino;
		off_t size;
		struct timespec changed;
	} * file;
	size_t files, room;
};

void loader_init(struct loader *loader);
void loader_clear(struct loader *loader);

/*
 * These leave out files of which there is no table to be had, or that the module has one of. Where the module has no
 * more room, the first two say so: stacks will end early.
 */
/* What a program needs that is about to be executed: itself, its libraries, their loader; and the vdso. */
void load_before_run(const char *name);
/* What a process has mapped executable. */
void load_tracked(pid_t pid);
/* Likewise, but for the files that @loader has seen to. Returns 0, -ENOMEM or -ENOSPC. */
int load_process(struct loader *loader, pid_t pid);

#endif
