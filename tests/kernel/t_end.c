// SPDX-License-Identifier: GPL-2.0
/*
 * How a process's counters end: compared with the kernel's just before its pages go, or counted down to 0
 * (count_down). A miscount, which failnth/missnth.c plants, is found either way.
 */
/* vm: core=1 group=plain module=linger_ms=2000,count_down=0 mem=2G timeout=300 */
#include <libgen.h>
#include "lib/fail.h"
#include "lib/keepers.h"
#include "lib/test.h"

#define MISS "/sys/module/missnth/parameters/"
#define N    32

static void plant_begin(void)
{
	char path[512], dir[512];
	int error;

	snprintf(dir, sizeof(dir), "%s", module_path());
	snprintf(path, sizeof(path), "%s/failnth/missnth.ko", dirname(dir));
	error = module_load(path, "function=mtag_charge");
	if (error)
		bail("load %s: %s", path, strerror(-error));
}

/* The next page that this process maps or unmaps by the long way is not counted. */
static void plant(void)
{
	must0(spew(MISS "nth", "1"));
}

static void planted(void)
{
	if (strtoul(slurp(MISS "nth"), NULL, 10))
		bail("no page is missed");
}

/* Pages of ranges with tags of their own go by the long way. */
static char *ranged(mtag_t tag)
{
	char *p = area(N * PG);

	must0(mtag_range(p, N * PG, tag, 0));
	return p;
}

/* After this, what is planted next needs no page for itself. */
static void warm_up(void)
{
	char *p = ranged(tag("warm"));

	must0(spew(MISS "pid", "%d", getpid()));
	must0(spew(MISS "nth", "0"));
	planted();
	touch(MTAG_UNTAGGED, p, PG);
	must(madvise(p, PG, MADV_DONTNEED));
}

/* ---- what a process does before it ends ---- */

static void nothing_wrong(void)
{
	touch(MTAG_UNTAGGED, ranged(tag("a")), N * PG);
}

static void too_few(void)
{
	char *p = ranged(tag("a"));

	touch(MTAG_UNTAGGED, p, (N - 1) * PG);
	plant();
	touch(MTAG_UNTAGGED, p + (N - 1) * PG, PG);
	planted();
}

static void too_many(void)
{
	char *p = ranged(tag("a"));

	touch(MTAG_UNTAGGED, p, N * PG);
	plant();
	must(madvise(p, PG, MADV_DONTNEED));
	planted();
}

/* One tag has a page too few, another one too many: the sums are right. */
static void swapped_tags(void)
{
	char *a = ranged(tag("a")), *b = ranged(tag("b"));

	touch(MTAG_UNTAGGED, a, (N - 1) * PG);
	touch(MTAG_UNTAGGED, b, N * PG);
	plant();
	touch(MTAG_UNTAGGED, a + (N - 1) * PG, PG);
	plant();
	must(madvise(b, PG, MADV_DONTNEED));
	planted();
}

/* Likewise, but the tag has none left, and so less than none: that is no sum to be trusted. */
static void less_than_none(void)
{
	char *a = ranged(tag("a")), *b = ranged(tag("b"));

	touch(MTAG_UNTAGGED, b, N * PG);
	plant();
	touch(MTAG_UNTAGGED, a, PG);
	must(madvise(a, PG, MADV_DONTNEED));
	plant();
	must(madvise(b, PG, MADV_DONTNEED));
	planted();
}

/* ---- how it ends ---- */

static void exits(void (*run)(void))
{
	in_child {
		begin();
		warm_up();
		run();
	}
}

/* The mm of the old program ends, and not the process. */
static void executes(void (*run)(void))
{
	pid_t pid = child();

	if (pid) {
		reap(pid);
		return;
	}
	begin();
	warm_up();
	run();
	execl("/bin/true", "true", NULL);
	_exit(1);
}

/* Its page tables are shared copy-on-write with a relative, which stays, and is exact. */
static void leaves_child(void (*run)(void))
{
	struct gate *g = gate();
	int status;
	pid_t pid = child();

	if (!pid) {
		begin();
		run();
		if (child())
			_exit(0);
		pass_gate(g, 1);
		exact("the child that is left is exact");
		_exit(0);
	}
	must(prctl(PR_SET_CHILD_SUBREAPER, 1));
	must(waitpid(pid, NULL, 0));
	open_gate(g, 1);
	must(wait(&status));
	is(status, 0, "it ends well");
}

static void drifts(void (*end)(void (*)(void)), void (*run)(void), uint64_t pages,
		   uint64_t processes, const char *what)
{
	uint64_t drift, ended;

	ok(until((visit_cpus(), !health("tracked")), 60), "nobody is tracked");
	drift = health("drift");
	ended = health("ended");
	end(run);
	ok(until((visit_cpus(), !health("tracked")), 60), "nobody is tracked any more");
	is(health("ended") - ended, processes, "%" PRIu64 " have been checked", processes);
	is(health("drift") - drift, pages, "%s: %" PRIu64 " pages of drift", what, pages);
}

static void down(bool on)
{
	must0(spew("/sys/module/mtag/parameters/count_down", on ? "1" : "0"));
}

int main(void)
{
	need_root();
	plant_begin();
	for (int on = 0; on < 2; on++) {
		down(on);
		diag("count_down=%d", on);
		drifts(exits, nothing_wrong, 0, 1, "a process that exits");
		drifts(executes, nothing_wrong, 0, 2, "one that executes another program");
		drifts(leaves_child, nothing_wrong, 0, 2, "one that leaves a child");
		drifts(exits, too_few, 1, 1, "a page that was not charged");
		drifts(exits, too_many, 1, 1, "a page that was not released");
		drifts(executes, too_many, 1, 2, "a page that was not released before exec");
		drifts(exits, less_than_none, 2, 1, "a tag with less than no page");
	}
	drifts(exits, swapped_tags, 2, 1, "a page at the wrong tag, counted down");
	down(false);
	drifts(exits, swapped_tags, 0, 1, "a page at the wrong tag, which sums do not show");
	must0(module_unload_soon("missnth"));
	/* What was planted is not to fail the tests that follow. */
	must0(module_unload_soon("mtag"));
	must0(module_load(module_path(), "linger_ms=2000 count_down=0"));
	is(health("drift"), 0, "the module that is loaded anew has no drift");
	return done();
}
