/* SPDX-License-Identifier: GPL-2.0 */
/* Prints bytes as a gzip file. */
#ifndef MTAGCTL_FORMAT_GZIP_H
#define MTAGCTL_FORMAT_GZIP_H

#include <stddef.h>
#include <stdio.h>

/* 0 or -ENOMEM. The same bytes always make the same file. */
int gzip_print(FILE *out, unsigned char *data, size_t length);

#endif
