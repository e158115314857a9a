/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads the word by which a thread says its tag.
 */
#ifndef MTAG_WORD_H
#define MTAG_WORD_H

#include <linux/types.h>
#include <asm/asm.h>

/**
 * mtag_word_read() - the number in a word
 * @word:	in a page of the process's that is pinned, or the module's own
 *
 * The page of a process may fail: the kernel then takes it out of its own page tables, pinned or
 * not, and a read of it faults.
 *
 * Context: any.
 * Return: what user space has stored there; 0, which is untagged, if the page has failed.
 */
static __always_inline u32 mtag_word_read(const u32 *word)
{
	u32 tag;

	asm volatile("1:	movl %1, %0\n"
		     "2:\n"
		     _ASM_EXTABLE_TYPE_REG(1b, 2b, EX_TYPE_ZERO_REG, %0)
		     : "=r" (tag) : "m" (*word));
	return tag;
}

#endif /* MTAG_WORD_H */
