// SPDX-License-Identifier: GPL-2.0
/* A graph in the language of graphviz: the darker and larger a tag, the more it owns itself. */
#include <errno.h>
#include <inttypes.h>

#include "ctl.h"
#include "format/dot.h"
#include "format/label.h"
#include "format/text.h"
#include "utf8.h"

/* By the percentage of the process that is less than .below: a colour of reds9, and a font size. */
static const struct weight {
	unsigned int below, colour, size;
} weights[] = {
	{5, 1, 9}, {10, 2, 10}, {20, 3, 12}, {40, 4, 14}, {60, 5, 16}, {80, 6, 18}, {101, 7, 20},
};

#define DARKEST 7 /* from this one on, white text has the better contrast */

/* A name within a quoted label, where quotes, backslashes and references of HTML are special. */
static int print_name(const struct fmt *fmt, const char *name)
{
	_cleanup_(freep) char *clean = utf8_clean_export(name);

	if (!clean)
		return -ENOMEM;
	for (const char *p = clean; *p; p++) {
		if (*p == '"' || *p == '\\')
			fputc('\\', fmt->out);
		fputc(*p, fmt->out);
		if (*p == '&')
			fputs("amp;", fmt->out);
	}
	return 0;
}

static const struct weight *weight_of(uint64_t self, uint64_t all)
{
	double percent = all ? 100.0 * (double)self / (double)all : 0.0;
	size_t i = 0;

	while (i + 1 < ARRAY_SIZE(weights) && percent >= weights[i].below)
		i++;
	return &weights[i];
}

static int print_node(const struct fmt *fmt, const struct proc *proc, const struct tag *tag)
{
	const struct weight *weight = weight_of(tag_rss(tag), proc->rss);
	char self[16], total[16], percent[16];

	fprintf(fmt->out, "    \"%d/%u\" [label=\"", (int)proc->pid, tag->id);
	if (print_name(fmt, tag->depth ? tag->name : label_of(tag)))
		return -ENOMEM;
	fprintf(fmt->out,
		"\\nself %s\\ntotal %s (%s)\" fillcolor=%u%s fontsize=%u tooltip=\"%" PRIu64
		"\"];\n",
		text_size(self, tag_rss(tag)), text_size(total, tag->total_rss),
		text_percent(percent, tag->total_rss, proc->rss), weight->colour,
		weight->colour < DARKEST ? "" : " fontcolor=\"#ffffff\"", weight->size,
		tag_rss(tag));
	return 0;
}

static void print_edge(const struct fmt *fmt, const struct proc *proc, const struct tag *tag)
{
	char percent[16];

	fprintf(fmt->out, "    \"%d", (int)proc->pid);
	if (tag->parent >= 0)
		fprintf(fmt->out, "/%u", proc->tags[tag->parent].id);
	fprintf(fmt->out, "\" -> \"%d/%u\" [label=\"%s\"];\n", (int)proc->pid, tag->id,
		text_percent(percent, tag->total_rss, proc->rss));
}

static int print_proc(const struct fmt *fmt, const struct proc *proc)
{
	char rss[16];

	fprintf(fmt->out, "  subgraph \"cluster_%d\" {\n    \"%d\" [shape=ellipse label=\"",
		(int)proc->pid, (int)proc->pid);
	if (print_name(fmt, proc->comm))
		return -ENOMEM;
	fprintf(fmt->out, " (%d)\\n%s\"];\n", (int)proc->pid, text_size(rss, proc->rss));
	for (size_t i = 0; i < proc->n_tags; i++) {
		const struct tag *tag = &proc->tags[proc->order[i]];

		if (!tag_is_shown(tag))
			continue;
		if (print_node(fmt, proc, tag))
			return -ENOMEM;
		print_edge(fmt, proc, tag);
	}
	fputs("  }\n", fmt->out);
	return 0;
}

int dot_print(const struct fmt *fmt, const struct snap *snap)
{
	int err = 0;

	fputs("digraph mtag {\n  rankdir=LR;\n"
	      "  node [shape=box style=filled colorscheme=reds9 fillcolor=1];\n",
	      fmt->out);
	for (size_t i = 0; i < snap->n_procs && !err; i++)
		err = print_proc(fmt, &snap->procs[i]);
	fputs("}\n", fmt->out);
	return err;
}
