/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A sample into a file that gets its name when it is complete. */
#ifndef MTAG_LIB_FILE_H
#define MTAG_LIB_FILE_H

#include <stdbool.h>

#include "out.h"
#include "sample.h"

#define MTAG__NAME_BYTES 4096

/**
 * struct mtag__file - a file that is being written
 * @name:	its name
 * @beside:	that of the one which will replace it
 * @out:	the text on its way
 *
 * Too large for the stack of a thread that exits, which may be PTHREAD_STACK_MIN.
 */
struct mtag__file {
	char name[MTAG__NAME_BYTES], beside[MTAG__NAME_BYTES];
	struct mtag__out out;
};

/* One for the files that are made of this sample, each after the other: in the sample's own memory. */
struct mtag__file *mtag__file_of(struct mtag__sample *sample);

typedef void mtag__print_t(struct mtag__out *out, struct mtag__sample *sample);

/*
 * Writes a sample into the file @file->name, mode 0600. With @replace it replaces a regular file; what is
 * there otherwise stays: -EEXIST. Returns 0 or -errno, and then nothing is left over.
 */
int mtag__file_store(struct mtag__file *file, mtag__print_t *print, struct mtag__sample *sample,
		     bool replace);

#endif
