/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads words of the current process where no page fault may be handled, as under a page-table
 * lock. Between mtag_userword_begin() and mtag_userword_end() nothing may be called, only inlined:
 * objtool sees to that.
 */
#ifndef MTAG_USERWORD_H
#define MTAG_USERWORD_H

#include <linux/compiler.h>
#include <linux/nospec.h>
#include <linux/types.h>
#include <linux/uaccess.h>

/**
 * mtag_userword_begin() - allow words to be read
 *
 * Context: any in which current->mm is the one to read of.
 * Return: whether they may be; if not, there is nothing to end.
 */
static __always_inline bool mtag_userword_begin(void)
{
	pagefault_disable();
	if (user_access_begin((void __user *)PAGE_SIZE, sizeof(u64)))
		return true;
	pagefault_enable();
	return false;
}

/**
 * mtag_userword_end() - no more words are read
 *
 * Context: as mtag_userword_begin(), which it must follow.
 */
static __always_inline void mtag_userword_end(void)
{
	user_access_end();
	pagefault_enable();
}

/**
 * mtag_userword_read() - read a word
 * @addr:	any number; it need not be aligned
 * @value:	set on success
 *
 * The caller may use the word as an address: one that is not a user address is not read,
 * even speculatively.
 *
 * Context: between mtag_userword_begin() and mtag_userword_end().
 * Return: whether there is a page at @addr that may be read.
 */
static __always_inline bool mtag_userword_read(u64 addr, u64 *value)
{
	unsigned long end = TASK_SIZE_MAX - sizeof(u64) + 1;
	u64 word;

	/* array_index_nospec() may not have a constant of more than 32 bits. */
	OPTIMIZER_HIDE_VAR(end);
	if (addr >= end)
		return false;
	addr = array_index_nospec(addr, end);
	unsafe_get_user(word, (u64 __user *)(unsigned long)addr, absent);
	*value = word;
	return true;
absent:
	return false;
}

/**
 * mtag_userword_reread() - read a word again
 * @addr:	one that mtag_userword_read() has read for this task: so it is a user address
 * @value:	set on success
 *
 * Context, return: as mtag_userword_read().
 */
static __always_inline bool mtag_userword_reread(u64 addr, u64 *value)
{
	unsafe_get_user(*value, (u64 __user *)(unsigned long)addr, absent);
	return true;
absent:
	return false;
}

#endif /* MTAG_USERWORD_H */
