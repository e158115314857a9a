// SPDX-License-Identifier: GPL-2.0
/*
 * What a walk for stacks counts: pages by how long ago they were first touched, wherever their
 * contents went since. And what it does about that which it cannot see: memory that was reserved
 * and never touched takes no time, and what was in swap before stacks were taken is as old as
 * that.
 */
#include "lib/keepers.h"
#include "lib/stacks.h"

#define N    64
#define STEP 16 /* seconds: mtagctl-stacks(8), "The module keeps that time in steps" */

#ifndef MADV_SOFT_OFFLINE
#define MADV_SOFT_OFFLINE 101
#endif

static double walk(void)
{
	double begun = now();

	must0(stacks(getpid())->error);
	return now() - begun;
}

/* As programs under AddressSanitizer do, and whoever would like all readers to wait for him. */
static void reserved(void)
{
	size_t bytes = (size_t)16 << 40;
	double without, with;
	char *p;

	begin();
	must0(-stacks_start_self(1, -1));
	without = walk();
	p = must(mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
	with = walk();
	for (int tries = 1; with >= without + 1 && tries < 3; tries++)
		with = walk();
	must(munmap(p, bytes));
	diag("a walk takes %.3f s, with 16 TiB of reserved memory %.3f s", without, with);
	ok(with < without + 1, "16 TiB of memory that is reserved and not touched takes no time");
}

/* What was in swap before is as old as the taking of stacks, not as the machine's clock may say. */
static void swapped_before(void)
{
	struct gate *g = gate();
	char *p = area(N * PG);
	pid_t pid;

	if (!swap_zram()) {
		skip("what was in swap already is not old (no zram)");
		return;
	}
	pid = child();
	if (!pid) {
		begin();
		touch(tag("a"), p, N * PG);
		ok(page_out(p, N * PG), "memory goes to swap, and then stacks are taken");
		open_gate(g, 1);
		freeze();
	}
	pass_gate(g, 1);
	await_frozen(pid);
	is(-stacks_start(pid, 1, -1), 0, "its process is started");
	is(stack_sum(stacks(pid), tag("a"), MTAG_STACK_NONE).swap, N * PG, "it has no stack");
	is(stack_sum(stacks_older(pid, 3600), ANY_TAG, ANY_KIND).swap, 0,
	   "and what was in swap already is not an hour old");
	end_child(pid);
	swapoff_all();
	must(munmap(p, N * PG));
}

/* ---- ages ---- */

static mtag_t old, young;
static double step_begun; /* or a little earlier: the step in which young pages are touched */

static struct stack_sum older(pid_t pid, uint32_t seconds, mtag_t tag)
{
	return stack_sum(stacks_older(pid, seconds), tag, MTAG_STACK_TAKEN);
}

/* Of @pid so many bytes are a step old, all of the old tag. */
static void aged(pid_t pid, uint64_t anon, uint64_t swap, const char *what)
{
	struct stack_sum is_old = older(pid, 1, old), is_young = older(pid, 1, young);

	is(is_old.anon, anon, "%s: what was touched first is old", what);
	is(is_old.swap, swap, "%s: in swap, too", what);
	if (now() - step_begun < STEP)
		is(is_young.anon + is_young.swap, 0, "%s: what was touched later is not", what);
	else
		skip("%s: what was touched later is not (that took too long)", what);
}

/* Soft-offlines @pages: the kernel moves what they hold to other frames. */
static bool migrate(char *p, size_t pages)
{
	bool all = true;

	for (char *at = p; all && at < p + pages * PG; at += PG) {
		uint64_t frame = pfn_of(at);

		all = !madvise(at, PG, MADV_SOFT_OFFLINE) && pfn_of(at) != frame;
	}
	return all;
}

static void move_contents(char *p, char *q, bool swap)
{
	if (migrate(p, 8) && migrate(q, 8))
		aged(getpid(), 4 * N * PG, 0, "in other frames");
	else
		skip("migrated pages keep their age (%s)", strerror(errno));
	if (!swap) {
		skip("swapped pages keep their age (no zram)");
		return;
	}
	ok(page_out(p, 4 * N * PG) && page_out(q, N * PG), "both go to swap");
	aged(getpid(), 0, 4 * N * PG, "swapped out");
	read_all(0, p, 2 * N * PG);
	read_all(0, q, N / 2 * PG);
	aged(getpid(), 2 * N * PG, 2 * N * PG, "half of it swapped in");
}

/* A copy has the contents, and so the age, of the original. */
static void copy_contents(char *p, char *q)
{
	char *r = area(N * PG);
	struct smaps truth;
	pid_t pid;

	frozen_child(pid)
	{
		touch(young, p, 2 * N * PG);
		touch(young, q, N * PG);
		touch(young, r, N * PG);
	}
	truth = smaps_of(pid, p, p + 4 * N * PG);
	aged(pid, truth.anon, truth.swap, "copied by a child");
	is(stack_sum(stacks(pid), young, MTAG_STACK_TAKEN).anon, 2 * N * PG,
	   "of which it has as much as it touched");
	is(sh("[ $(mtagctl stacks --no-symbols -j --older 1 %d | "
	      "jq '[.[] | select(.tag == \"old\") | .anon_bytes] | add') = %lu ]",
	      pid, truth.anon),
	   0, "mtagctl stacks --older says the same");
	end_child(pid);
	must(munmap(r, N * PG));
}

/* Is all of the old tag a step old? */
static bool step_ended(void)
{
	double asked = now();

	if (older(getpid(), 1, old).anon == 4 * N * PG)
		return true;
	step_begun = asked;
	usleep(50000);
	return false;
}

/*
 * Once the pages of one tag are seen to be a step old, another step has just begun: what is touched
 * then is not old until it ends.
 */
static void by_age(void)
{
	char *p = area(4 * N * PG), *q = area(N * PG);
	bool swap = swap_zram();

	begin();
	must0(-stacks_start_self(1, -1));
	old = tag("old");
	young = tag("young");
	step_begun = now();
	touch(old, p, 4 * N * PG);
	ok(until(step_ended(), STEP), "after a step what was touched is old");
	is(older(getpid(), 2 * STEP + 1, old).anon, 0, "but not as old as two");
	touch(young, q, N * PG);
	aged(getpid(), 4 * N * PG, 0, "where they were");
	move_contents(p, q, swap);
	copy_contents(p, q);
	must(munmap(p, 4 * N * PG));
	must(munmap(q, N * PG));
	is(older(getpid(), 1, old).anon, 0, "what is gone is not old");
}

int main(void)
{
	begin_test();
	in_child
		by_age();
	in_child
		reserved();
	swapped_before();
	return end_test();
}
