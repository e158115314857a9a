/* SPDX-License-Identifier: GPL-2.0 */
/* A heap view as a table, with the account of the process's RSS below it. */
#ifndef MTAGCTL_HEAPS_TABLE_H
#define MTAGCTL_HEAPS_TABLE_H

#include "format/fmt.h"
#include "heaps/view.h"

void heap_table(const struct fmt *fmt, const struct heap_view *view);

#endif
