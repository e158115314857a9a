/* SPDX-License-Identifier: GPL-2.0 */
/* See types.h: what compilers are told. */
#ifndef UNIT_LINUX_COMPILER_H
#define UNIT_LINUX_COMPILER_H

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif
#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)

#define OPTIMIZER_HIDE_VAR(var) __asm__("" : "=r"(var) : "0"(var))

#endif
