/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A sample into a file that gets its name when it is complete. */
#ifndef MTAG_LIB_FILE_H
#define MTAG_LIB_FILE_H

#include <stdbool.h>

#include "out.h"
#include "sample.h"

#define MTAG__NAME_BYTES 4096

typedef void mtag__print_t(struct mtag__out *out, struct mtag__sample *sample);

/*
 * Writes a sample into the file @name, mode 0600. With @replace it replaces a regular file; what is
 * there otherwise stays: -EEXIST. Returns 0 or -errno, and then nothing is left over.
 */
int mtag__file_store(const char *name, mtag__print_t *print, struct mtag__sample *sample,
		     bool replace);

#endif
