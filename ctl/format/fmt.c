// SPDX-License-Identifier: GPL-2.0
/* Finds out from terminal and environment where to print, how wide, and in which characters. */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ctl.h"
#include "format/fmt.h"
#include "parse.h"
#include "utf8.h"

#define WIDTH_DEFAULT  80
#define HEIGHT_DEFAULT 24
#define WIDTH_MIN      40
#define HEIGHT_MIN     6
#define WIDTH_MAX      1000

static unsigned int from_environment(const char *name, unsigned int otherwise)
{
	const char *text = getenv(name);
	unsigned long value;

	if (!text || parse_count(text, &value))
		return otherwise;
	return value < WIDTH_MAX ? (unsigned int)value : WIDTH_MAX;
}

void fmt_resize(struct fmt *fmt)
{
	struct winsize size = {0};

	if (fmt->terminal)
		ioctl(fileno(fmt->out), TIOCGWINSZ, &size);
	fmt->width = size.ws_col ? size.ws_col : from_environment("COLUMNS", WIDTH_DEFAULT);
	fmt->height = size.ws_row ? size.ws_row : from_environment("LINES", HEIGHT_DEFAULT);
	if (fmt->width < WIDTH_MIN)
		fmt->width = WIDTH_MIN;
	if (fmt->height < HEIGHT_MIN)
		fmt->height = HEIGHT_MIN;
}

void fmt_init(struct fmt *fmt, const struct ctl *ctl)
{
	const char *term = getenv("TERM");

	*fmt = (struct fmt){.out = stdout, .stats = ctl->stats, .pretty = ctl->pretty};
	fmt->terminal = isatty(STDOUT_FILENO);
	fmt->utf8 = utf8_in_locale();
	fmt->colour = fmt->terminal && !getenv("NO_COLOR") && term && strcmp(term, "dumb") != 0;
	fmt_resize(fmt);
}

void fmt_redirect(struct fmt *fmt, FILE *out)
{
	if (out == fmt->out)
		return;
	fmt->out = out;
	fmt->terminal = false;
	fmt->colour = false;
	fmt_resize(fmt);
}
