// SPDX-License-Identifier: GPL-2.0
/* Text in XML and HTML. The reader's font is unknown, so widths are those of the widest usual ones. */
#include <errno.h>
#include <string.h>

#include "ctl.h"
#include "picture/markup.h"
#include "utf8.h"

#define ELLIPSIS "…"

static void put_escaped(FILE *out, char c)
{
	switch (c) {
	case '&':
		fputs("&amp;", out);
		break;
	case '<':
		fputs("&lt;", out);
		break;
	case '>':
		fputs("&gt;", out);
		break;
	case '"':
		fputs("&quot;", out);
		break;
	case '\'':
		fputs("&#39;", out);
		break;
	default:
		fputc(c, out);
	}
}

static void put_text(FILE *out, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		put_escaped(out, text[i]);
}

int markup_name(FILE *out, const char *name)
{
	_cleanup_(freep) char *visible = utf8_clean_export(name);

	if (!visible)
		return -ENOMEM;
	put_text(out, visible, strlen(visible));
	return 0;
}

/* Of DejaVu Sans and Verdana, which are wide. */
static double char_width(char c)
{
	if ((unsigned char)c >= 0x80)
		return 1.0;
	if (strchr("ijl.,:;'|!()[]/-ftr I", c))
		return 0.46;
	if (strchr("mwMW@%#&<>=+~", c))
		return 1.0;
	return c >= 'A' && c <= 'Z' ? 0.79 : 0.66;
}

double markup_width(const char *text)
{
	double width = 0;
	size_t bytes;

	for (; *text; text += bytes) {
		utf8_char_width(text, &bytes);
		width += char_width(*text);
	}
	return width;
}

void markup_fit(FILE *out, const char *text, double ems)
{
	double used = 0;
	size_t bytes, n = 0;

	if (markup_width(text) <= ems) {
		put_text(out, text, strlen(text));
		return;
	}
	while (text[n] && used + char_width(text[n]) <= ems - 1.0) {
		used += char_width(text[n]);
		utf8_char_width(text + n, &bytes);
		n += bytes;
	}
	/* One letter says nothing. */
	if (n < 2)
		return;
	put_text(out, text, n);
	fputs(ELLIPSIS, out);
}
