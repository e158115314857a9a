// SPDX-License-Identifier: GPL-2.0
/* A reader never sees the stacks of processes that had its frames and swap slots before. */
/* vm: timeout=300 */
#include "lib/stacks.h"
#include "lib/swap.h"
#include "lib/users.h"
#include "stacks/branches.h"

#define HAS  (128 * MIB) /* what the victim frees, and who comes after it gets first */
#define GETS (16 * MIB)

/* In memory that all processes share: the stack of the victim. */
static struct stack_seen *secret;

static char *place;

static branch void touch_place(void)
{
	memset(place, 1, HAS);
	__asm__ volatile("");
}

/* The stack beneath which most of the process is. */
static const struct stack_seen *most(const struct stacks *s)
{
	const struct stack_seen *found = NULL;

	for (unsigned int i = 0; i < s->nr; i++)
		if (s->stack[i].kind == MTAG_STACK_TAKEN &&
		    (!found || s->stack[i].anon > found->anon))
			found = &s->stack[i];
	return found;
}

/* Touches much by a stack that no other process has, and frees it. */
static void victim(void)
{
	const struct stack_seen *mine;

	user(ALICE);
	begin();
	must0(stacks_start_self(1, -1));
	place = area(HAS);
	by_number(0x2a5, 10, touch_place);
	mine = most(stacks(getpid()));
	/* The ends are touched by other instructions of memset(). */
	if (!mine || mine->anon < HAS / 2)
		bail("the victim has no stack");
	*secret = *mine;
	must(munmap(place, HAS));
}

/* How much the calling process is told to have beneath the victim's stack. */
static uint64_t of_victim(const struct stacks *s)
{
	uint64_t bytes = 0;

	for (unsigned int i = 0; i < s->nr; i++)
		if (s->stack[i].nr == secret->nr &&
		    !memcmp(s->stack[i].frame, secret->frame, secret->nr * sizeof(*secret->frame)))
			bytes += s->stack[i].anon + s->stack[i].swap;
	return bytes;
}

static void is_own(const char *p, const char *when)
{
	struct stack_sum all, none;
	const struct stacks *s;

	/* Both touch memory of their own when they are first called. */
	stacks(getpid());
	anon_of(0);
	s = stacks(getpid());
	all = stack_sum(s, 0, ANY_KIND);
	none = stack_sum(s, 0, MTAG_STACK_NONE);
	is(all.anon, anon_of(0), "%s: the stacks add up to what the process has", when);
	is(of_victim(s), 0, "%s: nothing is beneath the victim's stack", when);
	ok(none.anon + none.swap >= GETS, "%s: what it had is from before (%" PRIu64 " KiB)", when,
	   (none.anon + none.swap) / KIB);
	is(smaps(p, GETS).swap + smaps(p, GETS).rss, GETS, "%s: all of it is there", when);
}

/* The leaves that its parent's frames got from swap slots are in no page table when it begins. */
static void attacker(struct gate *g, char *p)
{
	pass_gate(g, 1);
	must0(stacks_start_self(1, -1));
	is_own(p, "in swap");
	read_all(0, p, GETS);
	is_own(p, "from the swap cache");
	reclaim(p, GETS);
	is_own(p, "in swap again");
}

static void by_the_swap_cache(void)
{
	struct gate *g = gate();
	pid_t pid;
	char *p;

	user(BOB);
	begin();
	p = area(GETS);
	touch(0, p, GETS);
	if (!page_out(p, GETS))
		bail("it cannot be swapped out");
	pid = child();
	if (!pid) {
		attacker(g, p);
		_exit(0);
	}
	read_all(0, p, GETS);
	open_gate(g, 1);
	reap(pid);
}

int main(void)
{
	pid_t pid;

	begin_test();
	/* Frames freed on a CPU are the next that it gives. */
	run_on_first_cpu();
	if (!swap_zram())
		skip_all("no swap");
	secret = must(mmap(NULL, sizeof(*secret), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	frozen_child(pid) victim();
	in_child
		by_the_swap_cache();
	end_child(pid);
	swapoff_all();
	return end_test();
}
