// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/stacks/stack.c ctl/model.c ctl/parse.c ctl/utf8.c ctl/format/text.c ctl/format/json.c ctl/format/label.c */
/* sources: ctl/picture/markup.c ctl/picture/scale.c ctl/picture/palette.c ctl/picture/block.c ctl/picture/hue.c */
/* sources: ctl/picture/timeline.c ctl/picture/subject.c ctl/picture/icicle.c ctl/picture/treemap.c */
/* sources: ctl/format/strings.c ctl/format/chain.c ctl/picture/chart.c ctl/picture/table.c ctl/picture/page.c */
/*
 * mtagctl's pictures of what no snapshot file can hold, but a kernel can: names of any bytes, and counters that
 * overflow a sum. And where the axes of a chart have their ticks.
 */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "ctl_tap.h"
#include "picture/icicle.h"
#include "picture/page.h"
#include "picture/palette.h"
#include "picture/scale.h"
#include "picture/timeline.h"
#include "utf8.h"

#define MIB (1024 * 1024ULL)

/* Draws a process and its tag in two samples. Caller frees it. */
static char *draw(int (*print)(const struct fmt *, const struct subject *), const char *name,
		  uint64_t bytes)
{
	const struct origin origin = {.time_ms = 1000};
	struct timeline timeline = {0};
	struct snap snap = {0};
	struct subject subject = {&snap, &origin, &timeline};
	struct fmt fmt = {0};
	char *text = NULL;
	size_t length;
	struct proc *proc = snap_proc(&snap, 1, name);

	proc_add_tag(proc, 2, 0, name)->c[MTAG_C_ANON] = bytes;
	proc_add_tag(proc, 3, 2, name)->c[MTAG_C_FILE] = bytes;
	proc_add_tag(proc, 4, 2, name)->c[MTAG_C_SWAP] = bytes;
	fmt.out = open_memstream(&text, &length);
	if (snap_finish(&snap) || timeline_add(&timeline, 0, &snap) ||
	    timeline_add(&timeline, 1000, &snap) || timeline_rank(&timeline, HUES) ||
	    print(&fmt, &subject))
		abort();
	fclose(fmt.out);
	timeline_clear(&timeline);
	snap_clear(&snap);
	return text;
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	while ((text = strstr(text, what))) {
		text += strlen(what);
		n++;
	}
	return n;
}

/* All lines are printable UTF-8, and there is as much markup as around a harmless name. */
static bool is_clean(char *text, const char *harmless)
{
	bool clean = count(text, "<") == count(harmless, "<") &&
		     count(text, "\"") == count(harmless, "\"");

	for (char *p = text; *p; p++)
		if (*p == '\n')
			*p = ' ';
	return clean && utf8_is_printable(text, strlen(text));
}

static void bad_names(int (*print)(const struct fmt *, const struct subject *), const char *what)
{
	_cleanup_(freep) char *harmless = draw(print, "x", MIB);
	char name[8] = "..", title[128];
	bool fine = true;

	for (int a = 1; a < 256 && fine; a++) {
		/* A byte alone, and as the beginning of a character that does not end. */
		for (size_t length = 1; length < 4; length++) {
			_cleanup_(freep) char *text = NULL;

			memset(name, a, length);
			name[length] = '\0';
			text = draw(print, name, MIB);
			fine &= is_clean(text, harmless);
		}
	}
	snprintf(title, sizeof(title), "%s is well-formed text, whatever bytes are in a name",
		 what);
	ok(fine, title);
}

static void overflow(int (*print)(const struct fmt *, const struct subject *), const char *what)
{
	_cleanup_(freep) char *text = draw(print, "x", UINT64_MAX);
	_cleanup_(freep) char *nothing = draw(print, "x", 0);
	char title[128];

	snprintf(title, sizeof(title), "%s has finite numbers, also of 0 and of what overflows",
		 what);
	ok(!strstr(text, "inf") && !strstr(text, "nan") && !strstr(text, "=\"-") &&
		   !strstr(nothing, "inf") && !strstr(nothing, "nan") && !strstr(nothing, "=\"-"),
	   title);
}

static void ticks(void)
{
	char buf[32];

	ok(scale_bytes(100 * MIB, 5) == 20 * MIB && scale_bytes(1025, 1) == 2048 &&
		   scale_bytes(UINT64_MAX, 4) == 5 * 1152921504606846976.0,
	   "the steps of an axis of sizes are 1, 2 or 5 of a unit of 1,024");
	ok(!strcmp(scale_label_bytes(buf, 150.0 * MIB), "150 MiB"), "a label is short");
	ok(scale_time(7140000, 8) == 900000 && scale_time(86400000, 12) == 7200000 &&
		   scale_time(5, 4) == 10 && scale_time(INT64_MAX, 10) * 10 >= 9e18,
	   "those of an axis of times are those of a clock");
}

int main(void)
{
	setlocale(LC_ALL, "C.UTF-8");
	setlocale(LC_NUMERIC, "C");
	bad_names(icicle_print, "an icicle");
	bad_names(page_print, "a page");
	overflow(icicle_print, "an icicle");
	overflow(page_print, "a page");
	ticks();
	return tap_end();
}
