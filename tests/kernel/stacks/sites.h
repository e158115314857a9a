/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Places in a test that touch pages by known chains of calls, and whether what the module says of them is that. Not in
 * the archive: it has to be built with frame pointers, and as 64-bit code.
 */
#ifndef MTAG_TESTS_SITES_H
#define MTAG_TESTS_SITES_H

#include "../lib/stacks.h"

#define SITES 16
#define DEEP  12 /* frames of a site's stack that the test knows, at most */
#define N     64

#define alone __attribute__((noinline, noipa))

/*
 * A site is a chain of calls that ends at one instruction. Each function of the chain notes the address that it
 * returns to: that is the truth.
 */
struct site {
	char *at;
	size_t pages;
	unsigned int nr;
	const void *frame[DEEP]; /* innermost first; the first is the instruction */
};

extern const char stacks_touch[], stacks_in_kernel[];
static struct site *current;
static char exe[256];

#define note() (current->frame[current->nr++] = __builtin_return_address(0))

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
static alone void read_here(void)
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

typedef void leaf_t(void);

/* Sixteen places, of depths 1 to 8. */
#define PLACE(n)                                                                                   \
	static alone void place_##n(leaf_t *leaf, int depth)                                       \
	{                                                                                          \
		note();                                                                            \
		if (depth)                                                                         \
			place_##n(leaf, depth - 1);                                                \
		else                                                                               \
			leaf();                                                                    \
		__asm__ volatile("");                                                              \
	}
#define EACH(of)                                                                                   \
	of(0) of(1) of(2) of(3) of(4) of(5) of(6) of(7) of(8) of(9) of(10) of(11) of(12) of(13)    \
		of(14) of(15)
#define NAME(n) place_##n,

EACH(PLACE)

static void (*const place[SITES])(leaf_t *, int) = {EACH(NAME)};

/* The addresses were noted on the way in. */
static void turn(struct site *s, const void *instruction)
{
	const void *noted[DEEP];

	memcpy(noted, s->frame, sizeof(noted));
	s->frame[0] = instruction;
	for (unsigned int i = 0; i < s->nr; i++)
		s->frame[i + 1] = noted[s->nr - 1 - i];
	s->nr++;
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
	turn(s, leaf == touch_here ? stacks_touch : stacks_in_kernel);
}

/* ---- where code is, by /proc/self/maps ---- */

static struct code {
	uint64_t start, end, offset;
	char path[128];
} code[128];

static unsigned int nr_code;

static void read_code(void)
{
	char *line = slurp("/proc/self/maps"), *end, perms[8];

	nr_code = 0;
	for (; line && *line; line = end ? end + 1 : NULL) {
		struct code *c = &code[nr_code];

		end = strchr(line, '\n');
		if (end)
			*end = '\0';
		c->path[0] = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %127s", &c->start,
			   &c->end, perms, &c->offset, c->path) >= 4 &&
		    perms[2] == 'x' && nr_code < COUNT(code) - 1)
			nr_code++;
	}
}

/* Is a frame of an answer the one at @address? */
static bool same_frame(const struct stacks *s, const struct mtag_stack_frame *f,
		       const void *address)
{
	uint64_t at = (uintptr_t)address;
	const char *path = f->image < IMAGES_SEEN ? s->path[f->image] : NULL;

	for (unsigned int i = 0; i < nr_code; i++)
		if (at >= code[i].start && at < code[i].end)
			return f->offset == at - code[i].start + code[i].offset && path &&
			       !strcmp(path, code[i].path);
	return false;
}

static bool same_stack(const struct stacks *s, const struct stack_seen *e, const struct site *site)
{
	if (e->kind != MTAG_STACK_TAKEN || e->nr < site->nr)
		return false;
	for (unsigned int i = 0; i < site->nr; i++)
		if (!same_frame(s, &e->frame[i], site->frame[i]))
			return false;
	for (unsigned int i = 1; i < e->nr; i++)
		if (e->frame[i].flags & MTAG_STACK_EXACT)
			return false;
	return !(e->frame[0].flags & MTAG_STACK_EXACT) == (site->frame[0] != stacks_touch);
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
			diag("    %s+0x%llx %s",
			     e->frame[f].image < IMAGES_SEEN ? s->path[e->frame[f].image] : "?",
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
static void whole(pid_t pid, const char *what)
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
static void ever(pid_t pid, mtag_t tag, const struct site *site, uint64_t touched, const char *what)
{
	is(beneath(stacks(pid), tag, site).touched, touched, "%s", what);
}

#endif
