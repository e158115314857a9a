/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A place in a signal handler that runs on a stack of its own. Frame pointers lead from there past the instruction that
 * was interrupted, so this is for BARE programs.
 */
#ifndef MTAG_TESTS_SIGNALLED_H
#define MTAG_TESTS_SIGNALLED_H

#include "sites.h"

#ifdef BARE
extern const char stacks_signalled[];

static alone void handler(int signal)
{
	(void)signal;
	note();
	touch_here();
	__asm__ volatile("");
}

/* The signal comes on the way back from the call. */
static alone void signal_here(void)
{
	long ret;

	note();
	current->frame[current->nr++] = stacks_signalled;
	current->signalled = 3;
	__asm__ volatile("syscall\n.globl stacks_signalled\nstacks_signalled:"
			 : "=a"(ret)
			 : "0"(SYS_tgkill), "D"(getpid()), "S"(gettid()), "d"(SIGUSR1)
			 : "rcx", "r11", "memory");
	if (ret)
		bail("tgkill: %ld", ret);
}

/* Below the handler is whoever was interrupted, on another stack. */
static void in_handler(mtag_t a)
{
	char *p = area(N * PG);
	stack_t other = {.ss_sp = area(16 * PG), .ss_size = 16 * PG};
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
	struct site s;

	must(sigaltstack(&other, NULL));
	must(sigaction(SIGUSR1, &action, NULL));
	visit(&s, 3, signal_here, a, p, N);
	has(getpid(), a, &s, N * PG, 0,
	    "a handler on a stack of its own is beneath whom it interrupted");
	other.ss_flags = SS_DISABLE;
	must(sigaltstack(&other, NULL));
	must(munmap(other.ss_sp, other.ss_size));
	must(munmap(p, N * PG));
}
#else
static void in_handler(mtag_t a)
{
	(void)a;
}
#endif

#endif
