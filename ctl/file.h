/* SPDX-License-Identifier: GPL-2.0 */
/* Files: opened without harm, read and written as a whole. */
#ifndef MTAGCTL_FILE_H
#define MTAGCTL_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Opens a file for reading if it is a regular one: nothing happens to a device or a pipe. Returns -1 otherwise. */
int file_open_regular(const char *path);

/* All of the bytes. False with errno if that fails; at the end of the file errno says nothing. */
bool file_read(int fd, void *data, size_t size);
bool file_write(int fd, const void *data, size_t size);

#endif
