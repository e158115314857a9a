/* SPDX-License-Identifier: GPL-2.0 */
/* See linux/types.h. */
#ifndef UNIT_ASM_BARRIER_H
#define UNIT_ASM_BARRIER_H

#define smp_load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)

#endif
