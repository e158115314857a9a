/* SPDX-License-Identifier: GPL-2.0 */
/* TAP, the output of every test, and polling with a deadline. */
#ifndef MTAG_TESTS_TAP_H
#define MTAG_TESTS_TAP_H

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "mtag.h"
#include "uapi/linux/mtag.h"

#define PRINTF(a, b) __attribute__((format(printf, a, b)))
#define KIB	     1024UL
#define MIB	     (1024 * KIB)
#define PG	     4096UL
#define HPAGE	     (2 * MIB)
#define COUNT(a)     (sizeof(a) / sizeof((a)[0]))

/* From kernels newer than the libc's headers. */
#ifndef MADV_COLD
#define MADV_COLD    20
#define MADV_PAGEOUT 21
#endif
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

/* Prints a comment: "# …". */
PRINTF(1, 2) void diag(const char *format, ...);

/* One check, whose name is a sentence; forked children may call these, too. They return whether it passed. */
PRINTF(2, 3) bool ok(bool good, const char *format, ...);
PRINTF(3, 4) bool is(uint64_t got, uint64_t want, const char *format, ...);
bool vok(bool good, const char *directive, const char *format, va_list args);

/* A check that cannot be made here; a whole test that cannot; and one that cannot go on, which fails. */
PRINTF(1, 2) void skip(const char *format, ...);
_Noreturn void skip_all(const char *why);
PRINTF(1, 2) _Noreturn void bail(const char *format, ...);

/* Prints the plan; the exit status of main(). */
int done(void);

/* The value of a call of the system; a test ends at -1 or MAP_FAILED. */
#define must(expression)                                                                           \
	({                                                                                         \
		__typeof__(expression) must_ = (expression);                                       \
		if ((long)must_ == -1)                                                             \
			bail("%s:%d: %s", __FILE__, __LINE__, #expression);                        \
		must_;                                                                             \
	})

/* For calls that return 0 or an error. */
#define must0(expression)                                                                          \
	do {                                                                                       \
		if (expression)                                                                    \
			bail("%s:%d: %s", __FILE__, __LINE__, #expression);                        \
	} while (0)

/* Is this tests/run-all --long? And how much of something: the first, or with that the second. */
bool in_long_form(void);
#define more(brief, at_length) (in_long_form() ? (at_length) : (brief))

/* ---- waiting ---- */
double now(void);

/* How many times longer than elsewhere a test may take on this kernel: tests/vm/kernels. */
double slowness(void);

/*
 * until(condition, seconds): polls the condition, less and less often; returns whether it came true. A machine that
 * others use, too, has been several times slower for minutes: it has three times as long.
 */
#define until(condition, seconds)                                                                  \
	({                                                                                         \
		double end_ = now() + 3 * slowness() * (seconds);                                  \
		useconds_t pause_ = 2000;                                                          \
		bool true_;                                                                        \
		while (!(true_ = (condition)) && now() < end_) {                                   \
			usleep(pause_);                                                            \
			if (pause_ < 16000)                                                        \
				pause_ *= 2;                                                       \
		}                                                                                  \
		true_;                                                                             \
	})

#endif
