// SPDX-License-Identifier: GPL-2.0
/* TAP, the output of every test, and polling with a deadline. */
#include "tap.h"

/* The counts are in shared memory: forked children may assert, too. */
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

void diag(const char *format, ...)
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

bool vok(bool good, const char *directive, const char *format, va_list args)
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

bool ok(bool good, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vok(good, "", format, args);
	va_end(args);
	return good;
}

bool is(uint64_t got, uint64_t want, const char *format, ...)
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

void skip(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vok(true, " # SKIP", format, args);
	va_end(args);
}

_Noreturn void bail(const char *format, ...)
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

_Noreturn void skip_all(const char *why)
{
	dprintf(STDOUT_FILENO, "1..0 # SKIP %s\n", why);
	_exit(0);
}

int done(void)
{
	dprintf(STDOUT_FILENO, "1..%d\n", tap->run);
	return tap->failed != 0;
}

double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

bool in_long_form(void)
{
	return getenv("MTAG_LONG");
}

double slowness(void)
{
	const char *slow = getenv("MTAG_SLOW");

	return slow ? atof(slow) : 1;
}
