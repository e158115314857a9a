/* SPDX-License-Identifier: GPL-2.0 */
/* Stacks as a table for people. */
#ifndef MTAGCTL_STACKS_TABLE_H
#define MTAGCTL_STACKS_TABLE_H

#include "format/fmt.h"
#include "stacks/view.h"

/* A line for each stack, and below it its functions, the innermost first; then what is to be known of the numbers. */
int stacks_table(const struct fmt *fmt, const struct stack_view *view);

#endif
