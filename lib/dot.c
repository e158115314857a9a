// SPDX-License-Identifier: LGPL-2.1-or-later
/* A graph in the language of graphviz: the darker and larger a tag, the more it owns itself. */
#include "dot.h"

#include <stdbool.h>
#include <string.h>

/* By the percentage of the process that is less than .below: a colour of reds9, and a font size. */
static const struct {
	unsigned below, colour, size;
} weights[] = {
	{5, 1, 9}, {10, 2, 10}, {20, 3, 12}, {40, 4, 14}, {60, 5, 16}, {80, 6, 18}, {101, 7, 20},
};

/*
 * A name within a quoted label, where quotes, backslashes and references of HTML are special: \ is
 * written \\, and what is not printable \xNN, and then each backslash twice.
 */
static void put_name(struct mtag__out *out, const char *name, bool printable)
{
	static const char hex[] = "0123456789abcdef";

	for (; *name; name++) {
		unsigned char c = (unsigned char)*name;

		if (c == '\\') {
			mtag__puts(out, "\\\\\\\\");
		} else if (c == '"') {
			mtag__puts(out, "\\\"");
		} else if (c == '&') {
			mtag__puts(out, "&amp;");
		} else if (printable || (c >= ' ' && c < 0x7f)) {
			mtag__putc(out, *name);
		} else {
			mtag__puts(out, "\\\\x");
			mtag__putc(out, hex[c >> 4]);
			mtag__putc(out, hex[c & 15]);
		}
	}
}

static size_t weight_of(uint64_t self, uint64_t all)
{
	size_t i = 0;

	while (i + 1 < sizeof(weights) / sizeof(weights[0]) && all &&
	       self * 100 >= weights[i].below * all)
		i++;
	return i;
}

/* "PID/ID", quoted. */
static void put_node_id(struct mtag__out *out, const struct mtag__sample *sample, int tag)
{
	mtag__putc(out, '"');
	mtag__put_number(out, sample->pid);
	if (tag >= 0) {
		mtag__putc(out, '/');
		mtag__put_number(out, sample->tags[tag].id);
	}
	mtag__putc(out, '"');
}

static void put_node(struct mtag__out *out, const struct mtag__sample *sample, int at)
{
	const struct mtag__tag *tag = &sample->tags[at];
	uint64_t self = mtag__tag_rss(tag);
	size_t weight = weight_of(self, sample->rss);
	char buf[16];

	mtag__puts(out, "    ");
	put_node_id(out, sample, at);
	mtag__puts(out, " [label=\"");
	put_name(out, tag->depth ? tag->name : "[untagged]", true);
	mtag__puts(out, "\\nself ");
	mtag__puts(out, mtag__size_text(buf, self));
	mtag__puts(out, "\\ntotal ");
	mtag__puts(out, mtag__size_text(buf, tag->total_rss));
	mtag__puts(out, " (");
	mtag__puts(out, mtag__percent_text(buf, tag->total_rss, sample->rss));
	mtag__puts(out, ")\" fillcolor=");
	mtag__put_number(out, weights[weight].colour);
	/* As in mtagctl: white text has the better contrast on the darkest. */
	if (weights[weight].colour >= 7)
		mtag__puts(out, " fontcolor=\"#ffffff\"");
	mtag__puts(out, " fontsize=");
	mtag__put_number(out, weights[weight].size);
	mtag__puts(out, " tooltip=\"");
	mtag__put_number(out, self);
	mtag__puts(out, "\"];\n");
}

static void put_edge(struct mtag__out *out, const struct mtag__sample *sample, int at)
{
	const struct mtag__tag *tag = &sample->tags[at];
	char buf[16];

	mtag__puts(out, "    ");
	put_node_id(out, sample, tag->parent);
	mtag__puts(out, " -> ");
	put_node_id(out, sample, at);
	mtag__puts(out, " [label=\"");
	mtag__puts(out, mtag__percent_text(buf, tag->total_rss, sample->rss));
	mtag__puts(out, "\"];\n");
}

void mtag__dot_print(struct mtag__out *out, struct mtag__sample *sample)
{
	char buf[16];
	int i = -1;

	mtag__puts(out, "digraph mtag {\n  rankdir=LR;\n"
			"  node [shape=box style=filled colorscheme=reds9 fillcolor=1];\n"
			"  subgraph \"cluster_");
	mtag__put_number(out, sample->pid);
	mtag__puts(out, "\" {\n    ");
	put_node_id(out, sample, -1);
	mtag__puts(out, " [shape=ellipse label=\"");
	put_name(out, sample->comm, false);
	mtag__puts(out, " (");
	mtag__put_number(out, sample->pid);
	mtag__puts(out, ")\\n");
	mtag__puts(out, mtag__size_text(buf, sample->rss));
	mtag__puts(out, "\"];\n");
	while ((i = mtag__sample_next(sample, i)) >= 0) {
		put_node(out, sample, i);
		put_edge(out, sample, i);
	}
	mtag__puts(out, "  }\n}\n");
}
