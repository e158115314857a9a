/* SPDX-License-Identifier: GPL-2.0 */
/* A heap view as a table, with the account of the process's RSS below it. */
#ifndef MTAGCTL_HEAP_TABLE_H
#define MTAGCTL_HEAP_TABLE_H

#include "format/fmt.h"
#include "heap/view.h"

void heap_table(const struct fmt *fmt, const struct heap_view *view);

#endif
