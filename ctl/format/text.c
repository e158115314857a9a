// SPDX-License-Identifier: GPL-2.0
#include <langinfo.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "ctl.h"
#include "format/text.h"

#define WIDTH_DEFAULT  80
#define HEIGHT_DEFAULT 24
#define WIDTH_MIN      40
#define HEIGHT_MIN     6
#define WIDTH_MAX      1000

static unsigned int from_environment(const char *name, unsigned int otherwise)
{
	const char *text = getenv(name);
	unsigned long value;

	if (!text || parse_count(text, &value) || value > WIDTH_MAX)
		return otherwise;
	return (unsigned int)value;
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

static bool locale_is_utf8(void)
{
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

void fmt_init(struct fmt *fmt, const struct ctl *ctl)
{
	const char *term = getenv("TERM");

	*fmt = (struct fmt){.out = stdout, .stats = ctl->stats, .pretty = ctl->pretty};
	fmt->terminal = isatty(STDOUT_FILENO);
	fmt->utf8 = locale_is_utf8();
	fmt->colour = fmt->terminal && !getenv("NO_COLOR") && term && strcmp(term, "dumb") != 0;
	fmt_resize(fmt);
}

/* The code point at @s and its bytes, or 0 when they are no UTF-8. */
static unsigned int decode(const unsigned char *s, size_t len, uint32_t *cp)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned int n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;

	if (s[0] > 0xf4 || !n || n > len)
		return 0;
	*cp = n == 1 ? s[0] : s[0] & (0x7fU >> n);
	for (unsigned int i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*cp = *cp << 6 | (s[i] & 0x3f);
	}
	if (n > 1 && (*cp < least[n] || *cp > 0x10ffff || (*cp >= 0xd800 && *cp < 0xe000)))
		return 0;
	return n;
}

/* Neither control characters nor what reorders or hides the text around it; as in the module. */
static bool printable(uint32_t cp)
{
	static const uint32_t bad[][2] = {
		{0, 0x1f},	    {0x7f, 0x9f},	{0xad, 0xad},	     {0x61c, 0x61c},
		{0x180e, 0x180e},   {0x200b, 0x200f},	{0x2028, 0x202e},    {0x2060, 0x206f},
		{0xfdd0, 0xfdef},   {0xfeff, 0xfeff},	{0xfff0, 0xfffb},    {0x13430, 0x1343f},
		{0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0x10ffff},
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad) && cp >= bad[i][0]; i++)
		if (cp <= bad[i][1])
			return false;
	return (cp & 0xfffe) != 0xfffe;
}

bool text_is_printable(const char *s, size_t len)
{
	uint32_t cp;

	for (unsigned int n; len; s += n, len -= n) {
		n = decode((const unsigned char *)s, len, &cp);
		if (!n || !printable(cp))
			return false;
	}
	return true;
}

static char *escape(const char *s, bool utf8, bool backslashes)
{
	size_t len = strlen(s);
	char *copy = malloc(len * 4 + 1), *p = copy;
	uint32_t cp;

	if (!copy)
		return NULL;
	while (len) {
		unsigned int n = decode((const unsigned char *)s, len, &cp);
		bool fine = n && printable(cp) && (n == 1 || (utf8 && wcwidth((wchar_t)cp) >= 0));

		if (fine && !(backslashes && *s == '\\')) {
			p = mempcpy(p, s, n);
		} else if (fine) {
			p = mempcpy(p, "\\\\", 2);
		} else {
			n = 1;
			p += sprintf(p, "\\x%02x", (unsigned char)*s);
		}
		s += n;
		len -= n;
	}
	*p = '\0';
	return copy;
}

char *text_clean(const char *s, bool utf8)
{
	return escape(s, utf8, true);
}

char *text_safe(const char *s)
{
	return escape(s, locale_is_utf8(), false);
}

char *text_utf8(const char *s)
{
	size_t len = strlen(s);
	char *copy = malloc(len * 3 + 1), *p = copy;
	uint32_t cp;

	if (!copy)
		return NULL;
	while (len) {
		unsigned int n = decode((const unsigned char *)s, len, &cp);

		p = n ? mempcpy(p, s, n) : mempcpy(p, "\xef\xbf\xbd", 3);
		n = n ? n : 1;
		s += n;
		len -= n;
	}
	*p = '\0';
	return copy;
}

void text_json(FILE *out, const char *json)
{
	const char *done = json;
	uint32_t cp;

	for (unsigned int n; *json; json += n) {
		n = decode((const unsigned char *)json, 4, &cp); /* ends at the NUL */
		if (n && (*json == '\n' || printable(cp)))
			continue;
		fwrite(done, 1, (size_t)(json - done), out);
		if (!n)
			n = 1;
		else if (cp < 0x10000)
			fprintf(out, "\\u%04x", cp);
		else
			fprintf(out, "\\u%04x\\u%04x", 0xd7c0 + (cp >> 10), 0xdc00 + (cp & 0x3ff));
		done = json + n;
	}
	fwrite(done, 1, (size_t)(json - done), out);
}

/* Columns and bytes of the character at @s. */
static unsigned int char_width(const char *s, size_t *bytes)
{
	uint32_t cp = 0;
	unsigned int n = decode((const unsigned char *)s, 4, &cp); /* ends at the NUL */
	int width = n > 1 ? wcwidth((wchar_t)cp) : 1;

	*bytes = n ? n : 1;
	return width < 0 ? 1 : (unsigned int)width;
}

unsigned int text_width(const char *clean)
{
	unsigned int width = 0;
	size_t bytes;

	for (; *clean; clean += bytes)
		width += char_width(clean, &bytes);
	return width;
}

static const char *size_text(char buf[16], uint64_t bytes, const char *sign)
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double value = (double)bytes / 1024;
	size_t unit = 0;

	if (bytes < 1024) {
		snprintf(buf, 16, "%s%uB", sign, (unsigned int)bytes);
		return buf;
	}
	/* 999.95 would be printed as 1000.0, a column too wide. */
	while (value >= 999.95 && unit + 1 < ARRAY_SIZE(units)) {
		value /= 1024;
		unit++;
	}
	snprintf(buf, 16, "%s%.1f%s", sign, value, units[unit]);
	return buf;
}

const char *text_size(char buf[16], uint64_t bytes)
{
	return bytes ? size_text(buf, bytes, "") : strcpy(buf, "0");
}

const char *text_delta(char buf[16], uint64_t now, uint64_t before)
{
	if (now == before)
		return strcpy(buf, "0");
	return now > before ? size_text(buf, now - before, "+") : size_text(buf, before - now, "-");
}

const char *text_count(char buf[24], uint64_t n)
{
	if (n < 100000000)
		snprintf(buf, 24, "%llu", (unsigned long long)n);
	else
		snprintf(buf, 24, "%.2e", (double)n);
	return buf;
}

const char *text_percent(char buf[16], uint64_t part, uint64_t whole)
{
	snprintf(buf, 16, "%.1f%%", whole ? 100.0 * (double)part / (double)whole : 0.0);
	return buf;
}

void text_cell(const struct fmt *fmt, const char *name, unsigned int width, enum cut cut)
{
	_cleanup_(freep) char *clean = text_clean(name, fmt->utf8);
	const char *start = clean ? clean : "?";
	const char *mark = fmt->utf8 ? "…" : "~";
	unsigned int have = text_width(start);
	size_t bytes = strlen(start);

	if (have > width) {
		fprintf(fmt->out, "%s", cut == CUT_BEGINNING ? mark : "");
		if (cut == CUT_BEGINNING) {
			for (; have > width - 1; start += bytes)
				have -= char_width(start, &bytes);
			bytes = strlen(start);
		} else {
			unsigned int used = 0, w;
			size_t n;

			for (bytes = 0; (w = char_width(start + bytes, &n)) + used < width;
			     bytes += n)
				used += w;
			have = used;
		}
		fprintf(fmt->out, "%.*s%s", (int)bytes, start, cut == CUT_END ? mark : "");
		have++;
	} else {
		fputs(start, fmt->out);
	}
	fprintf(fmt->out, "%*s", (int)(width - have), "");
}

void text_right(const struct fmt *fmt, int width, const char *text)
{
	int pad = width - (int)text_width(text);

	fprintf(fmt->out, "%*s%s", pad > 0 ? pad : 0, "", text);
}
