/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What every kernel test begins with: TAP, waiting for what takes its time, reading files of the kernel's.
 */
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

#define UNUSED	     __attribute__((unused))
#define PRINTF(a, b) __attribute__((unused, format(printf, a, b)))
#define KIB	     1024UL
#define MIB	     (1024 * KIB)
#define PG	     4096UL
#define HPAGE	     (2 * MIB)
#define COUNT(a)     (sizeof(a) / sizeof((a)[0]))

/* Of kernels newer than the libc's headers. */
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

/* ---- TAP. The counts are in shared memory: forked children may assert, too. ---- */
struct tap {
	atomic_int run, failed;
};
static struct tap *tap;

__attribute__((constructor)) static void tap_init(void)
{
	tap = mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (tap == MAP_FAILED)
		abort();
	setvbuf(stdout, NULL, _IOLBF, 0);
}

PRINTF(1, 2) static void diag(const char *format, ...)
{
	char line[1024];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line + 2, sizeof(line) - 3, format, args);
	va_end(args);
	if (n > (int)sizeof(line) - 4)
		n = sizeof(line) - 4;
	memcpy(line, "# ", 2);
	line[n + 2] = '\n';
	if (write(STDOUT_FILENO, line, n + 3) < 0)
		abort();
}

UNUSED static bool vok(bool good, const char *directive, const char *format, va_list args)
{
	char line[512];
	int n = snprintf(line, sizeof(line), "%s %d - ", good ? "ok" : "not ok",
			 atomic_fetch_add(&tap->run, 1) + 1);

	if (!good)
		atomic_fetch_add(&tap->failed, 1);
	n += vsnprintf(line + n, sizeof(line) - n - 64, format, args);
	if (n > (int)sizeof(line) - 65)
		n = sizeof(line) - 65;
	n += snprintf(line + n, sizeof(line) - n, "%s\n", directive);
	if (write(STDOUT_FILENO, line, n) != n)
		abort();
	return good;
}

PRINTF(2, 3) static bool ok(bool good, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vok(good, "", format, args);
	va_end(args);
	return good;
}

PRINTF(3, 4) static bool is(uint64_t got, uint64_t want, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vok(got == want, "", format, args);
	va_end(args);
	if (got != want)
		diag("  got %" PRId64 ", want %" PRId64 " (off by %" PRId64 ", in pages %" PRId64
		     ")",
		     (int64_t)got, (int64_t)want, (int64_t)(got - want),
		     (int64_t)(got - want) / (int64_t)PG);
	return got == want;
}

PRINTF(1, 2) static void skip(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vok(true, " # SKIP", format, args);
	va_end(args);
}

PRINTF(1, 2) _Noreturn static void bail(const char *format, ...)
{
	int error = errno;
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	dprintf(STDOUT_FILENO, "Bail out! %s (errno %d: %s)\n", text, error, strerror(error));
	_exit(1);
}

UNUSED _Noreturn static void skip_all(const char *why)
{
	dprintf(STDOUT_FILENO, "1..0 # SKIP %s\n", why);
	_exit(0);
}

UNUSED static int done(void)
{
	dprintf(STDOUT_FILENO, "1..%d\n", tap->run);
	return tap->failed != 0;
}

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

/* ---- waiting ---- */
UNUSED static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* How many times longer than on others things may take on this kernel: tests/vm/kernels. */
UNUSED static double slowness(void)
{
	const char *slow = getenv("MTAG_SLOW");

	return slow ? atof(slow) : 1;
}

/* until(condition, seconds): polls it; whether it came true. */
#define until(condition, seconds)                                                                  \
	({                                                                                         \
		double end_ = now() + slowness() * (seconds);                                      \
		bool true_;                                                                        \
		while (!(true_ = (condition)) && now() < end_)                                     \
			usleep(2000);                                                              \
		true_;                                                                             \
	})

/* ---- files ---- */
#define SLURP_MAX (4 * MIB)

/* The whole file, in a buffer of ours that the next call reuses; NULL: cannot be read. */
UNUSED static char *slurp(const char *path)
{
	static char *buf;
	size_t n = 0;
	ssize_t got;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return NULL;
	if (!buf)
		buf = must(mmap(NULL, SLURP_MAX, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
	while ((got = read(fd, buf + n, SLURP_MAX - 1 - n)) > 0)
		n += got;
	close(fd);
	buf[n] = '\0';
	return got < 0 ? NULL : buf;
}

PRINTF(2, 3) static int spew(const char *path, const char *format, ...)
{
	char text[512];
	va_list args;
	int n, fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	n = write(fd, text, n) == n ? 0 : -errno;
	close(fd);
	return n;
}

/* sh: its exit status. */
PRINTF(1, 2) static int sh(const char *format, ...)
{
	char command[1024];
	va_list args;
	int status;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	status = system(command);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The number after "name" at a line's beginning; UINT64_MAX: there is none. */
UNUSED static uint64_t field(const char *text, const char *name)
{
	size_t n = strlen(name);
	const char *line = text;

	while (line) {
		if (!strncmp(line, name, n) &&
		    (line[n] == ':' || line[n] == ' ' || line[n] == '\t'))
			return strtoull(line + n + strspn(line + n, ": \t"), NULL, 10);
		line = strchr(line, '\n');
		if (line)
			line++;
	}
	return UINT64_MAX;
}

UNUSED static uint64_t file_field(const char *path, const char *name)
{
	char *text = slurp(path);

	return text ? field(text, name) : UINT64_MAX;
}

#define vmstat(name) file_field("/proc/vmstat", name)
#define health(name) file_field("/sys/kernel/debug/mtag/health", name)

#endif
