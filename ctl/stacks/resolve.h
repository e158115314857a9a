/* SPDX-License-Identifier: GPL-2.0 */
/* Stacks of addresses, as the kernel gives them, into stacks of functions. */
#ifndef MTAGCTL_STACKS_RESOLVE_H
#define MTAGCTL_STACKS_RESOLVE_H

#include "stacks/stack.h"
#include "stacks/trace.h"

/* Adds the traces to @stacks. Without @symbols no file is read. 0 or -ENOMEM. */
int stacks_resolve(struct stacks *stacks, const struct traces *traces, bool symbols);

#endif
