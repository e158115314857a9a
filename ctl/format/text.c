// SPDX-License-Identifier: GPL-2.0
/* Cells of a table: sizes, counts, and names that may hold anything. */
#include <string.h>

#include "ctl.h"
#include "format/text.h"
#include "utf8.h"

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

static const char *brief_text(char buf[16], uint64_t bytes, const char *sign)
{
	static const char units[] = "BKMGTPE";
	double value = (double)bytes;
	size_t unit = 0;

	/* 999.5 would be printed as 1000, a column too wide. */
	while (value >= 999.5 && units[unit + 1]) {
		value /= 1024;
		unit++;
	}
	snprintf(buf, 16, "%s%.*f%c", sign, unit && value < 99.95, value, units[unit]);
	return buf;
}

const char *text_brief(char buf[16], uint64_t bytes)
{
	return bytes ? brief_text(buf, bytes, "") : strcpy(buf, "0");
}

const char *text_brief_change(char buf[16], int64_t bytes)
{
	if (bytes < 0)
		return brief_text(buf, 0 - (uint64_t)bytes, "-");
	return bytes ? brief_text(buf, (uint64_t)bytes, "+") : strcpy(buf, "0");
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
	_cleanup_(freep) char *clean = utf8_clean(name, fmt->utf8);
	const char *start = clean ? clean : "?";
	const char *mark = fmt->utf8 ? "…" : "~";
	unsigned int have = utf8_width(start);
	size_t bytes = strlen(start);

	if (have > width) {
		fprintf(fmt->out, "%s", cut == CUT_BEGINNING ? mark : "");
		if (cut == CUT_BEGINNING) {
			for (; have > width - 1; start += bytes)
				have -= utf8_char_width(start, &bytes);
			bytes = strlen(start);
		} else {
			unsigned int used = 0, w;
			size_t n;

			for (bytes = 0; (w = utf8_char_width(start + bytes, &n)) + used < width;
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

void text_last(const struct fmt *fmt, const char *name, unsigned int most, enum cut cut)
{
	_cleanup_(freep) char *clean = utf8_clean(name, fmt->utf8);
	unsigned int have = clean ? utf8_width(clean) : 1;

	text_cell(fmt, name, have < most ? have : most, cut);
	fputc('\n', fmt->out);
}

void text_right(const struct fmt *fmt, int width, const char *text)
{
	int pad = width - (int)utf8_width(text);

	fprintf(fmt->out, "%*s%s", pad > 0 ? pad : 0, "", text);
}
