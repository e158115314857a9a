// SPDX-License-Identifier: LGPL-2.1-or-later
/* A tree for people: the tags below each other, with sums, as wide as the longest name needs. */
#include "tree.h"

#include <langinfo.h>
#include <stdbool.h>
#include <string.h>
#include <wchar.h>

#define SIZE_COLUMNS	9 /* with a blank before it */
#define PERCENT_COLUMNS 7
#define STEP_COLUMNS	3
#define NAME_COLUMNS	12
#define LEAST_COLUMNS	16

struct lines {
	const char *tee, *corner, *bar, *blank;
};

static const struct lines drawn = {"├─ ", "└─ ", "│  ", "   "};
static const struct lines ascii = {"|- ", "`- ", "|  ", "   "};

static void pad(struct mtag__out *out, size_t columns)
{
	while (columns-- > 0)
		mtag__putc(out, ' ');
}

/* Prints a name, unless @out is NULL, and returns its columns; what cannot be shown is \xNN. */
static size_t put_name(struct mtag__out *out, const char *name, bool utf8)
{
	static const char hex[] = "0123456789abcdef";
	size_t columns = 0;
	char text[] = "\\xNN";
	uint32_t cp;
	unsigned n;
	int width;

	for (; *name; name += n) {
		n = mtag__utf8(name, &cp);
		width = n == 1 && cp >= ' ' && cp < 0x7f ? 1
			: n > 1 && utf8			 ? wcwidth((wchar_t)cp)
							 : -1;
		if (width < 0) {
			n = 1;
			width = 4;
			text[2] = hex[(unsigned char)*name >> 4];
			text[3] = hex[*name & 15];
			if (out)
				mtag__puts(out, text);
		} else if (out) {
			mtag__put(out, name, n);
		}
		if (*name == '\\') {
			width++;
			if (out)
				mtag__putc(out, '\\');
		}
		columns += (size_t)width;
	}
	return columns;
}

static void put_right(struct mtag__out *out, size_t width, const char *text)
{
	size_t len = strlen(text);

	pad(out, width > len ? width - len : 0);
	mtag__puts(out, text);
}

static void put_cell(struct mtag__out *out, size_t width, const char *name, bool utf8)
{
	size_t used = put_name(out, name, utf8);

	pad(out, width > used ? width - used : 0);
}

static void put_numbers(struct mtag__out *out, uint64_t self, uint64_t total, uint64_t all)
{
	char buf[16];

	put_right(out, SIZE_COLUMNS, mtag__size_text(buf, self));
	put_right(out, PERCENT_COLUMNS, mtag__percent_text(buf, self, all));
	put_right(out, SIZE_COLUMNS, mtag__size_text(buf, total));
	put_right(out, PERCENT_COLUMNS, mtag__percent_text(buf, total, all));
	mtag__putc(out, '\n');
}

/* [untagged] has depth 0, but is printed beside the top-level tags. */
static unsigned depth_of(const struct mtag__tag *tag)
{
	return tag->depth ? tag->depth : 1;
}

static size_t width_of(const struct mtag__sample *sample, bool utf8)
{
	size_t width = LEAST_COLUMNS, i, have;

	for (i = 0; i < sample->n; i++) {
		have = put_name(NULL, sample->tags[i].name, utf8);
		have = depth_of(&sample->tags[i]) * STEP_COLUMNS +
		       (have < NAME_COLUMNS ? NAME_COLUMNS : have);
		if (have > width)
			width = have;
	}
	return width;
}

/* Prints the branches before a tag. */
static void put_branch(struct mtag__out *out, const struct mtag__sample *sample, int at,
		       const struct lines *lines)
{
	bool more[MTAG_DEPTH_MAX + 1];
	unsigned depth = depth_of(&sample->tags[at]), d;

	for (d = depth; d > 0; d--) {
		more[d] = sample->tags[at].next >= 0;
		at = sample->tags[at].parent;
	}
	for (d = 1; d < depth; d++)
		mtag__puts(out, more[d] ? lines->bar : lines->blank);
	mtag__puts(out, more[depth] ? lines->tee : lines->corner);
}

void mtag__tree_print(struct mtag__out *out, struct mtag__sample *sample)
{
	bool utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	const struct lines *lines = utf8 ? &drawn : &ascii;
	size_t width = width_of(sample, utf8);
	int i = -1;

	mtag__sample_by_size(sample);
	mtag__puts(out, "process ");
	mtag__put_number(out, sample->pid);
	mtag__puts(out, " (");
	put_name(out, sample->comm, utf8);
	mtag__puts(out, ")\n");
	put_cell(out, width, "TAG", utf8);
	put_right(out, SIZE_COLUMNS, "SELF");
	put_right(out, PERCENT_COLUMNS, "%");
	put_right(out, SIZE_COLUMNS, "TOTAL");
	put_right(out, PERCENT_COLUMNS, "%");
	mtag__putc(out, '\n');
	while ((i = mtag__sample_next(sample, i)) >= 0) {
		const struct mtag__tag *tag = &sample->tags[i];

		put_branch(out, sample, i, lines);
		put_cell(out, width - depth_of(tag) * STEP_COLUMNS,
			 tag->depth ? tag->name : "[untagged]", utf8);
		put_numbers(out, mtag__tag_rss(tag), tag->total_rss, sample->rss);
	}
	put_cell(out, width, "total", utf8);
	put_numbers(out, sample->rss, sample->rss, sample->rss);
}
