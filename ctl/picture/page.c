// SPDX-License-Identifier: GPL-2.0
/*
 * A page of HTML. Names are text in it and nothing else: they are escaped, and its policy lets a browser
 * run and load nothing but the style and the script below, by their hashes.
 */
#include <errno.h>

#include "ctl.h"
#include "picture/chart.h"
#include "picture/markup.h"
#include "picture/page.h"
#include "picture/palette.h"
#include "picture/table.h"
#include "picture/treemap.h"

/*
 * SHA-256 of what is between <style> and </style>, <script> and </script>. After a change of either,
 * tests/unit/ctl_pictures.sh prints the new ones.
 */
#define STYLE_HASH  "Ylc+O+atanXsaGJkq+Y08nLg9BLzcxglsDH0zNx+8Ek="
#define SCRIPT_HASH "+Q/Kt7osSMnar0pifhK27pAOHCYpJDCA+oQk/44F+Mc="

static const char page_style[] =
	"\n:root{color-scheme:light dark}"
	"body{margin:0 auto;padding:16px clamp(16px,2.5vw,40px);max-width:1600px;background:#fff;"
	"color:#15181c;font:14px/1.45 system-ui,-apple-system,\"Segoe UI\",\"DejaVu Sans\",sans-serif;"
	"font-variant-numeric:tabular-nums}"
	"h1{font-size:20px;margin:0}h2{font-size:16px;margin:28px 0 8px}"
	"p{margin:4px 0}header p,small,section>p{color:#4a5058}small{font-size:12px}"
	"svg{display:inline-block}svg.wide{display:block}svg.mid,svg.narrow{display:none}\n"
	"@media (max-width:1100px){svg.wide{display:none}svg.mid{display:block}}\n"
	"@media (max-width:620px){svg.mid{display:none}svg.narrow{display:block}}\n"
	"@media (prefers-color-scheme:dark){body{background:#15181c;color:#f3f4f6}"
	"header p,small,section>p{color:#b4bac2}}\n";

static int print_head(FILE *out, const struct subject *subject)
{
	fputs("<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8>\n"
	      "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; "
	      "style-src 'sha256-" STYLE_HASH "'; script-src 'sha256-" SCRIPT_HASH "'; "
	      "base-uri 'none'; form-action 'none'\">\n"
	      "<meta name=viewport content=\"width=device-width,initial-scale=1\">\n"
	      "<meta name=referrer content=no-referrer>\n<title>",
	      out);
	fprintf(out, "%s: ", subject_title(subject));
	if (subject_origin(out, subject->origin))
		return -ENOMEM;
	fprintf(out, "</title>\n<style>%s%s%s%s%s%s</style></head>\n<body>\n", page_style,
		palette_areas, palette_lines, treemap_style, chart_style, table_style);
	fprintf(out, "<header><h1>%s</h1>\n<p>", subject_title(subject));
	subject_summary(out, subject->snap);
	fputs("</p>\n<p>", out);
	if (subject_origin(out, subject->origin))
		return -ENOMEM;
	fputs("</p></header>\n", out);
	return 0;
}

/* A tag has the hue of its line, in all processes of a name. */
static void set_hues(struct blocks *blocks, const struct timeline *timeline)
{
	for (size_t i = 0; i < blocks->n; i++) {
		struct block *block = &blocks->blocks[i];
		const struct line *line =
			block->tag ? timeline_find(timeline, block->proc->comm, block->tag->path)
				   : NULL;

		block->hue = line ? line->hue : 0;
	}
}

static int print_map(FILE *out, const struct subject *subject)
{
	_cleanup_(blocks_clear) struct blocks blocks = {0};
	bool stacks = snap_has_frames(subject->snap);

	if (blocks_make(&blocks, subject->snap))
		return -ENOMEM;
	set_hues(&blocks, subject->timeline);
	fprintf(out,
		"<section><h2>Who owns it</h2>\n<p>An area is the resident memory of a tag%s. The largest "
		"%s have a colour each, the same in all of this page.</p>\n",
		stacks ? ", or of a function beneath it" : "", stacks ? "of them" : "tags");
	/* Boxes are never narrower than here, so that texts that fit go on to fit. */
	if (treemap_print(out, &blocks, 1045, 560, "wide") ||
	    treemap_print(out, &blocks, 588, 520, "mid") ||
	    treemap_print(out, &blocks, 328, 520, "narrow"))
		return -ENOMEM;
	fputs("</section>\n", out);
	return 0;
}

static int print_chart(FILE *out, const struct timeline *timeline)
{
	_cleanup_(chart_clear) struct chart chart = {0};
	size_t last = timeline->n_samples - 1;
	char buf[64];

	if (chart_make(&chart, timeline))
		return -ENOMEM;
	fprintf(out, "<section><h2>Over time</h2>\n<p>%zu samples from ", timeline->n_samples);
	if (markup_name(out, subject_time(buf, timeline->times[0], "%Y-%m-%d %H:%M:%S %Z")))
		return -ENOMEM;
	fputs(" to ", out);
	if (markup_name(out, subject_time(buf, timeline->times[last], "%Y-%m-%d %H:%M:%S %Z")))
		return -ENOMEM;
	fputs("; processes of the same name together.</p>\n", out);
	if (chart_print(out, &chart, 1300, 420, true, "wide") ||
	    chart_print(out, &chart, 800, 380, true, "mid") ||
	    chart_print(out, &chart, 360, 300, false, "narrow") || chart_print_legend(out, &chart))
		return -ENOMEM;
	fputs("</section>\n", out);
	return 0;
}

int page_print(const struct fmt *fmt, const struct subject *subject)
{
	const struct timeline *timeline = subject->timeline;
	bool stacks = snap_has_frames(subject->snap);
	const char *all = stacks ? "All stacks" : "All tags";
	FILE *out = fmt->out;

	if (print_head(out, subject) || print_map(out, subject))
		return -ENOMEM;
	if (chart_has_span(timeline) && print_chart(out, timeline))
		return -ENOMEM;
	fprintf(out,
		"<section><h2>%s</h2>\n<p>Without the %s below them.</p>\n"
		"<div class=scroll role=region aria-label=\"%s\" tabindex=0>\n",
		all, stacks ? "tags and functions" : "tags", all);
	if (table_print(out, subject->snap, timeline))
		return -ENOMEM;
	fprintf(out, "</div></section>\n<script>%s</script>\n</body></html>\n", table_script);
	return 0;
}
