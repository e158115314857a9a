// SPDX-License-Identifier: GPL-2.0
/*
 * What tests/unit/unwind_walk.c walks: frames of all kinds, built with -O2 -fomit-frame-pointer. It
 * says by a breakpoint what it is about to do.
 *
 * link: -pthread -Wl,-z,lazy
 */
#include <alloca.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "calls.h"

#define keep(p) __asm__ volatile("" : : "r"(p) : "memory")

static void (*innermost)(void);
static volatile int sink;

static inline void say(enum say what, const void *data, long n)
{
	__asm__ volatile("int3" : : "a"(what), "D"(data), "S"(n) : "memory");
}

/* ---- frames of many kinds ---- */

typedef void link_func(int depth);

static void next_link(int depth);

static __attribute__((noinline)) void plain(int depth)
{
	next_link(depth - 1);
	sink++;
}

static __attribute__((noinline)) void large(int depth)
{
	char area[100000];

	keep(area);
	next_link(depth - 1);
	keep(area);
}

static __attribute__((noinline)) void variable(int depth)
{
	char *area = alloca((size_t)depth * 24 + 1);

	keep(area);
	next_link(depth - 1);
	keep(area);
}

static __attribute__((noinline)) void aligned(int depth)
{
	_Alignas(64) char area[128];

	keep(area);
	next_link(depth - 1);
	keep(area);
}

/* Both: GCC keeps the way to the frame in memory, which takes an expression. */
static __attribute__((noinline)) void aligned_variable(int depth)
{
	_Alignas(64) char area[128];
	char *more = alloca((size_t)depth * 24 + 1);

	keep(area);
	keep(more);
	next_link(depth - 1);
	keep(area);
}

static __attribute__((noinline)) void many(int depth)
{
	int a = sink, b = a * 3, c = b ^ a, d = c * 5, e = d - a, f = e * 7, g = f ^ b;

	keep(&a);
	next_link(depth - 1);
	sink = a + b + c + d + e + f + g;
}

/* RBP is a register like others here: who takes it for a frame pointer is misled. */
static __attribute__((noinline)) void clobber(int depth)
{
	__asm__ volatile("mov $12345,%%rbp" : : : "rbp");
	next_link(depth - 1);
	sink++;
}

static __attribute__((noinline)) void with_arguments(int a, int b, int c, int d, int e, int f,
						     int g, int depth)
{
	sink = a + b + c + d + e + f + g;
	next_link(depth - 1);
	sink++;
}

static __attribute__((noinline)) void pushed(int depth)
{
	with_arguments(1, 2, 3, 4, 5, 6, 7, depth);
	sink++;
}

static __attribute__((noinline)) void next_link(int depth)
{
	static link_func *const links[] = {plain, large,   variable, aligned, aligned_variable,
					   many,  clobber, pushed};

	if (depth)
		links[depth % 8](depth);
	else
		innermost();
	sink++;
}

/* ---- what is done innermost ---- */

static void do_nothing(void)
{
	sink = sink * 3;
}

static __attribute__((noinline)) void do_backtrace(void)
{
	void *frames[128];
	int n = backtrace(frames, 128);

	say(SAY_BACKTRACE, frames, n);
	keep(frames);
}

static void do_plt(void)
{
	/* The dynamic linker runs at the first call, not at the second. */
	for (int i = 0; i < 2; i++)
		sink = (int)strtoul("123", NULL, 0);
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void do_callback(void)
{
	int numbers[] = {5, 3, 1, 2};

	qsort(numbers, 4, sizeof(*numbers), compare);
	keep(numbers);
}

static void do_vdso(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	keep(&now);
}

static void handle(int signal)
{
	for (int i = 0; i < 10; i++)
		sink += signal;
}

static void handle_and_trace(int signal)
{
	sink += signal;
	do_backtrace();
}

static void do_signal(void)
{
	raise(SIGUSR1);
	raise(SIGUSR2);
}

static void do_signal_backtrace(void)
{
	raise(SIGHUP);
}

/* Interrupted where the frame is found by registers that only the signal's frame has. */
static void do_fault(void)
{
	say(SAY_BEGIN, NULL, 0);
	__asm__ volatile("ud2");
	say(SAY_END, NULL, 0);
}

static void skip(int signal, siginfo_t *info, void *context)
{
	(void)info;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2;
	handle(signal);
}

/* ---- code that has no table ---- */

/*
 * push %rbp; mov %rsp,%rbp; push %rdi; sub $8,%rsp; call *%rdi; add $8,%rsp; pop %rdi; pop %rbp; ret
 */
static const unsigned char bare[] = {0x55, 0x48, 0x89, 0xe5, 0x57, 0x48, 0x83, 0xec, 0x08,
				     0xff, 0xd7, 0x48, 0x83, 0xc4, 0x08, 0x5f, 0x5d, 0xc3};

static __attribute__((noinline)) void in_bare(void)
{
	say(SAY_BARE, NULL, 0);
	sink++;
}

static void do_bare(void)
{
	void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	union {
		void *at;
		void (*call)(void (*)(void));
	} jit = {code};

	memcpy(code, bare, sizeof(bare));
	mprotect(code, 4096, PROT_READ | PROT_EXEC);
	say(SAY_JIT, code, 0);
	jit.call(in_bare);
	sink++;
}

/* ---- */

static void run(int depth, void (*what)(void))
{
	innermost = what;
	next_link(depth);
}

static void run_steps(int depth, void (*what)(void))
{
	say(SAY_BEGIN, NULL, 0);
	run(depth, what);
	say(SAY_END, NULL, 0);
}

static void *in_thread(void *data)
{
	run(16, do_backtrace);
	return data;
}

static void use_signals(void)
{
	struct sigaction on = {.sa_handler = handle};
	stack_t stack = {.ss_size = 65536};

	sigaction(SIGUSR1, &on, NULL);
	on.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR2, &on, NULL);
	on.sa_handler = handle_and_trace;
	sigaction(SIGHUP, &on, NULL);
	on.sa_sigaction = skip;
	on.sa_flags = SA_SIGINFO;
	sigaction(SIGILL, &on, NULL);
	stack.ss_sp = malloc(stack.ss_size);
	sigaltstack(&stack, NULL);
}

int main(void)
{
	void *frames[4];
	pthread_t thread;

	backtrace(frames, 4); /* loads libgcc */
	use_signals();
	say(SAY_READY, NULL, 0);
	run_steps(24, do_nothing);
	run(24, do_backtrace);
	run(120, do_backtrace);
	run_steps(3, do_plt);
	run_steps(2, do_callback);
	run_steps(2, do_vdso);
	run_steps(9, do_signal);
	run(9, do_signal_backtrace);
	run(9, do_fault);
	run(8, do_bare);
	pthread_create(&thread, NULL, in_thread, NULL);
	pthread_join(thread, NULL);
	return 0;
}
