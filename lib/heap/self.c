// SPDX-License-Identifier: LGPL-2.1-or-later
/* What a thread knows of itself. */
#include "self.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "view.h"

__thread struct mtag__self mtag__self __attribute__((tls_model("initial-exec")));

/* The signals that the calling thread blocks. */
static uint64_t blocked(void)
{
	uint64_t mask = 0;
	int saved = errno;

	syscall(SYS_rt_sigprocmask, 0, NULL, &mask, sizeof(mask));
	errno = saved;
	return mask;
}

/*
 * Threads that follow each other have the same address, and begin at about the same time: each gets the next number of
 * a sequence, mixed so that their first random numbers have nothing in common. (Steele, Lea and Flood: SplitMix64.)
 */
static uint64_t new_seed(void)
{
	static uint64_t sequence;
	uint64_t x = __atomic_add_fetch(&sequence, UINT64_C(0x9e3779b97f4a7c15), __ATOMIC_RELAXED);

	x += mtag__view.head->pid ^ (uintptr_t)&mtag__self ^ mtag__view_now();
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return (x ^ x >> 31) | 1;
}

bool mtag__self_begin(void)
{
	struct mtag__self *self = &mtag__self;

	if (self->begun)
		return false;
	self->begun = true;
	self->mask = blocked();
	self->random = new_seed();
	__atomic_fetch_add(&mtag__view.head->seen, 1, __ATOMIC_RELAXED);
	return true;
}

bool mtag__self_seed(void)
{
	if (mtag__self.begun)
		mtag__self.random = new_seed();
	return mtag__self.begun;
}

/* A program that blocks a signal to wait for it has no handler; one that crashes may have lost its own. */
static bool may_handle(int number)
{
	struct sigaction action;

	if (number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE ||
	    number == SIGABRT || number == SIGTRAP)
		return true;
	return sigaction(number, NULL, &action) || (action.sa_flags & SA_SIGINFO) ||
	       (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

bool mtag__self_in_handler(void)
{
	uint64_t more = blocked() & ~mtag__self.mask;
	int saved = errno, number;

	for (number = 1; more; number++, more >>= 1) {
		if ((more & 1) && may_handle(number)) {
			errno = saved;
			return true;
		}
	}
	errno = saved;
	return false;
}

__attribute__((visibility("default"))) void mtag_heap_word(const uint32_t *word)
{
	struct mtag__self *self = &mtag__self;

	/* The tag that it has when its word goes is the one that it keeps. */
	if (!word && self->word)
		self->tag = (uint16_t)*self->word;
	self->word = word ? word : &self->tag;
}
