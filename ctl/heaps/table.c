// SPDX-License-Identifier: GPL-2.0
/* The heap of a process as a table, with the account of its RSS below it; or that account by tag. */
#include <inttypes.h>
#include <string.h>

#include "ctl.h"
#include "format/label.h"
#include "format/text.h"
#include "heaps/table.h"
#include "utf8.h"

#define COLUMNS	  60 /* before the tag */
#define NARROWEST 72
#define INDENT	  2 /* of a tag's account below its name */

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

static void print_tag(const struct fmt *fmt, const struct tag *tag, const struct heap_tag *heap)
{
	const uint64_t sizes[] = {heap->asked,	  heap->allocated, heap->untouched,
				  heap->resident, heap->foreign,   heap->wasted};
	static const int widths[] = {6, 7, 8, 7, 8, 7};
	char buf[24];

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		fprintf(fmt->out, "%*s", widths[i], text_brief(buf, sizes[i]));
	fprintf(fmt->out, " %8s", text_count(buf, heap->objects));
	text_right(fmt, 6, error_text(fmt, buf, heap->error, heap->asked));
	fputs("  ", fmt->out);
	text_last(fmt, label_of(tag), width_of(fmt) - COLUMNS, CUT_BEGINNING);
}

/* ---- the account ---- */

/* Before a term that may be less, or more, for another one's sake. */
static const char *bound_of(const struct fmt *fmt, const struct heap_account *account,
			    enum heap_term term)
{
	if (account->free_least >= account->bytes[TERM_FREE])
		return "";
	if (term == TERM_FREE)
		return fmt->utf8 ? "≤" : "<=";
	if (term == TERM_OWN)
		return fmt->utf8 ? "≥" : ">=";
	return "";
}

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

/* Terms that are 0 are left out, except what is alive in a process. */
static bool is_told(const struct heap_account *account, enum heap_term term, bool of_process)
{
	return account->bytes[term] || (of_process && term == TERM_LIVE);
}

static void print_account(const struct fmt *fmt, const struct heap_account *account,
			  bool of_process, unsigned int indent)
{
	static const char *const names[TERMS] = {
		[TERM_LIVE] = "live",	   [TERM_GUESTS] = "guests", [TERM_WASTED] = "wasted",
		[TERM_FREE] = "free",	   [TERM_OWN] = "own",	     [TERM_STACKS] = "stacks",
		[TERM_FILES] = "files",	   [TERM_DATA] = "data",     [TERM_SHARED] = "shared",
		[TERM_VIEW] = "this view", [TERM_OTHER] = "other",
	};
	char size[16], error[16], term[80];
	unsigned int column = indent;
	bool first = true;

	fprintf(fmt->out, "%*s", (int)indent, "");
	snprintf(term, sizeof(term), "RSS %s", text_size(size, heap_rss(account)));
	print_term(fmt, &column, "", term);
	for (enum heap_term i = 0; i < TERMS; i++) {
		if (!is_told(account, i, of_process))
			continue;
		error_text(fmt, error,
			   i == TERM_LIVE     ? account->live_error
			   : i == TERM_GUESTS ? account->guests_error
					      : 0,
			   account->bytes[i]);
		snprintf(term, sizeof(term), "%s %s%s%s%s", names[i], bound_of(fmt, account, i),
			 text_size(size, account->bytes[i]), *error ? " " : "", error);
		print_term(fmt, &column, first ? " = " : " + ", term);
		first = false;
	}
	fputc('\n', fmt->out);
}

static void print_notes(const struct fmt *fmt, const struct heap_view *view)
{
	_cleanup_(freep) char *reason = utf8_clean(view->reason, fmt->utf8);
	char size[16];

	if (view->knows_retained)
		fprintf(fmt->out,
			"The allocator kept %s free, touched or not, when asked %" PRIu64
			" s ago.\n",
			text_size(size, view->retained), view->age);
	if (view->instead)
		fprintf(fmt->out, "Bytes are sampled, not counted as was asked for: %s\n",
			reason && *reason ? reason : "no reason is given");
	if (view->lost)
		fprintf(fmt->out, "%" PRIu64 " samples are missing: %s.\n", view->lost,
			view->exact ? "which pages objects are on is less certain"
				    : "numbers are too low, or too high");
	if (view->damaged)
		fprintf(fmt->out,
			"The program wrote beyond its objects: %" PRIu64
			" that it freed count as alive.\n",
			view->damaged);
	if (!view->seen)
		fputs("No allocation has come by: the program has an allocator of its own, and "
		      "only\nthat knows its objects.\n",
		      fmt->out);
	else if (view->bypassed)
		fputs("Objects may be missing: the program has an allocator of its own, and "
		      "only\nthat knows all of them.\n",
		      fmt->out);
}

static void print_columns(const struct fmt *fmt, const struct proc *proc)
{
	fprintf(fmt->out, "%6s%7s%8s%7s%8s%7s %8s%6s  TAG\n", "ASKED", "ALLOC", "UNTOUCH", "RESID",
		"FOREIGN", "WASTED", "OBJECTS", "ERROR");
	for (size_t i = 0; i < proc->n_tags; i++) {
		const struct tag *tag = &proc->tags[proc->order[i]];
		const struct heap_tag *heap = heap_find(proc->heap, tag->id);

		if (heap && (heap->allocated || heap->pages))
			print_tag(fmt, tag, heap);
	}
}

static void print_accounts(const struct fmt *fmt, const struct proc *proc)
{
	for (size_t i = 0; i < proc->n_tags; i++) {
		const struct tag *tag = &proc->tags[proc->order[i]];
		const struct heap_tag *heap = heap_find(proc->heap, tag->id);

		if (!heap || !heap_rss(&heap->account))
			continue;
		text_last(fmt, label_of(tag), width_of(fmt), CUT_BEGINNING);
		print_account(fmt, &heap->account, false, INDENT);
	}
	fputs("total\n", fmt->out);
}

void heap_table(const struct fmt *fmt, const struct proc *proc, bool accounts)
{
	const struct heap_view *view = proc->heap;
	_cleanup_(freep) char *allocator = utf8_clean(view->allocator, fmt->utf8);
	char size[16];

	label_proc(fmt, proc, ": ");
	fprintf(fmt->out, "heap of %s, ", allocator && *allocator ? allocator : "?");
	if (view->exact)
		fputs("counted\n", fmt->out);
	else
		fprintf(fmt->out, "sampled about every %s\n", text_size(size, view->period));
	if (accounts)
		print_accounts(fmt, proc);
	else
		print_columns(fmt, proc);
	print_account(fmt, &view->account, true, accounts ? INDENT : 0);
	print_notes(fmt, view);
}
