/* SPDX-License-Identifier: GPL-2.0 */
/* Hands the unwind tables of programs and processes to the module. */
#ifndef MTAGCTL_STACKS_LOAD_H
#define MTAGCTL_STACKS_LOAD_H

#include <stddef.h>
#include <sys/types.h>

/**
 * struct loader - which files have been seen to
 * @device:	/dev/mtag, open while tables are handed in, else -1: whoever has it open keeps the module
 * @file:	device and inode of each
 * @files:	how many
 * @room:	how many fit
 */
struct loader {
	int device;
	struct loaded {
		dev_t dev;
		ino_t ino;
	} * file;
	size_t files, room;
};

void loader_init(struct loader *loader);
void loader_clear(struct loader *loader);

/*
 * Both leave out files of which there is no table to be had, or that the module has one of. They return 0, or a
 * negative errno of the module: -ENOMEM or -ENOSPC, it has no more room.
 */
/* What a program needs that is about to be executed: itself, its libraries, their loader; and the vdso. */
int load_program(struct loader *loader, const char *name);
/* What a process has mapped executable. */
int load_process(struct loader *loader, pid_t pid);

#endif
