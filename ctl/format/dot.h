/* SPDX-License-Identifier: GPL-2.0 */
/* A graph in the language of graphviz. */
#ifndef MTAGCTL_FORMAT_DOT_H
#define MTAGCTL_FORMAT_DOT_H

#include "format/fmt.h"
#include "model.h"

/* A cluster for each process, a node for each tag, an edge to each tag below it. 0 or -ENOMEM. */
int dot_print(const struct fmt *fmt, const struct snap *snap);

#endif
