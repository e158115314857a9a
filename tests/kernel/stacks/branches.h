/* SPDX-License-Identifier: GPL-2.0 */
/* As many different stacks as are wanted: by each number other calls lead to the same function. */
#ifndef MTAG_TESTS_STACKS_BRANCHES_H
#define MTAG_TESTS_STACKS_BRANCHES_H

#define branch __attribute__((noinline, noipa))

static branch void zero_bit(unsigned int number, int bits, void (*leaf)(void));
static branch void one_bit(unsigned int number, int bits, void (*leaf)(void));

/* Both do this, and not as their last act, which would be no call. */
#define NEXT_BIT(number, bits, leaf)                                                               \
	do {                                                                                       \
		if (!(bits))                                                                       \
			(leaf)();                                                                  \
		else if ((number)&1)                                                               \
			one_bit((number) >> 1, (bits)-1, leaf);                                    \
		else                                                                               \
			zero_bit((number) >> 1, (bits)-1, leaf);                                   \
		__asm__ volatile("");                                                              \
	} while (0)

static branch void zero_bit(unsigned int number, int bits, void (*leaf)(void))
{
	NEXT_BIT(number, bits, leaf);
}

static branch void one_bit(unsigned int number, int bits, void (*leaf)(void))
{
	NEXT_BIT(number, bits, leaf);
}

/* Calls @leaf by the lowest @bits of @number. */
static inline void by_number(unsigned int number, int bits, void (*leaf)(void))
{
	one_bit(number, bits, leaf);
}

#endif
