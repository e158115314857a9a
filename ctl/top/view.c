// SPDX-License-Identifier: GPL-2.0
/*
 * What each key of top does: to the choice of rows, to the selected one, or to what is being typed.
 */
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "clock.h"
#include "ctl.h"
#include "parse.h"
#include "top/view.h"

struct choice view_choice(const struct view *view)
{
	return (struct choice){view->by, view->filter, view->empty, view->all_open};
}

/* ---- the selected row ---- */

size_t view_row(const struct view *view, const struct rows *rows)
{
	return view->selected && view->selected < rows->n_list ? rows->list[view->selected]
							       : rows->n;
}

/* Selects a position, or the nearest that there is, and scrolls as little as it takes. */
static void select_at(struct view *view, const struct rows *rows, size_t at)
{
	size_t page = view->page ? view->page : 1, n = rows->n_list;

	view->selected = at < n ? at : n ? n - 1 : 0;
	if (view->selected < view->first)
		view->first = view->selected;
	if (view->selected >= view->first + page)
		view->first = view->selected + 1 - page;
	if (view->first + page > n)
		view->first = n > page ? n - page : 0;
}

void view_settle(struct view *view, const struct rows *rows, size_t row)
{
	size_t at = view->selected, level = 0;

	for (size_t i = 0; i < rows->n_list && row < rows->n; i++) {
		size_t listed = rows->list[i];

		if (listed <= row && row < rows->row[listed].end &&
		    rows->row[listed].level >= level) {
			level = rows->row[listed].level;
			at = i;
		}
	}
	select_at(view, rows, at);
}

static void move(struct view *view, const struct rows *rows, long by)
{
	size_t back = by < 0 ? (size_t)-by : 0;

	if (back)
		select_at(view, rows, view->selected > back ? view->selected - back : 0);
	else
		select_at(view, rows, view->selected + (size_t)by);
}

/* ---- open and closed rows ---- */

static struct row *selected_row(const struct view *view, const struct rows *rows)
{
	return view->selected < rows->n_list ? &rows->row[rows->list[view->selected]] : NULL;
}

static enum view_need toggle_row(const struct view *view, const struct rows *rows)
{
	struct row *row = selected_row(view, rows);

	if (!row || !rows_may_open(row))
		return VIEW_DRAW;
	row->open = !row->open;
	return VIEW_LIST;
}

static enum view_need open_row(const struct view *view, const struct rows *rows)
{
	struct row *row = selected_row(view, rows);

	return row && !row->open ? toggle_row(view, rows) : VIEW_DRAW;
}

/* Closes the row, or, where there is nothing to close, goes to the one above it. */
static enum view_need close_row(struct view *view, const struct rows *rows)
{
	struct row *row = selected_row(view, rows);
	unsigned int level = row ? row->level : 0;

	if (row && row->open && rows_may_open(row))
		return toggle_row(view, rows);
	for (size_t at = view->selected; level && at-- > 0;) {
		if (rows->row[rows->list[at]].level < level) {
			select_at(view, rows, at);
			break;
		}
	}
	return VIEW_DRAW;
}

/* ---- choices ---- */

static enum view_need sort_by(struct view *view, enum rows_sort sort)
{
	view->sort = sort;
	view->inverted = false;
	return VIEW_LIST;
}

/* Goes @by columns on, round and round. One that nobody has is not shown. */
static enum view_need sort_next(struct view *view, const struct rows *rows, int by)
{
	enum rows_sort sort = view->sort;

	do
		sort = (enum rows_sort)(((int)sort + by) % SORT_N);
	while (sort == SORT_ASKED && !rows->total.heaps);
	return sort_by(view, sort);
}

/* The next longer or shorter of 1, 2, 5, 10 … */
static enum view_need change_delay(struct view *view, bool longer)
{
	static const uint64_t steps[] = {100,  200,   500,   1000,  2000,
					 5000, 10000, 20000, 50000, 100000};
	uint64_t delay = view->delay;

	for (size_t i = 0; longer && i < ARRAY_SIZE(steps) && view->delay == delay; i++)
		if (steps[i] * NSEC_PER_MSEC > delay)
			view->delay = steps[i] * NSEC_PER_MSEC;
	for (size_t i = ARRAY_SIZE(steps); !longer && i-- > 0 && view->delay == delay;)
		if (steps[i] * NSEC_PER_MSEC < delay)
			view->delay = steps[i] * NSEC_PER_MSEC;
	return VIEW_DRAW;
}

static enum view_need group_next(struct view *view)
{
	view->by = (view->by + 1) % BY_N;
	view->selected = 0;
	view->first = 0;
	return VIEW_BUILD;
}

static enum view_need open_all(struct view *view, struct rows *rows)
{
	view->all_open = !view->all_open;
	rows_open_all(rows, view->all_open);
	return VIEW_LIST;
}

/* ---- prompts ---- */

static enum view_need ask(struct view *view, enum view_prompt prompt)
{
	view->prompt = prompt;
	strcpy(view->typed, prompt == PROMPT_FILTER ? view->filter : "");
	strcpy(view->filter_before, view->filter);
	return VIEW_DRAW;
}

static enum view_need filter_is(struct view *view, const char *filter)
{
	memmove(view->filter, filter, strlen(filter) + 1);
	return VIEW_BUILD;
}

/* What was typed is complete. */
static enum view_need take_typed(struct view *view)
{
	enum view_prompt prompt = view->prompt;
	enum rows_sort sort;

	view->prompt = PROMPT_NONE;
	if (prompt == PROMPT_FILTER || !*view->typed)
		return VIEW_DRAW;
	if (prompt == PROMPT_DELAY) {
		if (parse_seconds(view->typed, &view->delay))
			snprintf(view->message, sizeof(view->message),
				 "invalid delay '%s' (seconds, at least 0.01)", view->typed);
		return VIEW_DRAW;
	}
	sort = rows_find_sort(view->typed);
	if (sort < SORT_N)
		return sort_by(view, sort);
	snprintf(view->message, sizeof(view->message), "no column '%s' (%s)", view->typed,
		 rows_sort_names);
	return VIEW_DRAW;
}

static void append(char *text, size_t size, int c)
{
	char bytes[8];
	int n = snprintf(bytes, sizeof(bytes), "%lc", (wint_t)c);

	if (n > 0 && strlen(text) + (size_t)n < size)
		strcat(text, bytes);
}

static void erase_last(char *text)
{
	size_t len = strlen(text);

	/* A character of UTF-8 begins with none of 10xxxxxx. */
	while (len && (text[--len] & 0xc0) == 0x80)
		;
	text[len] = '\0';
}

static enum view_need prompt_key(struct view *view, int key)
{
	if (key == VIEW_KEY_ENTER)
		return take_typed(view);
	if (key == VIEW_KEY_ESCAPE) {
		bool filter = view->prompt == PROMPT_FILTER;

		view->prompt = PROMPT_NONE;
		return filter ? filter_is(view, view->filter_before) : VIEW_DRAW;
	}
	if (key == VIEW_KEY_BACKSPACE)
		erase_last(view->typed);
	else if (key >= ' ' && key != 0x7f)
		append(view->typed, sizeof(view->typed), key);
	return view->prompt == PROMPT_FILTER ? filter_is(view, view->typed) : VIEW_DRAW;
}

/* ---- keys ---- */

static enum view_need choice_key(struct view *view, struct rows *rows, int key)
{
	switch (key) {
	case 'b':
	case VIEW_KEY_F5:
		return group_next(view);
	case '<':
		return sort_next(view, rows, SORT_N - 1);
	case '>':
		return sort_next(view, rows, 1);
	case 'M':
		return sort_by(view, SORT_RSS);
	case 'N':
		return sort_by(view, SORT_PID);
	case 'r':
	case 'I':
		view->inverted = !view->inverted;
		return VIEW_LIST;
	case 'e':
	case '*':
		return open_all(view, rows);
	case 'z':
		view->empty = !view->empty;
		return VIEW_BUILD;
	case 'u':
		view->kib = !view->kib;
		return VIEW_DRAW;
	case 'p':
		view->paused = !view->paused;
		return VIEW_DRAW;
	case '+':
	case '=':
	case '-':
		return change_delay(view, key != '-');
	default:
		return VIEW_DRAW;
	}
}

static enum view_need table_key(struct view *view, struct rows *rows, int key)
{
	long page = view->page > 1 ? (long)view->page - 1 : 1;

	switch (key) {
	case 'k':
	case VIEW_KEY_UP:
		move(view, rows, -1);
		return VIEW_DRAW;
	case 'j':
	case VIEW_KEY_DOWN:
		move(view, rows, 1);
		return VIEW_DRAW;
	case VIEW_KEY_PAGE_UP:
		move(view, rows, -page);
		return VIEW_DRAW;
	case VIEW_KEY_PAGE_DOWN:
		move(view, rows, page);
		return VIEW_DRAW;
	case 'g':
	case VIEW_KEY_HOME:
		select_at(view, rows, 0);
		return VIEW_DRAW;
	case 'G':
	case VIEW_KEY_END:
		select_at(view, rows, rows->n_list);
		return VIEW_DRAW;
	case VIEW_KEY_ENTER:
		return toggle_row(view, rows);
	case VIEW_KEY_RIGHT:
		return open_row(view, rows);
	case VIEW_KEY_LEFT:
		return close_row(view, rows);
	default:
		return choice_key(view, rows, key);
	}
}

enum view_need view_key(struct view *view, struct rows *rows, int key)
{
	view->message[0] = '\0';
	if (view->help) {
		view->help = false;
		return VIEW_DRAW;
	}
	if (view->prompt)
		return prompt_key(view, key);
	switch (key) {
	case 'q':
	case VIEW_KEY_F10:
		return VIEW_QUIT;
	case ' ':
		return VIEW_REFRESH;
	case 'h':
	case '?':
	case VIEW_KEY_F1:
		view->help = true;
		return VIEW_DRAW;
	case '/':
	case VIEW_KEY_F4:
		return ask(view, PROMPT_FILTER);
	case 's':
	case VIEW_KEY_F6:
		return ask(view, PROMPT_SORT);
	case 'd':
		return ask(view, PROMPT_DELAY);
	case VIEW_KEY_ESCAPE:
		return *view->filter ? filter_is(view, "") : VIEW_DRAW;
	default:
		return table_key(view, rows, key);
	}
}
