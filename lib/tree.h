/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A sample as a tree for people, as `mtagctl tree` prints it. */
#ifndef MTAG_LIB_TREE_H
#define MTAG_LIB_TREE_H

#include "out.h"
#include "sample.h"

/* Reorders the sample by size. */
void mtag__tree_print(struct mtag__out *out, struct mtag__sample *sample);

#endif
