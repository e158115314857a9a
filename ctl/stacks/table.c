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
#define INDENT	  4
#define WHERE	  26 /* for a file and its line */
#define NARROWEST 64
#define ID_DIGITS 12

static unsigned int width_of(const struct fmt *fmt)
{
	return fmt->width > NARROWEST ? fmt->width : NARROWEST;
}

/* The last cell of a line: nothing behind it. */
static void print_last(const struct fmt *fmt, const char *text, unsigned int most, enum cut cut)
{
	_cleanup_(freep) char *clean = utf8_clean(text, fmt->utf8);
	unsigned int have = clean ? utf8_width(clean) : 1;

	text_cell(fmt, text, have < most ? have : most, cut);
	fputc('\n', fmt->out);
}

static void print_row(const struct fmt *fmt, const struct stacks *stacks, const struct stack *stack)
{
	char anon[16], swap[16], touched[16], percent[16];
	_cleanup_(freep) char *label = NULL;
	const char *tag = stack->tag ? label_of(stack->tag) : "[all tags]";
	bool taken = stack->trace->kind == MTAG_STACK_TAKEN;

	if (asprintf(&label, "%s%s%s", tag, taken ? "" : " ",
		     taken ? "" : trace_kind(stack->trace->kind)) < 0)
		label = NULL;
	fprintf(fmt->out, "%9s %8s %8s %6s  ", text_size(anon, stack->anon),
		text_size(swap, stack->swap),
		stack->knows_touched ? text_size(touched, stack->touched) : "-",
		text_percent(percent, stack->anon + stack->swap, stacks->anon + stacks->swap));
	print_last(fmt, label ? label : "?", width_of(fmt) - COLUMNS, CUT_BEGINNING);
}

/* "pool.c:12"; without a source the file that the code is in, or its build-id if that has no symbols. */
static void where(const struct frame *frame, char *text, size_t size)
{
	const char *slash = frame->file ? strrchr(frame->file, '/') : NULL;
	char id[TRACE_BUILD_ID_TEXT] = "";

	if (frame->image)
		trace_build_id(frame->image, id);
	if (frame->file && frame->line)
		snprintf(text, size, "%s:%u", slash ? slash + 1 : frame->file, frame->line);
	else if (frame->file)
		snprintf(text, size, "%s", slash ? slash + 1 : frame->file);
	else if (frame->function && frame->image)
		snprintf(text, size, "%s", trace_image_name(frame->image));
	else if (*id)
		snprintf(text, size, "build-id %.*s", ID_DIGITS, id);
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
		print_last(fmt, name, room + 1 + WHERE, CUT_END);
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
	print_last(fmt, place, WHERE, CUT_BEGINNING);
	return 0;
}

static int print_stack(const struct fmt *fmt, const struct stacks *stacks,
		       const struct stack *stack)
{
	static const char *const whys[] = {
		"", "its caller has neither an unwind table nor a frame pointer",
		"a page of the stack was not in memory", "more frames than are kept",
		"the return address is not in executable memory"};
	uint32_t why = stack->trace->why;

	print_row(fmt, stacks, stack);
	for (size_t i = stack->n; i-- > 0;)
		if (print_frame(fmt, stack->frames[i]))
			return -ENOMEM;
	if (stack->trace->kind == MTAG_STACK_TAKEN && why)
		fprintf(fmt->out, "%*s(ends: %s)\n", INDENT, "",
			why < ARRAY_SIZE(whys) ? whys[why] : "the kernel knows why");
	return 0;
}

static void print_rest(const struct fmt *fmt, const struct stacks *stacks)
{
	uint64_t anon = 0, swap = 0;
	char a[16], s[16], percent[16];

	for (size_t i = stacks->n; i < stacks->n_all; i++) {
		anon += stacks->stacks[i].anon;
		swap += stacks->stacks[i].swap;
	}
	fprintf(fmt->out, "%9s %8s %8s %6s  %zu more (-n)\n", text_size(a, anon),
		text_size(s, swap), "",
		text_percent(percent, anon + swap, stacks->anon + stacks->swap),
		stacks->n_all - stacks->n);
}

/* What the samples are worth. */
static void print_sampling(const struct fmt *fmt, const struct stacks *stacks)
{
	const struct stack *largest = NULL;
	uint64_t sampled = 0;

	for (size_t i = 0; i < stacks->n_all; i++) {
		const struct stack *stack = &stacks->stacks[i];

		if (stack->trace->kind != MTAG_STACK_TAKEN)
			continue;
		largest = largest ? largest : stack; /* they are sorted */
		sampled += stack->anon + stack->swap;
	}
	fprintf(fmt->out, "%s1 of %.4g first touches was sampled: multiply bytes by that.\n",
		stacks->traces->one_in ? "" : "About ", stacks->one_in);
	fprintf(fmt->out, "The relative error (1 sigma) is sqrt(%.4g/pages)", stacks->one_in - 1);
	if (sampled)
		fprintf(fmt->out, ":\n%.1f%% of all stacks, %.1f%% of the largest",
			100 * stacks_error(stacks, sampled),
			100 * stacks_error(stacks, largest->anon + largest->swap));
	fputs(".\n", fmt->out);
}

int stacks_table(const struct fmt *fmt, const struct stacks *stacks)
{
	char anon[16], swap[16];

	label_proc(fmt, stacks->proc, "");
	fprintf(fmt->out, ": %zu stack%s, %s anonymous, %s in swap\n", stacks->n_all,
		stacks->n_all == 1 ? "" : "s", text_size(anon, stacks->anon),
		text_size(swap, stacks->swap));
	fprintf(fmt->out, "%9s %8s %8s %6s  TAG, AND BELOW IT ITS STACK\n", "ANON", "SWAP",
		"TOUCHED", "%");
	for (size_t i = 0; i < stacks->n; i++)
		if (print_stack(fmt, stacks, &stacks->stacks[i]))
			return -ENOMEM;
	if (stacks->n < stacks->n_all)
		print_rest(fmt, stacks);
	if (stacks->one_in > 1.001)
		print_sampling(fmt, stacks);
	if (stacks->traces->lost)
		fprintf(fmt->out,
			"%" PRIu64
			" stacks found no room (max_stacks): their pages are in [before].\n",
			stacks->traces->lost);
	return 0;
}
