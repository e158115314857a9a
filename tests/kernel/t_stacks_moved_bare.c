// SPDX-License-Identifier: GPL-2.0
/* The same as t_stacks_moved.c of a program without frame pointers, as t_stacks_bare.c. */
/* vm: also=7.3-rt */
#define BARE
#include "t_stacks_moved.c"
