// SPDX-License-Identifier: GPL-2.0
/*
 * Repeats an operation, each time in a new process, while each n-th allocation of mtag fails in turn, and checks that
 * every attempt gives an error or a counted loss.
 */
#include "fail_each.h"

struct attempt *now_at;
const char *only;
bool every_one;

bool good(bool is_good, const char *format, ...)
{
	char text[256];
	va_list args;

	if (is_good)
		return true;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	diag("  allocation %d (%s): %s", now_at->n, now_at->what, text);
	atomic_fetch_add(&now_at->wrong, 1);
	return false;
}

void exactly(const char *when)
{
	struct compared c = compare();

	if (!good(c.equal, "not exact %s", when))
		show_compared(&c);
}

uint64_t losses(void)
{
	return health("lost") + health("repairs") + health("overflow") + health("dirty_ended");
}

void or_enomem(int failed, int result, const char *what)
{
	bool must_fail = failed && strstr(now_at->what, "[mtag]");

	good(failed && result ? result == -ENOMEM : !result && !must_fail, "%s: %s", what,
	     strerror(-result));
}

/*
 * Runs @attempt in a child for n = 1, 1 + @step, … until it takes fewer allocations: how many it took, at
 * least.
 */
static int attempts(void (*attempt)(void), int step)
{
	int status;
	pid_t pid;

	for (int n = 1;; n += step) {
		atomic_store(&now_at->n, n);
		atomic_store(&now_at->failed, 0);
		pid = child();
		if (!pid) {
			attempt();
			_exit(0);
		}
		must(waitpid(pid, &status, 0));
		fail_set("pid", 0);
		good(!status, "the process ended with status %#x", status);
		if (!atomic_load(&now_at->failed) || now_at->wrong > 20)
			return n - step;
	}
}

void each(const char *what, void (*attempt)(void), int step)
{
	uint64_t drift = health("drift");
	int one, all;

	if (only && !strstr(what, only))
		return;
	atomic_store(&now_at->wrong, 0);
	atomic_store(&now_at->all, 0);
	fail_set("every", 0);
	one = attempts(attempt, every_one ? 1 : step + 1);
	atomic_store(&now_at->all, 1);
	fail_set("every", 1);
	all = attempts(attempt, every_one ? 1 : step + 3);
	until((visit_cpus(), health("tracked") == 0), 30);
	good(health("tracked") == 0, "a process stays tracked after its end");
	good(health("drift") == drift, "drift: %" PRIu64, health("drift") - drift);
	ok(!now_at->wrong && one > 0 && all > 0,
	   "%s: allocations to the %d. and %d. fail: an error or a counted loss", what, one, all);
}

void arm(void)
{
	fail_arm(getpid(), now_at->n);
}

int disarm(void)
{
	int failed = fail_disarm(now_at->what);

	atomic_store(&now_at->failed, failed);
	return failed;
}

void counted(int failed, uint64_t before)
{
	/* What the history loses it counts itself: see t_history_fail. */
	if (failed && strstr(now_at->what, "[mtag]") &&
	    !strstr(now_at->what, "mtag_history_alloc") &&
	    !strstr(slurp(FAIL_DIR "by"), "mtag_zap_begin"))
		good(until(losses() > before, 10), "nothing was counted as lost");
}

/* ---- memory that is tried with ---- */

void write_pages(char *p, size_t pages)
{
	for (size_t i = 0; i < pages; i++)
		((volatile char *)p)[i * PG] = 1;
}

char *shared(mtag_t t, size_t len)
{
	mtag_t before = mtag_enter(t);
	char *p = must(mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));

	mtag_leave(before);
	touch(MTAG_UNTAGGED, p, len);
	return p;
}
