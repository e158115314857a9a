// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/stacks/stack.c ctl/model.c ctl/parse.c ctl/utf8.c ctl/format/text.c ctl/format/json.c ctl/format/label.c */
/* sources: ctl/top/rows.c ctl/top/view.c */
/* mtagctl top: what its keys do to the rows. */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "ctl_tap.h"
#include "ctl_top.h"
#include "top/view.h"

static struct rows shown;
static struct view view;
static const struct moment *times[2];

static void press(int key)
{
	enum view_need need = view_key(&view, &shown, key);
	size_t row = view_row(&view, &shown);

	if (need == VIEW_BUILD) {
		struct rows rows;

		build(&rows, view.by, view.filter, times[0], times[1]);
		row = rows.by == shown.by ? rows_carry(&rows, &shown, row, view.all_open) : rows.n;
		rows_clear(&shown);
		shown = rows;
	}
	if (need >= VIEW_LIST)
		rows_list(&shown, view.sort, view.inverted);
	view_settle(&view, &shown, row);
}

static void type(const char *text)
{
	for (; *text; text++)
		press(*text);
}

static const struct row *selected(void)
{
	return &shown.row[shown.list[view.selected]];
}

static void moves(void)
{
	size_t closed = shown.n_list;
	pid_t pid;

	press(VIEW_KEY_DOWN);
	press('j');
	ok(view.selected == 2 && view.first == 0, "Down and j select the next row");
	press(VIEW_KEY_END);
	ok(view.selected == closed - 1 && view.first == closed - view.page,
	   "End selects the last row, at the end of the page");
	press(VIEW_KEY_DOWN);
	ok(view.selected == closed - 1, "behind it there is none");
	press(VIEW_KEY_HOME);
	press('k');
	ok(!view.selected && !view.first, "Home and k select the first one");
	press(VIEW_KEY_PAGE_DOWN);
	ok(view.selected == view.page - 1, "PgDn leaves one row of a page");
	pid = selected()->key.proc->pid;
	press('r');
	ok(selected()->key.proc->pid == pid,
	   "the selected process stays so when the order changes");
	press('r');
}

static void folds(void)
{
	size_t closed = shown.n_list, children = selected()->children;
	const struct row *row = selected();

	press(VIEW_KEY_ENTER);
	ok(shown.n_list == closed + children && selected() == row, "Enter unfolds a row");
	press(VIEW_KEY_DOWN);
	press(VIEW_KEY_LEFT);
	ok(selected() == row, "Left goes from a tag to its process");
	press(VIEW_KEY_LEFT);
	ok(shown.n_list == closed, "and then folds it");
	press('e');
	ok(shown.n_list == closed + shown.pairs, "e unfolds all");
	press(VIEW_KEY_DOWN);
	press('e');
	ok(shown.n_list == closed && selected() == row,
	   "e again folds all: the process is selected");
}

static void prompts(void)
{
	size_t all = shown.n_list;

	type("/redis");
	ok(view.prompt == PROMPT_FILTER && shown.n_list == 16, "a filter acts while it is typed");
	press(VIEW_KEY_BACKSPACE);
	type("x");
	ok(shown.n_list == 0, "also when it leaves nothing");
	press(VIEW_KEY_ESCAPE);
	ok(!view.prompt && shown.n_list == all, "Esc takes it back");
	type("/Web");
	press(VIEW_KEY_ENTER);
	type("q");
	ok(!strcmp(view.filter, "Web") && shown.n_list == 8, "Enter keeps it");
	press(VIEW_KEY_ESCAPE);
	ok(shown.n_list == all, "then Esc ends it");
	type("/");
	press(0xe4);
	ok(!strcmp(view.filter, "\xc3\xa4"), "a filter may be in any script");
	press(VIEW_KEY_BACKSPACE);
	ok(!*view.filter, "a character of several bytes is erased as one");
	press(VIEW_KEY_ENTER);
	type("sSW");
	press(VIEW_KEY_ENTER);
	ok(view.sort == SORT_SWAP && in_order(&shown, SORT_SWAP, false),
	   "s takes the first letters of a column");
	type("sxyz");
	press(VIEW_KEY_ENTER);
	ok(view.sort == SORT_SWAP && strstr(view.message, "no column 'xyz' (pid,"),
	   "and names the columns if it is none");
	type("d2.5");
	press(VIEW_KEY_ENTER);
	ok(view.delay == 2500000000ULL, "d takes a delay");
	type("d-1");
	press(VIEW_KEY_ENTER);
	ok(view.delay == 2500000000ULL && strstr(view.message, "invalid delay '-1'"),
	   "but not every one");
}

static void choices(void)
{
	press('+');
	ok(view.delay == 5000000000ULL, "+ makes the delay longer");
	press('-');
	press('-');
	ok(view.delay == 1000000000ULL, "- makes it shorter");
	press('>');
	ok(view.sort == SORT_PEAK, "> sorts by the next column");
	press('>');
	press('<');
	press('<');
	ok(view.sort == SORT_SWAP, "< by the one before");
	view.sort = SORT_DELTA;
	press('>');
	ok(view.sort == SORT_ANON, "a column that nobody has is left out");
	press('b');
	ok(view.by == BY_TAG && shown.by == BY_TAG && !view.selected, "b goes on to tags");
	press(VIEW_KEY_F5);
	ok(view.by == BY_CGROUP && shown.row[0].kind == ROW_CGROUP, "F5 to control groups");
	press('b');
	ok(view.by == BY_PROCESS, "and back to processes");
	press('z');
	ok(view_choice(&view).empty, "z chooses what has no memory, too");
	press('h');
	ok(view.help && view_key(&view, &shown, 'q') == VIEW_DRAW && !view.help,
	   "h shows the help, any key ends it");
	ok(view_key(&view, &shown, ' ') == VIEW_REFRESH, "Space refreshes");
	ok(view_key(&view, &shown, 'q') == VIEW_QUIT, "q quits");
}

static void keys(const struct moment *now, const struct moment *before)
{
	times[0] = now;
	times[1] = before;
	view = (struct view){.sort = SORT_RSS, .delay = 1000000000ULL, .page = 10};
	build(&shown, BY_PROCESS, "", now, before);
	rows_list(&shown, view.sort, false);
	moves();
	folds();
	prompts();
	choices();
	rows_clear(&shown);
}

int main(void)
{
	struct moment now, before;

	setlocale(LC_CTYPE, "C.UTF-8");
	make(&before, 0, 35, TAGS - 1, 0);
	make(&now, 0, PROCS, TAGS, 1);
	keys(&now, &before);
	end(&now);
	end(&before);
	return tap_end();
}
