/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hooks of exec, exit and new threads; life.c.
 */
#ifndef MTAG_LIFE_H
#define MTAG_LIFE_H

#include "hooked.h"

MTAG_HOOK_FUNC(mtag_life_exec_begin);
MTAG_HOOK_FUNC(mtag_life_mm_going);
MTAG_HOOK_FUNC(mtag_life_mm_gone);
MTAG_HOOK_FUNC(mtag_life_mm_leave);
MTAG_HOOK_FUNC(mtag_life_oom_kill);
MTAG_HOOK_FUNC(mtag_life_thread_begin);
MTAG_HOOK_FUNC(mtag_life_thread_end);

#endif /* MTAG_LIFE_H */
