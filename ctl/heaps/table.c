// SPDX-License-Identifier: GPL-2.0
/* A heap view as a table, with the account of the process's RSS below it. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "ctl.h"
#include "format/label.h"
#include "format/text.h"
#include "heaps/table.h"
#include "utf8.h"

#define COLUMNS	  60 /* before the tag */
#define NARROWEST 72

static unsigned int width_of(const struct fmt *fmt)
{
	return fmt->width > NARROWEST ? fmt->width : NARROWEST;
}

static const char *plus_minus(const struct fmt *fmt)
{
	return fmt->utf8 ? "±" : "+-";
}

/* "±7%", of an error that is known. */
static const char *error_text(const struct fmt *fmt, char buf[16], uint64_t error, uint64_t of)
{
	double percent = of ? 100 * (double)error / (double)of : 0;

	if (!error)
		return strcpy(buf, "");
	snprintf(buf, 16, "%s%.*f%%", plus_minus(fmt), percent < 9.95,
		 percent < 999 ? percent : 999);
	return buf;
}

static void print_tag(const struct fmt *fmt, const struct heap_tag *tag)
{
	const uint64_t sizes[] = {tag->asked,	 tag->allocated, tag->untouched,
				  tag->resident, tag->foreign,	 tag->wasted};
	static const int widths[] = {6, 7, 8, 7, 8, 7};
	char buf[24];

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		fprintf(fmt->out, "%*s", widths[i], text_brief(buf, sizes[i]));
	fprintf(fmt->out, " %8s", text_count(buf, tag->objects));
	text_right(fmt, 6, error_text(fmt, buf, tag->error, tag->asked));
	fputs("  ", fmt->out);
	text_last(fmt, label_of(tag->tag), width_of(fmt) - COLUMNS, CUT_BEGINNING);
}

/* ---- the account ---- */

/* Prints a term, on a new line if it does not fit. */
static void print_term(const struct fmt *fmt, unsigned int *column, const char *before,
		       const char *term)
{
	unsigned int width = utf8_width(term) + (unsigned int)strlen(before);

	if (*column + width > width_of(fmt)) {
		fputs("\n     ", fmt->out);
		*column = 5;
	}
	fprintf(fmt->out, "%s%s", before, term);
	*column += width;
}

static void print_account(const struct fmt *fmt, const struct heap_account *account)
{
	const struct {
		const char *name;
		uint64_t bytes;
	} terms[] = {
		{"live", account->live},     {"free", account->free},
		{"own", account->own},	     {"stacks", account->stacks},
		{"files", account->files},   {"data", account->data},
		{"shared", account->shared}, {"this view", account->view},
		{"other", account->other},
	};
	char size[16], error[16], term[80];
	unsigned int column = 0;

	snprintf(term, sizeof(term), "RSS %s =", text_size(size, account->rss));
	print_term(fmt, &column, "", term);
	for (size_t i = 0; i < ARRAY_SIZE(terms); i++) {
		/* What there is none of is no term; but that nothing is alive is worth saying. */
		if (!terms[i].bytes && i)
			continue;
		error_text(fmt, error, i ? 0 : account->error, account->live);
		snprintf(term, sizeof(term), "%s %s%s%s", terms[i].name,
			 text_size(size, terms[i].bytes), *error ? " " : "", error);
		print_term(fmt, &column, i ? " + " : " ", term);
	}
	fputc('\n', fmt->out);
}

/* Since a time of CLOCK_MONOTONIC. */
static uint64_t seconds_since(uint64_t nanoseconds)
{
	struct timespec now;
	uint64_t seconds = nanoseconds / 1000000000;

	if (clock_gettime(CLOCK_MONOTONIC, &now) || (uint64_t)now.tv_sec < seconds)
		return 0;
	return (uint64_t)now.tv_sec - seconds;
}

static void print_notes(const struct fmt *fmt, const struct heap_view *view)
{
	const struct mtag_heap_head *head = &view->objects->head;
	_cleanup_(freep) char *reason = utf8_clean(head->reason, fmt->utf8);
	char size[16];

	if (view->knows_retained)
		fprintf(fmt->out,
			"The allocator kept %s free, touched or not, when asked %" PRIu64
			" s ago.\n",
			text_size(size, view->retained), seconds_since(head->figures.time));
	if (head->wanted != head->mode)
		fprintf(fmt->out, "Bytes are sampled, not counted as was asked for: %s\n",
			reason && *reason ? reason : "no reason is given");
	if (head->samples_lost)
		fprintf(fmt->out, "%" PRIu64 " samples found no room: all numbers are too low.\n",
			head->samples_lost);
	if (!head->seen)
		fputs("No allocation has come by: the program has an allocator of its own, and "
		      "only\nthat knows its objects.\n",
		      fmt->out);
}

void heap_table(const struct fmt *fmt, const struct heap_view *view)
{
	const struct mtag_heap_head *head = &view->objects->head;
	_cleanup_(freep) char *allocator = utf8_clean(head->allocator, fmt->utf8);
	char size[16];

	label_proc(fmt, view->proc, ": ");
	fprintf(fmt->out, "heap of %s, ", allocator && *allocator ? allocator : "?");
	if (head->mode == MTAG_HEAP_EXACT)
		fputs("counted\n", fmt->out);
	else
		fprintf(fmt->out, "sampled about every %s\n", text_size(size, head->period));
	fprintf(fmt->out, "%6s%7s%8s%7s%8s%7s %8s%6s  TAG\n", "ASKED", "ALLOC", "UNTOUCH", "RESID",
		"FOREIGN", "WASTED", "OBJECTS", "ERROR");
	for (size_t i = 0; i < view->n; i++)
		print_tag(fmt, &view->tags[i]);
	print_account(fmt, &view->account);
	print_notes(fmt, view);
}
