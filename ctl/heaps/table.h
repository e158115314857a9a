/* SPDX-License-Identifier: GPL-2.0 */
/* The heap of a process as a table, with the account of its RSS below it; or that account by tag. */
#ifndef MTAGCTL_HEAPS_TABLE_H
#define MTAGCTL_HEAPS_TABLE_H

#include "format/fmt.h"
#include "model.h"

/* The process has a heap. With @accounts the tags have their accounts, not columns. */
void heap_table(const struct fmt *fmt, const struct proc *proc, bool accounts);

#endif
