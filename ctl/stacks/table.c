// SPDX-License-Identifier: GPL-2.0
/* Stacks as a table: long names are cut, so that each function has one line. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "ctl.h"
#include "format/label.h"
#include "format/text.h"
#include "stacks/table.h"
#include "utf8.h"

#define COLUMNS	  36 /* before the tag */
#define OF_HEAP	  17 /* more of them, of a process with a heap view */
#define INDENT	  4
#define WHERE	  26 /* for a file and its line */
#define NARROWEST 64
#define ID_DIGITS 12

static unsigned int width_of(const struct fmt *fmt)
{
	return fmt->width > NARROWEST ? fmt->width : NARROWEST;
}

/* What was never freed, and 1 sigma of that. */
static void print_heap(const struct fmt *fmt, const struct stack_heap *heap)
{
	uint64_t asked = stack_heap_whole(heap->asked), error = stack_heap_error(heap);
	char size[16], percent[24] = "";
	double part = asked ? 100 * (double)error / (double)asked : 0;

	if (error)
		snprintf(percent, sizeof(percent), "%s%.*f%%", fmt->utf8 ? "±" : "+-", part < 9.95,
			 part < 999 ? part : 999);
	fprintf(fmt->out, " %9s ", text_size(size, asked));
	text_right(fmt, 6, percent);
}

static void print_row(const struct fmt *fmt, const struct stack_view *view,
		      const struct stack_row *row)
{
	char anon[16], swap[16], touched[16], percent[16];
	_cleanup_(freep) char *label = NULL;
	const char *tag = row->tag ? label_of(row->tag) : "[all tags]";
	bool taken = row->stack->kind == MTAG_STACK_TAKEN, heap = view->proc->stacks->heap;

	if (asprintf(&label, "%s%s%s", tag, taken ? "" : " ", taken ? "" : stack_kind(row->stack)) <
	    0)
		label = NULL;
	fprintf(fmt->out, "%9s %8s %8s %6s", text_size(anon, row->anon), text_size(swap, row->swap),
		row->knows_touched ? text_size(touched, row->touched) : "-",
		text_percent(percent, row->anon + row->swap, view->anon + view->swap));
	if (heap)
		print_heap(fmt, &row->heap);
	fputs("  ", fmt->out);
	text_last(fmt, label ? label : "?", width_of(fmt) - COLUMNS - (heap ? OF_HEAP : 0),
		  CUT_BEGINNING);
}

/* "pool.c:12"; without a source the file that the code is in, or its build-id if that has no symbols. */
static void where(const struct frame *frame, char *text, size_t size)
{
	const char *slash = frame->file ? strrchr(frame->file, '/') : NULL;

	if (frame->file && frame->line)
		snprintf(text, size, "%s:%u", slash ? slash + 1 : frame->file, frame->line);
	else if (frame->file)
		snprintf(text, size, "%s", slash ? slash + 1 : frame->file);
	else if (frame->function && frame->module)
		snprintf(text, size, "%s", frame_module(frame));
	else if (frame->build_id)
		snprintf(text, size, "build-id %.*s", ID_DIGITS, frame->build_id);
	else
		*text = '\0';
}

static int print_frame(const struct fmt *fmt, const struct frame *frame)
{
	static const char inlined[] = " (inlined)";
	_cleanup_(freep) char *name = frame_name(frame);
	unsigned int room = width_of(fmt) - INDENT - 1 - WHERE;
	char place[300];

	if (!name)
		return -ENOMEM;
	where(frame, place, sizeof(place));
	fprintf(fmt->out, "%*s", INDENT, "");
	if (!*place) {
		text_last(fmt, name, room + 1 + WHERE, CUT_END);
		return 0;
	}
	if (frame->inlined) {
		_cleanup_(freep) char *clean = utf8_clean(name, fmt->utf8);
		unsigned int have = clean ? utf8_width(clean) : 1;
		unsigned int most = room - (unsigned int)strlen(inlined);

		have = have < most ? have : most;
		text_cell(fmt, name, have, CUT_END);
		text_cell(fmt, inlined, room - have, CUT_END);
	} else {
		text_cell(fmt, name, room, CUT_END);
	}
	fputc(' ', fmt->out);
	text_last(fmt, place, WHERE, CUT_BEGINNING);
	return 0;
}

static int print_stack(const struct fmt *fmt, const struct stack_view *view,
		       const struct stack_row *row)
{
	static const char *const whys[] = {
		"", "its caller has neither an unwind table nor a frame pointer",
		"a page of the stack was not in memory", "more frames than are kept",
		"the return address is not in executable memory"};
	const struct stack *stack = row->stack;
	uint32_t why = stack->why;

	print_row(fmt, view, row);
	for (size_t i = stack->n; i-- > 0;)
		if (print_frame(fmt, stack->frames[i]))
			return -ENOMEM;
	if (stack->kind == MTAG_STACK_TAKEN && why)
		fprintf(fmt->out, "%*s(ends: %s)\n", INDENT, "",
			why < ARRAY_SIZE(whys) ? whys[why] : "the kernel knows why");
	return 0;
}

static void print_rest(const struct fmt *fmt, const struct stack_view *view)
{
	struct stack_heap heap = {0};
	uint64_t anon = 0, swap = 0;
	char a[16], s[16], percent[16];

	for (size_t i = view->n; i < view->n_all; i++) {
		anon += view->rows[i].anon;
		swap += view->rows[i].swap;
		stack_heap_add(&heap, &view->rows[i].heap);
	}
	fprintf(fmt->out, "%9s %8s %8s %6s", text_size(a, anon), text_size(s, swap), "",
		text_percent(percent, anon + swap, view->anon + view->swap));
	if (view->proc->stacks->heap)
		print_heap(fmt, &heap);
	fprintf(fmt->out, "  %zu more (-n)\n", view->n_all - view->n);
}

/* What the samples are worth. */
static void print_sampling(const struct fmt *fmt, const struct stack_view *view)
{
	uint64_t sampled = 0, largest = 0;

	for (size_t i = 0; i < view->n_all; i++) {
		const struct stack_row *row = &view->rows[i];
		uint64_t bytes = row->anon + row->swap;

		if (row->stack->kind != MTAG_STACK_TAKEN)
			continue;
		largest = bytes > largest ? bytes : largest;
		sampled += bytes;
	}
	fprintf(fmt->out, "%s1 of %.4g first touches was sampled: multiply bytes by that.\n",
		view->proc->stacks->one_in ? "" : "About ", view->one_in);
	fprintf(fmt->out, "The relative error (1 sigma) is sqrt(%.4g/pages)", view->one_in - 1);
	if (sampled)
		fprintf(fmt->out, ":\n%.1f%% of all stacks, %.1f%% of the largest",
			100 * stack_view_error(view, sampled),
			100 * stack_view_error(view, largest));
	fputs(".\n", fmt->out);
}

int stacks_table(const struct fmt *fmt, const struct stack_view *view)
{
	char anon[16], swap[16];

	label_proc(fmt, view->proc, "");
	fprintf(fmt->out, ": %zu stack%s, %s anonymous, %s in swap\n", view->n_all,
		view->n_all == 1 ? "" : "s", text_size(anon, view->anon),
		text_size(swap, view->swap));
	fprintf(fmt->out, "%9s %8s %8s %6s", "ANON", "SWAP", "TOUCHED", "%");
	if (view->proc->stacks->heap)
		fprintf(fmt->out, " %9s %6s  TAG, AND ITS STACK\n", "UNFREED", "ERROR");
	else
		fputs("  TAG, AND BELOW IT ITS STACK\n", fmt->out);
	for (size_t i = 0; i < view->n; i++)
		if (print_stack(fmt, view, &view->rows[i]))
			return -ENOMEM;
	if (view->n < view->n_all)
		print_rest(fmt, view);
	if (view->proc->stacks->heap)
		fputs("ANON has made RSS grow; UNFREED was allocated and not freed, as samples "
		      "tell.\n",
		      fmt->out);
	if (view->one_in > 1.001)
		print_sampling(fmt, view);
	if (view->proc->stacks->lost)
		fprintf(fmt->out,
			"%" PRIu64
			" stacks found no room (max_stacks): their pages are in [before].\n",
			view->proc->stacks->lost);
	if (view->proc->stacks->uncounted)
		fprintf(fmt->out, "TOUCHED lacks %s that no stack counts: there was no room.\n",
			text_size(anon, view->proc->stacks->uncounted));
	return 0;
}
