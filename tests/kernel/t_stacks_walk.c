// SPDX-License-Identifier: GPL-2.0
/*
 * What a walk for stacks does about that which it cannot see: memory that was reserved and never touched takes no time, and
 * what was in swap before stacks were taken is as old as that.
 */
#include "lib/keepers.h"
#include "lib/stacks.h"

#define N 64

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

int main(void)
{
	begin_test();
	in_child
		reserved();
	swapped_before();
	return end_test();
}
