/* SPDX-License-Identifier: GPL-2.0 */
/* The file of -o. It is replaced when all is written, so that it is never half of something. */
#ifndef MTAGCTL_OUTPUT_H
#define MTAGCTL_OUTPUT_H

#include <stdio.h>

struct outfile {
	const char *path; /* NULL: standard output */
	char *temporary; /* what becomes @path, or NULL if that is written in place, as a pipe is */
	FILE *file;
};

/* Both return 0, or an exit status after an error message. */
int output_open(struct outfile *output, const char *path);
/* Ends the output. With a @status that is an error's, a file stays as it was. Returns @status, or an error's. */
int output_close(struct outfile *output, int status);

#endif
