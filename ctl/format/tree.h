/* SPDX-License-Identifier: GPL-2.0 */
/* What tree prints: the tags of a process below each other, with sums. */
#ifndef MTAGCTL_FORMAT_TREE_H
#define MTAGCTL_FORMAT_TREE_H

#include "format/fmt.h"
#include "model.h"

/* Both return 0 or -ENOMEM. */
int tree_text(const struct fmt *fmt, const struct proc *proc);
int tree_json(const struct fmt *fmt, const struct proc *proc);

#endif
