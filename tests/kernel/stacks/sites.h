/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Places in a test that touch pages by known chains of calls, and whether what the module says
 * of them is that. Not in the archive, see places.h.
 */
#ifndef MTAG_TESTS_SITES_H
#define MTAG_TESTS_SITES_H

#include "../lib/test.h"
#include "places.h"

extern const char stacks_touch[], stacks_in_kernel[];
static char exe[256];

/*
 * As BARE: has this program's unwind tables, and those of what it is linked with, handed in. The
 * process for which that is done stays for as long as this one, and so do the tables. To be called
 * before begin(): it takes the stacks of a whole tree.
 */
static void hand_in_tables(void)
{
#ifdef BARE
	pid_t pid;

	frozen_child(pid)
	{
		must0(prctl(PR_SET_PDEATHSIG, SIGKILL));
		begin();
	}
	is(sh("mtagctl track --stacks %d", pid), 0, "the unwind tables of this program are there");
#endif
}

/* Writes to each page at one known instruction. */
static alone void touch_here(void)
{
	char *at = current->at;
	size_t pages = current->pages;

	note();
	__asm__ volatile("1:\n.globl stacks_touch\nstacks_touch: movb $1, (%0)\n"
			 "add $4096, %0\ndec %1\njnz 1b"
			 : "+r"(at), "+r"(pages)
			 :
			 : "memory");
}

/* The kernel writes for the thread: read(2) into memory that is not there yet. */
static alone __attribute__((used)) void read_here(void)
{
	static int fd = -1;
	long n;

	note();
	if (fd < 0)
		fd = must(open("/dev/zero", O_RDONLY | O_CLOEXEC));
	__asm__ volatile("syscall\n.globl stacks_in_kernel\nstacks_in_kernel:"
			 : "=a"(n)
			 : "0"(SYS_read), "D"(fd), "S"(current->at), "d"(current->pages * PG)
			 : "rcx", "r11", "memory");
	if (n != (long)(current->pages * PG))
		bail("read: %ld", n);
}

/* Touches @pages at @at by place @k, under a tag. */
static alone void visit(struct site *s, int k, leaf_t *leaf, mtag_t as, char *at, size_t pages)
{
	mtag_t before;

	*s = (struct site){.at = at, .pages = pages};
	current = s;
	before = mtag_enter(as);
	place[k](leaf, k % 8);
	mtag_leave(before);
	s->exact = leaf != read_here;
	turn(s, s->exact ? stacks_touch : stacks_in_kernel);
}

/* What a process has of a site: as it has the test's own code where the test has it. */
static struct stack_sum beneath(const struct stacks *s, mtag_t tag, const struct site *site)
{
	struct stack_sum sum = {0};

	for (unsigned int i = 0; i < s->nr; i++) {
		const struct stack_seen *e = &s->stack[i];

		if (e->tag != tag || !same_stack(s, e, site))
			continue;
		stack_add(&sum, e);
	}
	return sum;
}

static void show_stacks(const struct stacks *s, mtag_t tag)
{
	for (unsigned int i = 0; i < s->nr; i++) {
		const struct stack_seen *e = &s->stack[i];

		if (e->tag != tag)
			continue;
		diag("  tag %u kind %u why %u anon %" PRIu64 " swap %" PRIu64 ", %u frames:", tag,
		     e->kind, e->why, e->anon, e->swap, e->nr);
		for (unsigned int f = 0; f < e->nr && f < 8; f++)
			diag("    %s+0x%llx %s", image_path(s, e->frame[f].image) ?: "?",
			     e->frame[f].offset, e->frame[f].flags ? "exact" : "");
	}
}

/* Are so many bytes beneath that stack? Says what there is if not. */
static bool found(pid_t pid, mtag_t tag, const struct site *site, uint64_t anon, uint64_t swap)
{
	struct stacks *s = stacks(pid);
	struct stack_sum sum = beneath(s, tag, site);
	bool good = !s->error && s->ended && sum.anon == anon && sum.swap == swap;

	if (!good) {
		diag("  error %d, anon %" PRIu64 "/%" PRIu64 ", swap %" PRIu64 "/%" PRIu64,
		     s->error, sum.anon, anon, sum.swap, swap);
		for (unsigned int i = 0; i < site->nr; i++)
			diag("  want %p", site->frame[i]);
		show_stacks(s, tag);
	}
	return good;
}

static bool has(pid_t pid, mtag_t tag, const struct site *site, uint64_t anon, uint64_t swap,
		const char *what)
{
	return ok(found(pid, tag, site, anon, swap), "%s", what);
}

/* ---- sums ---- */

/* A process that does not run: all of its stacks together are what smaps says. */
static inline void whole(pid_t pid, const char *what)
{
	struct smaps truth = smaps_of(pid, NULL, (void *)UINTPTR_MAX);
	struct stacks *s = stacks(pid);
	struct stack_sum sum = stack_sum(s, ANY_TAG, ANY_KIND);

	is(sum.anon, truth.anon, "%s: all stacks together are smaps' Anonymous", what);
	is(sum.swap, truth.swap, "%s: and its Swap", what);
}

/* The stacks of a tag of this process are its anonymous memory and its swap. */
static void tag_adds_up(mtag_t tag, const char *what)
{
	struct stack_sum sum = stack_sum(stacks(getpid()), tag, ANY_KIND);

	is(sum.anon, anon_of(tag), "%s: the stacks of a tag are its anonymous memory", what);
	is(sum.swap, swap_of(tag), "%s: and its swap", what);
}

/* So much was ever touched by a site, whatever is there now. */
static inline void ever(pid_t pid, mtag_t tag, const struct site *site, uint64_t touched,
			const char *what)
{
	is(beneath(stacks(pid), tag, site).touched, touched, "%s", what);
}

#endif
