/* SPDX-License-Identifier: GPL-2.0 */
/* Which files a program consists of when it begins. */
#ifndef MTAGCTL_STACKS_NEEDED_H
#define MTAGCTL_STACKS_NEEDED_H

/*
 * The program that execvp(3) would execute: of a script its interpreter. NULL if there is none. The
 * caller frees it.
 */
char *needed_find(const char *name);
/*
 * Calls @each with @data for the loader of the dynamic program @path and for all libraries that this would load,
 * until it returns anything but 0, and returns that.
 */
int needed_each(const char *path, int (*each)(const char *path, void *data), void *data);

#endif
