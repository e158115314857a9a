// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/utf8.c ctl/parse.c ctl/stacks/stack.c ctl/model.c ctl/heaps/objects.c */
/* sources: ctl/stacks/trace.c ctl/heaps/sites.c ctl/stacks/demangle.c ctl/stacks/perfmap.c ctl/stacks/object.c */
/* sources: ctl/stacks/symbol.c ctl/stacks/guard.c ctl/stacks/known.c ctl/stacks/resolve.c ctl/file.c ctl/kept.c */
/* sources: ctl/progress.c ctl/confine.c */
/*
 * mtagctl heap --stacks: objects that are known, summed up by tag and call stack.
 */
#include "ctl.h"
#include "ctl_heap.h"
#include "ctl_tap.h"
#include "heaps/sites.h"
#include "stacks/resolve.h"

static struct heap_objects objects;

static struct traces traces;

enum { PROGRAM = 1, LIBC = 2, HEAP = 3 };

static void name_stack(uint32_t number, const uint32_t *images, size_t n)
{
	struct mtag_stack_frame frames[8];
	struct trace *trace;

	for (size_t i = 0; i < n; i++)
		frames[i] = (struct mtag_stack_frame){.offset = 16 * (i + 1), .image = images[i]};
	trace = traces_add_named(&traces, frames, n);
	trace->number = number;
	trace->why = MTAG_STACK_DEEP;
}

static void name_stacks(void)
{
	static const uint32_t usual[] = {LIBC, HEAP, HEAP, PROGRAM, HEAP, PROGRAM};
	static const uint32_t within[] = {LIBC, HEAP}, bare[] = {PROGRAM, LIBC};

	traces_clear(&traces);
	traces_add_image(&traces, PROGRAM, "/bin/x");
	traces_add_image(&traces, LIBC, "/lib/libc.so.6");
	traces_add_image(&traces, HEAP, "/usr/lib/libmtag-heap.so.0");
	/* In no order. */
	name_stack(9, bare, 2);
	name_stack(5, usual, 6);
	name_stack(7, within, 2);
}

static void stack_of(int i, uint32_t stack)
{
	area.samples[i].stack = stack;
	area.samples[i].check = mtag_heap_check(&area.samples[i]);
}

/* The one trace with this number of frames beneath a tag. */
static const struct trace *trace_of(uint32_t tag, size_t n)
{
	static const struct trace none;
	const struct trace *found = &none;

	for (size_t i = 0; i < traces.n; i++)
		if (traces.traces[i].tag == tag && traces.traces[i].n == n)
			found = found == &none ? &traces.traces[i] : &none;
	return found;
}

static int make_sites(uint32_t older)
{
	int err = heap_objects_read(&source, 4, &objects);

	name_stacks();
	err = err ? err : heap_sites_add(&objects, older, &traces);
	heap_objects_clear(&objects);
	return err;
}

static bool is_sum(const struct trace *trace, uint64_t asked, uint64_t count, uint64_t error)
{
	return stack_heap_whole(trace->heap.asked) == asked &&
	       stack_heap_whole(trace->heap.objects) == count &&
	       stack_heap_error(&trace->heap) == error;
}

/* A process that has one stack beneath each of its tags has it once. */
static bool are_shared(void)
{
	struct stacks stacks = {0};
	const struct stack *a = NULL, *b = NULL;
	bool shared = trace_of(A, 3)->frames == trace_of(B, 3)->frames &&
		      !stacks_resolve(&stacks, &traces, false);

	for (size_t i = 0; i < stacks.n; i++)
		if (stacks.stacks[i].n == 3)
			*(stacks.stacks[i].tag == A ? &a : &b) = &stacks.stacks[i];
	shared = shared && a && b && a->frames == b->frames &&
		 !strcmp(a->frames[0]->module, "/bin/x") && a->frames[0]->offset == 6 * 16;
	stacks_clear(&stacks);
	return shared;
}

static void sites_sampled(void)
{
	begin(MTAG_HEAP_SAMPLED);
	for (int i = 0; i < 6; i++)
		sample(i, BASE + 1000 * (uint64_t)i, 100, 2 * ONE, i == 5 ? B : A);
	stack_of(0, 5);
	stack_of(1, 5);
	stack_of(2, 9);
	stack_of(3, 7);
	stack_of(4, 6); /* nobody has told that */
	stack_of(5, 5);
	ok(!make_sites(0) && traces.n == 5 && traces.heap,
	   "objects with one tag and stack are one");
	ok(is_sum(trace_of(A, 3), 400, 4, 200) && is_sum(trace_of(B, 3), 200, 2, 141),
	   "sums and errors are those of the samples");
	ok(trace_of(A, 3)->frames[0].offset == 4 * 16 && trace_of(A, 3)->why == MTAG_STACK_DEEP,
	   "the library's frames at the leaf are left out, those further out are not");
	ok(are_shared(), "a stack beneath several tags has its frames once");
	ok(traces.traces[1].n == 0 && traces.traces[1].kind == MTAG_STACK_NONE &&
		   is_sum(&traces.traces[1], 200, 2, 141),
	   "a number that was made up is no stack, and loses no bytes");
	for (size_t i = 0; i < traces.n; i++)
		if (traces.traces[i].n == 2 && traces.traces[i].frames[0].image == LIBC)
			ok(traces.traces[i].frames[1].image == HEAP,
			   "a walk that ended in the library is shown as it is");
	sample(6, BASE + 6000, 100, UINT64_MAX, A);
	area.samples[6].asked = area.samples[6].allocated = UINT64_MAX;
	stack_of(6, UINT32_MAX);
	ok(!make_sites(0) && stack_heap_whole(trace_of(A, 0)->heap.asked) == 0,
	   "numbers beyond all bounds do no harm");
	area.samples[0].time = UINT64_MAX;
	stack_of(0, 5);
	ok(!make_sites(1) && is_sum(trace_of(A, 3), 200, 2, 141),
	   "with an age, what is younger is left out");
}

static void sites_exact(void)
{
	begin(MTAG_HEAP_EXACT);
	sample(0, BASE, 5000, ONE, A);
	sample(1, BASE + 10000, 100, 10 * ONE, A);
	sample(2, BASE + 20000, 100, 10 * ONE, A);
	stack_of(0, 5);
	stack_of(1, 9);
	stack_of(2, 7);
	area.cells[0][A] =
		(struct mtag_heap_cell){.asked_in = 8000, .allocated_in = 8000, .objects_in = 31};
	area.cells[0][B] =
		(struct mtag_heap_cell){.asked_in = 70, .allocated_in = 80, .objects_in = 2};
	ok(!make_sites(0) && is_sum(trace_of(A, 3), 5000, 1, 0),
	   "of what is counted, a stack that is known for sure stays as it is");
	ok(is_sum(&traces.traces[1], 1500, 15, 949) && is_sum(&traces.traces[2], 1500, 15, 949),
	   "and the others have the rest, by their variances");
	ok(trace_of(B, 0)->kind == MTAG_STACK_UNSAMPLED && is_sum(trace_of(B, 0), 70, 2, 0),
	   "what has no sample is beneath no stack");
	traces_clear(&traces);
}

int main(void)
{
	sites_sampled();
	sites_exact();
	return tap_end();
}
