/* SPDX-License-Identifier: GPL-2.0 */
/* The file of -o. It is replaced when all is written, so that it is never half of something. */
#ifndef MTAGCTL_OUTPUT_H
#define MTAGCTL_OUTPUT_H

#include <stdio.h>
#include <sys/types.h>

struct outfile {
	const char *path; /* NULL: standard output */
	char *place; /* the file that is replaced, or NULL if it is written as it is, as a pipe is */
	char *temporary; /* what becomes it, if that has a name yet */
	FILE *file;
};

/* Both return 0, or an exit status after an error message. A file that is new gets @mode, less the umask. */
int output_open(struct outfile *output, const char *path, mode_t mode);
/* Ends the output. With a @status that is an error's, a file stays as it was. Returns @status, or an error's. */
int output_close(struct outfile *output, int status);

#endif
