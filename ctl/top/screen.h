/* SPDX-License-Identifier: GPL-2.0 */
/* The terminal: lines of text with styles, and keys. Nothing else in mtagctl knows of ncurses. */
#ifndef MTAGCTL_TOP_SCREEN_H
#define MTAGCTL_TOP_SCREEN_H

#include <stdbool.h>

struct screen;

enum style { STYLE_PLAIN, STYLE_BOLD, STYLE_REVERSE, STYLE_SORTED, STYLE_GROWN, STYLE_SHRUNK };

/* False where lines cannot be put in place: not a terminal, or one that cannot move its cursor. */
bool screen_is_possible(void);
/* Takes over the terminal. Returns NULL on failure. */
struct screen *screen_open(bool colour);
/* Gives the terminal back as it was. */
void screen_close(struct screen *screen);

/* The same for a process that ends at once, from any thread. */
void screen_restore(void);

/* Adapts to the terminal's size, which may have changed. */
void screen_resize(struct screen *screen, unsigned int width, unsigned int height);
/* The next picture begins empty, all lines plain. */
void screen_begin(struct screen *screen);
void screen_line(struct screen *screen, unsigned int line, const char *text);
void screen_style(struct screen *screen, unsigned int line, unsigned int at, unsigned int width,
		  enum style style);
/* Shows the cursor behind that text of a line in this picture; in others there is none. */
void screen_cursor(struct screen *screen, unsigned int line, unsigned int at);
/* Shows the picture; only what is different is sent. */
void screen_end(struct screen *screen);

/*
 * The next key that was pressed, as of view.h, 0 for one that means nothing; false if there is
 * none.
 */
bool screen_key(struct screen *screen, int *key);

#endif
