/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the user of top has chosen to see, and what each key does to that. No terminal is needed for
 * it.
 */
#ifndef MTAGCTL_TOP_VIEW_H
#define MTAGCTL_TOP_VIEW_H

#include "top/rows.h"

/* Keys that are no characters. */
enum {
	VIEW_KEY_UP = -100,
	VIEW_KEY_DOWN,
	VIEW_KEY_LEFT,
	VIEW_KEY_RIGHT,
	VIEW_KEY_PAGE_UP,
	VIEW_KEY_PAGE_DOWN,
	VIEW_KEY_HOME,
	VIEW_KEY_END,
	VIEW_KEY_ENTER,
	VIEW_KEY_ESCAPE,
	VIEW_KEY_BACKSPACE,
	VIEW_KEY_F1,
	VIEW_KEY_F4,
	VIEW_KEY_F5,
	VIEW_KEY_F6,
	VIEW_KEY_F10,
};

/* What has to be done after a key; each includes those before it. */
enum view_need { VIEW_DRAW, VIEW_LIST, VIEW_BUILD, VIEW_REFRESH, VIEW_QUIT };

enum view_prompt { PROMPT_NONE, PROMPT_FILTER, PROMPT_SORT, PROMPT_DELAY };

#define VIEW_TYPED 64

/**
 * struct view - what is seen
 * @delay:	between refreshes, nanoseconds
 * @kib:	numbers are in KiB, not rounded
 * @all_open:	rows that appear are open
 * @empty:	also what has no memory
 * @help:	help is shown, not the table
 * @filter:	"" for none; while it is typed, that is what is typed
 * @filter_before: what it was before
 * @prompt:	what is being typed
 * @typed:	as far as it is
 * @message:	until the next key, or ""
 * @selected:	position in the list
 * @first:	position of the first one on the screen
 * @page:	how many fit on the screen
 */
struct view {
	enum rows_by by;
	enum rows_sort sort;
	bool inverted;
	bool kib;
	bool paused;
	bool all_open;
	bool empty;
	bool help;
	uint64_t delay;
	char filter[VIEW_TYPED];
	char filter_before[VIEW_TYPED];
	enum view_prompt prompt;
	char typed[VIEW_TYPED];
	char message[128];
	size_t selected;
	size_t first;
	size_t page;
};

/* Does what a key means; it may open and close @rows. A character is its code point. */
enum view_need view_key(struct view *view, struct rows *rows, int key);

struct choice view_choice(const struct view *view);
/*
 * The index of the selected row, or rows->n if there is none or the user has not moved from the
 * top.
 */
size_t view_row(const struct view *view, const struct rows *rows);
/* After @rows were listed anew: selects that row, or what it is below; keeps it on the screen. */
void view_settle(struct view *view, const struct rows *rows, size_t row);

#endif
