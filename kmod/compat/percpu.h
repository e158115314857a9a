/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Operations on per-CPU variables that the kernel's own take more instructions for, on some
 * kernels or on all. The caller stays on its CPU.
 */
#ifndef MTAG_COMPAT_PERCPU_H
#define MTAG_COMPAT_PERCPU_H

#include <linux/percpu.h>
#include <linux/types.h>

#ifdef CONFIG_SMP
#define MTAG_PERCPU	"%%gs:"
#else
#define MTAG_PERCPU	""
#endif

/* @var in the address space of the segment, as an operand of @type. */
#define mtag_percpu(type, var)	(*(type __force *)(__force unsigned long)&(var))

/* Is @var, of 4 or 8 bytes, @val? Compares in memory. */
#define mtag_percpu_is(var, val)						\
({										\
	typeof(val) val_ = (val);						\
	bool is_;								\
										\
	BUILD_BUG_ON(sizeof(var) != sizeof(val_) || sizeof(val_) < 4);		\
	asm volatile("cmp %[v], " MTAG_PERCPU "%[m]"				\
		     : "=@cce" (is_)						\
		     : [m] "m" (mtag_percpu(typeof(val_), var)), [v] "r" (val_));	\
	is_;									\
})

/* Adds @val to @var, both u8. Return: is the highest bit set now? */
#define mtag_percpu_add_full(var, val)						\
({										\
	bool full_;								\
										\
	BUILD_BUG_ON(sizeof(var) != 1);						\
	asm volatile("addb %[v], " MTAG_PERCPU "%[m]"				\
		     : "=@ccs" (full_), [m] "+m" (mtag_percpu(u8, var))		\
		     : [v] "qi" ((u8)(val)));					\
	full_;									\
})

#endif /* MTAG_COMPAT_PERCPU_H */
