// SPDX-License-Identifier: GPL-2.0
/*
 * The limits of tags, processes and memory: reaching one gives an error or a counted loss, and every total stays right.
 */
/* vm: short=6.1 because="the limits are mtag's own" group=plain mem=2G module=linger_ms=200 timeout=300 */
#include "lib/load.h"

static size_t make_tags(size_t n, mtag_t *first)
{
	size_t i;

	for (i = 0; i < n; i++) {
		char name[24];
		mtag_t t;

		snprintf(name, sizeof(name), "tag-%zu", i);
		t = mtag_child(MTAG_UNTAGGED, name);
		if (t == MTAG_UNTAGGED)
			break;
		if (!i)
			*first = t;
	}
	return i;
}

#define MORE 20

/* Makes as many tags as the limit allows, and tries some more. */
static void limit_of_tags(void)
{
	uint64_t overflow = health("overflow");

	set_limit("max_tags", 100);
	in_child {
		char *p = area(2 * MORE * PG);
		mtag_t first = MTAG_UNTAGGED;
		size_t refused = 0;

		begin();
		is(make_tags(300, &first), 100, "as many tags as there may be are made");
		for (size_t i = 0; i < MORE; i++) {
			char name[16];
			mtag_t t;

			snprintf(name, sizeof(name), "more-%zu", i);
			errno = 0;
			t = mtag_child(first, name);
			refused += t == first && errno == ENOSPC;
			touch(t, p + i * PG, PG);
		}
		is(refused, MORE, "a request for more gives the parent tag and ENOSPC");
		is(anon_of(first), MORE * PG, "which has what is touched then");
		exact("the process is exact");
		clean(getpid(), "audit agrees");
	}
	set_limit("max_tags", 4096);
	is(health("overflow"), overflow + MORE + 1, "each refusal is counted as overflow");
}

struct beyond {
	struct gate *g;
	char *p;
	pid_t pid[MORE];
	uint64_t overflow, lost; /* by the forks */
};

static void fork_beyond(struct beyond *b)
{
	uint64_t overflow = health("overflow"), lost = health("lost");

	for (size_t i = 0; i < MORE; i++) {
		b->pid[i] = child();
		if (!b->pid[i]) {
			for (size_t at = 0; at < 8 * PG; at += PG)
				b->p[at] = 2;
			atomic_fetch_add(&b->g->step, 1);
			rest();
		}
	}
	pass_gate(b->g, MORE);
	b->overflow = health("overflow") - overflow;
	b->lost = health("lost") - lost;
}

/* Counts those that are tracked, and checks that the first few are exact. */
static size_t tracked_of(const struct beyond *b, const char *limit)
{
	size_t tracked = 0;

	for (size_t i = 0; i < MORE; i++)
		if (!sh("mtagctl audit %d >/dev/null 2>&1", b->pid[i]) && tracked++ < 3)
			exact_of(b->pid[i], "%s: a child within the limit is exact", limit);
	return tracked;
}

/* A process forks more children than the limit allows to be tracked. */
static void beyond(const char *limit, uint64_t value, uint64_t restored)
{
	struct beyond b = {.g = gate(), .p = area(16 * PG)};
	size_t tracked;

	touch(tag("parent"), b.p, 16 * PG);
	set_limit(limit, value);
	fork_beyond(&b);
	tracked = tracked_of(&b, limit);
	exact("%s: their parent is exact", limit);
	ok(tracked < MORE, "%s: not all of %d children are tracked (%zu)", limit, MORE, tracked);
	is(b.lost, MORE - tracked, "%s: each of the others is counted as lost", limit);
	is(b.overflow, strcmp(limit, "max_processes") ? 0 : MORE - tracked,
	   "%s: and as overflow where it is a limit of processes", limit);
	set_limit(limit, restored);
	for (size_t i = 0; i < MORE; i++) {
		must(kill(b.pid[i], SIGKILL));
		must(waitpid(b.pid[i], NULL, 0));
	}
	exact("%s: exact also when they have ended", limit);
	in_child
		exact("%s: a child forked afterwards is tracked, and exact", limit);
}

static void limit_of_processes(void)
{
	in_child {
		begin();
		beyond("max_processes", health("tracked") + MORE / 2, 32768);
	}
}

static void limit_of_memory(void)
{
	uint64_t overflow = health("overflow");

	in_child {
		mtag_t first;

		begin();
		/* Less than is held already; what the table of owners takes does not count. */
		beyond("max_memory_kb", 8, 0);
		is(make_tags(20, &first), 20, "tags can be made again");
		set_limit("max_memory_kb", 8);
		ok(make_tags(2000, &first) < 2000 && errno == ENOMEM,
		   "at the limit they cannot: ENOMEM");
		set_limit("max_memory_kb", 0);
		exact("the process is exact");
		is(audit(getpid()).drift, 0, "audit agrees");
	}
	ok(health("overflow") > overflow, "that is counted as overflow");
}

static char *swapped;
static size_t swapped_pages;

/* A thread of which mtag has no record yet. */
static void *unmap_swapped(void *took)
{
	*(double *)took = timed(must(munmap(swapped, swapped_pages * PG)));
	return NULL;
}

/* Measures how long freeing so much swap takes, with or without memory to record the task that frees it. */
static double free_swap(size_t pages, bool limited)
{
	double took;

	swapped_pages = pages;
	swapped = area(pages * PG);
	touch(tag("swapped"), swapped, pages * PG);
	if (!page_out(swapped, pages * PG))
		bail("not paged out");
	exact("%zu pages are in swap", pages);
	if (limited)
		set_limit("max_memory_kb", 8);
	in_thread(unmap_swapped, &took);
	set_limit("max_memory_kb", 0);
	is(swap_of(tag("swapped")), 0, "%s the limit of memory: the swap entries are gone",
	   limited ? "at" : "below");
	exact("and the process is exact");
	return took;
}

static void limit_while_zapping(void)
{
	uint64_t repairs = health("repairs");
	struct gate *g = gate();
	pid_t other;

	if (!swap_zram()) {
		skip("no swap on zram");
		return;
	}
	other = child();
	if (!other) {
		begin();
		touch(tag("other"), area(PG), PG);
		open_gate(g, 1);
		rest();
	}
	pass_gate(g, 1);
	in_child {
		double below = 0, at = 0;

		begin();
		/* A machine that others use, too, may stand still for a while: then once more. */
		for (int i = 0; i < 3 && (!i || at > 5 * below + 0.3); i++) {
			below = free_swap(8192, false);
			at = free_swap(8192, true);
		}
		ok(at <= 5 * below + 0.3,
		   "freeing 8192 swap entries takes %.3f s, and %.3f s at the limit", below, at);
	}
	exact_of(other, "a process that had no part in it is exact");
	is(health("repairs"), repairs, "nothing had to be counted anew");
	must(kill(other, SIGKILL));
	must(waitpid(other, NULL, 0));
	swapoff_all();
}

int main(void)
{
	struct load before, after;

	need_root();
	before = load_begin();
	limit_of_tags();
	limit_of_processes();
	limit_of_memory();
	limit_while_zapping();
	after = load_end(&before);
	is(after.dirty_ended, before.dirty_ended, "no process ended with pending repairs");
	diag("counts: lifetimes=%" PRIu64, after.ended - before.ended);
	return done();
}
