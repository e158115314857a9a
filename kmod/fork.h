/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hooks of fork; fork.c.
 */
#ifndef MTAG_FORK_H
#define MTAG_FORK_H

#include "hooked.h"

MTAG_HOOK_FUNC(mtag_fork_begin);
MTAG_HOOK_FUNC(mtag_fork_copied);
MTAG_HOOK_FUNC(mtag_fork_end);

#endif /* MTAG_FORK_H */
