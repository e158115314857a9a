// SPDX-License-Identifier: GPL-2.0
/* The tags of all processes as an HTML table, which can be read as it is, and sorted by a script. */
#include <errno.h>
#include <inttypes.h>

#include "ctl.h"
#include "format/chain.h"
#include "format/text.h"
#include "picture/markup.h"
#include "picture/table.h"

const char table_style[] =
	".scroll{overflow-x:auto}table{border-collapse:collapse;width:100%}"
	"th,td{padding:4px 10px;text-align:right;vertical-align:top;white-space:nowrap;border-bottom:1px solid #dfe2e6}"
	"th:first-child,td:first-child{padding-left:0}"
	"th:first-child,th:nth-child(2),td:first-child,td:nth-child(2){text-align:left}"
	"td:first-child,td:nth-child(2){white-space:normal;overflow-wrap:anywhere;min-width:9em}"
	"th:nth-child(2),td:nth-child(2){padding-left:26px;position:relative}"
	"th{background:#fff;font-weight:600}tfoot td{font-weight:600;border:0}"
	"th button{all:unset;cursor:pointer}th button:focus-visible{outline:2px solid}"
	"th button::after{content:\"↕\";padding-left:3px;opacity:.6}"
	"th[aria-sort=ascending] button::after{content:\"↑\";opacity:1}"
	"th[aria-sort=descending] button::after{content:\"↓\";opacity:1}"
	".key{width:10px;height:10px;position:absolute;left:8px;top:.7em}\n"
	"@media (max-width:1100px){th,td{padding:4px 6px}}\n"
	"@media (max-width:620px){td:first-child{min-width:5em}td:nth-child(2){min-width:7em}}\n"
	"@media (prefers-color-scheme:dark){th,td{border-color:#33383f}th{background:#15181c}}\n";

const char table_script[] =
	"'use strict';\n"
	"const body = document.querySelector('tbody');\n"
	"const heads = [...document.querySelectorAll('th')];\n"
	"const words = new Intl.Collator(undefined, {numeric: true});\n"
	"const value = (row, i) => row.cells[i].dataset.v ?? row.cells[i].textContent;\n"
	"function sort(i) {\n"
	"  const was = heads[i].ariaSort;\n"
	"  const up = was ? was === 'descending' : i < 2;\n"
	"  const order = i < 2 ? (a, b) => words.compare(value(a, i), value(b, i))\n"
	"                      : (a, b) => value(a, i) - value(b, i);\n"
	"  const rows = [...body.rows].sort((a, b) => up ? order(a, b) : order(b, a));\n"
	"  for (const head of heads) head.ariaSort = null;\n"
	"  heads[i].ariaSort = up ? 'ascending' : 'descending';\n"
	"  body.append(...rows);\n"
	"}\n"
	"heads.forEach((head, i) => {\n"
	"  const button = document.createElement('button');\n"
	"  button.append(...head.childNodes);\n"
	"  button.addEventListener('click', () => sort(i));\n"
	"  head.append(button);\n"
	"});\n";

struct row {
	const struct proc *proc;
	const struct tag *tag;
};

static int by_rss(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	uint64_t p = tag_rss(x->tag), q = tag_rss(y->tag);

	if (p != q)
		return p > q ? -1 : 1;
	if (x->proc != y->proc)
		return x->proc < y->proc ? -1 : 1;
	return x->tag < y->tag ? -1 : 1;
}

/* A function that only calls others owns nothing. */
static bool is_row(const struct tag *tag)
{
	return tag_is_shown(tag) && (!tag->frame || tag_rss(tag) || tag->c[MTAG_C_SWAP]);
}

static size_t list_rows(const struct snap *snap, struct row *rows)
{
	size_t n = 0;

	for (size_t i = 0; i < snap->n_procs; i++)
		for (size_t j = 0; j < snap->procs[i].n_tags; j++)
			if (is_row(&snap->procs[i].tags[j]))
				rows[n++] = (struct row){&snap->procs[i], &snap->procs[i].tags[j]};
	if (n)
		qsort(rows, n, sizeof(*rows), by_rss);
	return n;
}

/* What is sorted is the number of bytes. */
static void print_size(FILE *out, uint64_t bytes)
{
	char buf[16];

	if (bytes)
		fprintf(out, "<td data-v=%" PRIu64 ">%s", bytes, text_size(buf, bytes));
	else
		fputs("<td>0", out);
}

static void print_sizes(FILE *out, const uint64_t *c, uint64_t all)
{
	static const int counters[] = {MTAG_C_ANON, MTAG_C_FILE, MTAG_C_SHMEM, MTAG_C_SWAP};
	uint64_t rss = c[MTAG_C_ANON] + c[MTAG_C_FILE] + c[MTAG_C_SHMEM];
	char buf[16];

	print_size(out, rss);
	fprintf(out, "<td data-v=%" PRIu64 ">%s", rss, text_percent(buf, rss, all));
	for (size_t i = 0; i < ARRAY_SIZE(counters); i++)
		print_size(out, c[counters[i]]);
}

static int print_row(FILE *out, const struct row *row, const struct timeline *timeline,
		     uint64_t all)
{
	const struct line *line = timeline_find(timeline, row->proc->comm, row->tag->path);
	_cleanup_(freep) char *path = chain_text(row->proc, row->tag);

	fputs("<tr><td>", out);
	if (!path || markup_name(out, row->proc->comm))
		return -ENOMEM;
	fprintf(out, " %d<td>", (int)row->proc->pid);
	if (line && line->hue)
		fprintf(out, "<svg class=key><rect class=c%u width=10 height=10 /></svg>",
			line->hue);
	fputs("<bdi>", out);
	if (markup_name(out, path))
		return -ENOMEM;
	fputs("</bdi>", out);
	print_sizes(out, row->tag->c, all);
	print_size(out, row->tag->c[MTAG_C_PEAK]);
	fputs("</tr>\n", out);
	return 0;
}

static void print_head(FILE *out)
{
	static const char *const heads[] = {"Process", "Tag",	"RSS",	"%",   "Anon",
					    "File",    "Shmem", "Swap", "Peak"};

	fputs("<table><thead><tr>", out);
	for (size_t i = 0; i < ARRAY_SIZE(heads); i++)
		fprintf(out, "<th scope=col%s>%s", i == 2 ? " aria-sort=descending" : "", heads[i]);
	fputs("</tr></thead>\n<tbody>\n", out);
}

static void print_total(FILE *out, const struct snap *snap, uint64_t all)
{
	uint64_t total[MTAG_C_NR] = {0}, sum[MTAG_C_NR];

	for (size_t i = 0; i < snap->n_procs; i++) {
		proc_sum(&snap->procs[i], sum);
		for (size_t c = 0; c < MTAG_C_NR; c++)
			total[c] += sum[c];
	}
	fputs("</tbody>\n<tfoot><tr><td>total<td>", out);
	print_sizes(out, total, all);
	fputs("<td></tr></tfoot></table>\n", out); /* tags peak at different times */
}

int table_print(FILE *out, const struct snap *snap, const struct timeline *timeline)
{
	_cleanup_(freep) struct row *rows = NULL;
	uint64_t all = 0;
	size_t n = 0;

	for (size_t i = 0; i < snap->n_procs; i++) {
		n += snap->procs[i].n_tags;
		all += snap->procs[i].rss;
	}
	rows = calloc(n + 1, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	n = list_rows(snap, rows);
	print_head(out);
	for (size_t i = 0; i < n; i++)
		if (print_row(out, &rows[i], timeline, all))
			return -ENOMEM;
	print_total(out, snap, all);
	return 0;
}
