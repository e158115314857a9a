// SPDX-License-Identifier: GPL-2.0
/*
 * The same as t_stacks.c of a program without frame pointers: each stack is found by unwind
 * tables, and is complete.
 */
/* vm: also=7.3-rt timeout=600 */
#define BARE
#include "t_stacks.c"
