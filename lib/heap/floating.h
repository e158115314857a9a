/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Weights and distances of samples are floating-point numbers. The program may have any rounding mode, may trap
 * exceptions, and may look at their flags: what malloc() does must neither depend on these nor show in them.
 *
 * fegetenv(3) and fesetenv(3) are functions of libm, which this library does without.
 */
#ifndef MTAG_LIB_HEAP_FLOATING_H
#define MTAG_LIB_HEAP_FLOATING_H

#include <stdint.h>

/* What is set when a program begins: rounded to nearest, no traps, no flags. */
#define MTAG__MXCSR 0x1f80
#define MTAG__X87   0x37f

/**
 * struct mtag__floating - what the program has set
 * @mxcsr: for the numbers of SSE
 * @x87: for those of the x87, as fnstenv stores it. 32-bit code converts by these
 *
 * Other processors have few traps or none: a program there may see the flag of an inexact result.
 */
struct mtag__floating {
	uint32_t mxcsr;
	uint32_t x87[7];
};

/* Between these two calls all is as when a program begins. */
static inline void mtag__floating_begin(struct mtag__floating *program)
{
	(void)program;
#ifdef __SSE2_MATH__
	const uint32_t mxcsr = MTAG__MXCSR;

	__asm__ volatile("stmxcsr %0" : "=m"(program->mxcsr) : : "memory");
	__asm__ volatile("ldmxcsr %0" : : "m"(mxcsr) : "memory");
#endif
#ifdef __i386__
	const uint16_t x87 = MTAG__X87;

	__asm__ volatile("fnstenv %0" : "=m"(program->x87) : : "memory");
	__asm__ volatile("fnclex\n\tfldcw %0" : : "m"(x87) : "memory");
#endif
}

static inline void mtag__floating_end(const struct mtag__floating *program)
{
	(void)program;
#ifdef __SSE2_MATH__
	__asm__ volatile("ldmxcsr %0" : : "m"(program->mxcsr) : "memory");
#endif
#ifdef __i386__
	__asm__ volatile("fldenv %0" : : "m"(program->x87) : "memory");
#endif
}

#endif
