/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A sample as a graph, as `mtagctl show -f dot` prints it. */
#ifndef MTAG_LIB_DOT_H
#define MTAG_LIB_DOT_H

#include "out.h"
#include "sample.h"

void mtag__dot_print(struct mtag__out *out, struct mtag__sample *sample);

#endif
