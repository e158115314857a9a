// SPDX-License-Identifier: GPL-2.0
/* Shows lines of text on the terminal, and reads keys, by ncurses. */
#define NCURSES_WIDECHAR 1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <ncurses.h>
#include <term.h>

#include "ctl.h"
#include "top/screen.h"
#include "top/view.h"

#define ESCAPE_MS 25 /* what comes later than that behind an Esc is another key */
#define CTRL_L	  12

enum { PAIR_GROWN = 1, PAIR_SHRUNK };

struct screen {
	SCREEN *curses;
	bool colour;
	bool cursor;
	int cursor_line, cursor_at;
};

bool screen_is_possible(void)
{
	int err;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return false;
	if (setupterm(NULL, STDOUT_FILENO, &err) != OK)
		return false;
	return cursor_address && clear_screen;
}

struct screen *screen_open(bool colour)
{
	struct screen *screen = calloc(1, sizeof(*screen));

	if (screen)
		screen->curses = newterm(NULL, stdout, stdin);
	if (!screen || !screen->curses) {
		free(screen);
		return NULL;
	}
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(ESCAPE_MS);
	curs_set(0);
	screen->colour = colour && has_colors();
	if (screen->colour) {
		start_color();
		use_default_colors();
		init_pair(PAIR_GROWN, COLOR_RED, -1);
		init_pair(PAIR_SHRUNK, COLOR_GREEN, -1);
	}
	return screen;
}

void screen_close(struct screen *screen)
{
	if (!screen)
		return;
	endwin();
	delscreen(screen->curses);
	free(screen);
}

void screen_restore(void)
{
	if (stdscr && !isendwin())
		endwin();
}

void screen_resize(struct screen *screen, unsigned int width, unsigned int height)
{
	(void)screen;
	resizeterm((int)height, (int)width);
}

void screen_begin(struct screen *screen)
{
	screen->cursor = false;
	erase();
}

void screen_line(struct screen *screen, unsigned int line, const char *text)
{
	(void)screen;
	mvaddstr((int)line, 0, text);
}

void screen_style(struct screen *screen, unsigned int line, unsigned int at, unsigned int width,
		  enum style style)
{
	static const attr_t attributes[] = {
		[STYLE_PLAIN] = A_NORMAL,    [STYLE_BOLD] = A_BOLD,
		[STYLE_REVERSE] = A_REVERSE, [STYLE_SORTED] = A_BOLD | A_UNDERLINE,
		[STYLE_GROWN] = A_NORMAL,    [STYLE_SHRUNK] = A_NORMAL,
	};
	short pair = style == STYLE_GROWN ? PAIR_GROWN : style == STYLE_SHRUNK ? PAIR_SHRUNK : 0;

	mvchgat((int)line, (int)at, (int)width, attributes[style], screen->colour ? pair : 0, NULL);
}

void screen_cursor(struct screen *screen, unsigned int line, unsigned int at)
{
	screen->cursor = true;
	screen->cursor_line = (int)line;
	screen->cursor_at = (int)at;
}

void screen_end(struct screen *screen)
{
	curs_set(screen->cursor);
	if (screen->cursor)
		move(screen->cursor_line, screen->cursor_at);
	refresh();
}

static int function_key(wint_t code)
{
	static const struct {
		wint_t code;
		int key;
	} keys[] = {
		{KEY_UP, VIEW_KEY_UP},	       {KEY_DOWN, VIEW_KEY_DOWN},
		{KEY_LEFT, VIEW_KEY_LEFT},     {KEY_RIGHT, VIEW_KEY_RIGHT},
		{KEY_PPAGE, VIEW_KEY_PAGE_UP}, {KEY_NPAGE, VIEW_KEY_PAGE_DOWN},
		{KEY_HOME, VIEW_KEY_HOME},     {KEY_END, VIEW_KEY_END},
		{KEY_ENTER, VIEW_KEY_ENTER},   {KEY_BACKSPACE, VIEW_KEY_BACKSPACE},
		{KEY_F(1), VIEW_KEY_F1},       {KEY_F(4), VIEW_KEY_F4},
		{KEY_F(5), VIEW_KEY_F5},       {KEY_F(6), VIEW_KEY_F6},
		{KEY_F(10), VIEW_KEY_F10},
	};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (keys[i].code == code)
			return keys[i].key;
	return 0;
}

bool screen_key(struct screen *screen, int *key)
{
	wint_t code;
	int found = get_wch(&code);

	(void)screen;
	if (found == ERR)
		return false;
	if (found == KEY_CODE_YES)
		*key = function_key(code);
	else if (code == '\r' || code == '\n')
		*key = VIEW_KEY_ENTER;
	else if (code == '\b' || code == 0x7f)
		*key = VIEW_KEY_BACKSPACE;
	else if (code == '\033')
		*key = VIEW_KEY_ESCAPE;
	else
		*key = code < ' ' ? 0 : (int)code;
	/* Something else has written on the terminal. */
	if (code == CTRL_L)
		clearok(stdscr, TRUE);
	return true;
}
