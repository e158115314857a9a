// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/stacks/stack.c ctl/model.c ctl/parse.c ctl/utf8.c ctl/format/text.c ctl/format/json.c ctl/format/label.c */
/* sources: ctl/format/fmt.c ctl/format/strings.c ctl/format/chain.c ctl/format/gzip.c ctl/format/folded.c */
/* sources: ctl/format/pairs.c ctl/format/pprof.c ctl/format/speedscope.c */
/* sources: ctl/picture/markup.c ctl/picture/scale.c ctl/picture/palette.c ctl/picture/block.c ctl/picture/hue.c */
/* sources: ctl/picture/timeline.c ctl/picture/subject.c ctl/picture/icicle.c ctl/picture/treemap.c */
/* sources: ctl/picture/chart.c ctl/picture/table.c ctl/picture/page.c */
/* sources: ctl/stacks/trace.c ctl/stacks/decode.c ctl/stacks/demangle.c ctl/stacks/perfmap.c ctl/stacks/object.c */
/* sources: ctl/progress.c ctl/stacks/known.c ctl/stacks/resolve.c */
/* sources: ctl/stacks/symbol.c ctl/stacks/guard.c ctl/file.c ctl/kept.c ctl/confine.c ctl/format/stack.c */
/* sources: ctl/stacks/view.c ctl/stacks/json.c ctl/stacks/table.c ctl/stacks/graph.c */
/*
 * mtagctl stacks, of stacks that no kernel took: what it prints is what tests/unit/ctl_golden/ has, but for addresses.
 * Their functions are in a library that is built here. MTAG_GOLDEN_UPDATE=1 writes the files anew. With a directory,
 * it writes the exports there instead, for tests/unit/ctl_stacks.sh.
 */
#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl.h"
#include "ctl_stacks.h"
#include "ctl_tap.h"
#include "format/folded.h"
#include "format/pprof.h"
#include "format/speedscope.h"
#include "picture/icicle.h"
#include "picture/page.h"
#include "picture/palette.h"
#include "picture/timeline.h"
#include "stacks/graph.h"
#include "stacks/json.h"
#include "stacks/resolve.h"
#include "stacks/table.h"
#include "utf8.h"

#define GOLDEN "tests/unit/ctl_golden/"
#define KIB    1024ULL
#define MIB    (1024 * KIB)

static struct snap snap;
static struct traces traces;

/* Makes the stacks of the process anew from the traces. */
static void resolve(bool symbols)
{
	struct stacks *stacks = proc_stacks(&snap.procs[0]);

	stacks_clear(stacks);
	if (stacks_resolve(stacks, &traces, symbols))
		abort();
}

/* ---- what a kernel could have said ---- */

enum { LIBRARY = 1, STRIPPED = 7, GONE = 8, ANON = 9 };

static void canned_tags(void)
{
	struct proc *proc = snap_proc(&snap, getpid(), "evil\x1b[2J;x");

	proc_add_tag(proc, 0, 0, "");
	proc_add_tag(proc, 1, 0, "[ksm]");
	proc_add_tag(proc, 2, 0, "db");
	proc_add_tag(proc, 3, 2, "cache");
	proc_add_tag(proc, 4, 0, "db2");
	snap_finish(&snap);
	snap.time_ms = 1700000000000;
}

static void canned_images(void)
{
	struct trace_image *image;

	traces_add_image(&traces, LIBRARY, elf_library);
	image = traces_add_image(&traces, STRIPPED, elf_stripped);
	memcpy(image->build_id, elf_build_id, sizeof(elf_build_id));
	image->build_id_length = sizeof(elf_build_id);
	image = traces_add_image(&traces, GONE, "/nowhere/libgone.so.1");
	memcpy(image->build_id, "\xde\xad\xbe\xef\x01\x02\x03", 7);
	image->build_id_length = 7;
	traces_add_image(&traces, ANON, "[anon]");
}

static struct trace *add(uint16_t tag, uint64_t anon, const struct mtag_stack_frame *frames,
			 size_t n)
{
	struct trace *trace = traces_add(&traces, frames, n);

	trace->tag = tag;
	trace->anon = anon;
	return trace;
}

static void add_kind(uint16_t tag, uint64_t anon, uint32_t kind)
{
	add(tag, anon, NULL, 0)->kind = kind;
}

static void canned(void)
{
	struct mtag_stack_frame grow[] = {
		{elf_offset(ELF_INLINED), LIBRARY, MTAG_STACK_EXACT},
		{elf_offset(ELF_RUST_CALL), LIBRARY, 0},
		{elf_offset(ELF_MAIN_CALL), LIBRARY, 0},
	};
	struct mtag_stack_frame odd[] = {
		{0x1234, GONE, MTAG_STACK_EXACT},
		{0x77, 4711, 0},
		{elf_offset(ELF_LONG), LIBRARY, MTAG_STACK_EXACT},
		{elf_offset(ELF_LEGACY), STRIPPED, MTAG_STACK_EXACT},
		{elf_offset(ELF_MAIN_CALL), STRIPPED, 0},
		{0x7f0000001000, ANON, 0},
	};
	struct trace *trace;

	canned_tags();
	canned_images();
	traces.pid = getpid();
	traces.owner = trace_owner_of(getpid());
	traces.lost = 3;
	trace = add(3, 100 * MIB, grow, 3);
	trace->swap = 1536 * KIB;
	trace->knows_touched = true;
	trace->touched = 300 * MIB;
	add(0, 8 * KIB, grow, 3);
	add(2, 5 * MIB, odd, 6)->why = MTAG_STACK_NO_TABLE;
	add(2, 40 * KIB, odd + 2, 1)->why = MTAG_STACK_DEEP;
	add(4, 12 * KIB, grow + 1, 2);
	add(2, 4 * KIB, grow + 1, 2);
	add_kind(0, 64 * KIB, MTAG_STACK_NONE);
	add_kind(0, 16 * KIB, MTAG_STACK_KERNEL);
	add_kind(3, 210 * MIB / 2, MTAG_STACK_UNSAMPLED);
	/* All of it is gone. */
	trace = add(4, 0, grow, 3);
	trace->knows_touched = true;
	trace->touched = 20 * MIB;
	/* A tag that was made after the tags were read. */
	add(99, 512 * MIB, grow, 3);
}

/* ---- golden files ---- */

/* Replaces what follows each @before up to the first character that is none of @of, by @by. */
static void mask(char *text, const char *before, const char *of, const char *by)
{
	while ((text = strstr(text, before))) {
		char *end;

		text += strlen(before);
		end = text + strspn(text, of);
		if (end == text)
			continue;
		memmove(text + strlen(by), end, strlen(end) + 1);
		memcpy(text, by, strlen(by));
	}
}

/* Without what is another thing in each run or with each compiler. */
static void normalise(char *text)
{
	static const char digits[] = "0123456789";
	static const char path[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/_.-";

	mask(text, "\"pid\":", digits, "1");
	mask(text, "\"offset\":", digits, "0");
	mask(text, "\"address\":", digits, "0");
	mask(text, "process ", digits, "1");
	mask(text, "2J;x-", digits, "1");
	mask(text, "2J:x-", digits, "1");
	mask(text, "libpool-stripped.so+0x", "0123456789abcdef", "N");
	mask(text, "\"module\":\"/tmp", path, "/DIR");
	mask(text, "\"file\":\"/tmp", path, "/DIR");
}

static char *read_golden(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = NULL;
	size_t room = 0;

	if (file && getdelim(&text, &room, '\0', file) < 0)
		*text = '\0';
	if (file)
		fclose(file);
	return text;
}

/* Takes @text. */
static void compare(const char *name, char *text)
{
	char path[128], title[160];
	char *expected;

	normalise(text);
	snprintf(path, sizeof(path), GOLDEN "%s", name);
	if (getenv("MTAG_GOLDEN_UPDATE")) {
		FILE *file = fopen(path, "w");

		fputs(text, file);
		fclose(file);
	}
	expected = read_golden(path);
	snprintf(title, sizeof(title), "%s is as in the golden file", name);
	if (!ok(expected && !strcmp(expected, text), title))
		printf("--- printed\n%s\n--- end\n", text);
	free(expected);
	free(text);
}

/* Every line that is not the process's has at most @width columns. */
static bool fits(const char *text, unsigned int width)
{
	for (size_t length; *text; text += length + (text[length] == '\n')) {
		char *line = strndup(text, length = strcspn(text, "\n"));
		bool good = utf8_width(line) <= width || !strncmp(line, "process ", 8);

		free(line);
		if (!good)
			return false;
	}
	return true;
}

enum what { TABLE, JSON, FOLDED };

static char *print(enum what what, const struct stack_choice *choice, unsigned int width, bool utf8)
{
	struct fmt fmt = {.width = width, .utf8 = utf8};
	struct json_list list = {.fmt = &fmt};
	struct snap graph = {0};
	struct stack_view view;
	char *text = NULL;
	size_t length;
	int err = stack_view_make(&view, &snap.procs[0], choice);

	fmt.out = open_memstream(&text, &length);
	if (what == TABLE)
		err |= stacks_table(&fmt, &view);
	if (what == JSON)
		err |= stacks_json(&list, &view);
	if (what == JSON)
		json_list_end(&list);
	if (what == FOLDED)
		err |= graph_add(&graph, &view, false) || folded_print(&fmt, &graph);
	fclose(fmt.out);
	stack_view_clear(&view);
	snap_clear(&graph);
	if (err)
		abort();
	return text;
}

/* As many were sampled as the kernel says; 0: it does not. */
static void sampled(uint32_t one_in)
{
	snap.procs[0].stacks->one_in = one_in;
}

/* So much was touched that no stack counts. */
static void uncounted(uint64_t bytes)
{
	snap.procs[0].stacks->uncounted = bytes;
}

static void test_golden(void)
{
	const struct stack_choice all = {0}, few = {.most = 2}, both = {.combined = true},
				  db = {.tag = "db"}, untagged = {.tag = "[untagged]"};

	resolve(true);
	compare("stacks-estimated.txt", print(TABLE, &few, 80, true));
	sampled(1);
	compare("stacks.txt", print(TABLE, &all, 80, true));
	compare("stacks-ascii.txt", print(TABLE, &all, 80, false));
	compare("stacks-wide.txt", print(TABLE, &few, 120, true));
	compare("stacks-combined.txt", print(TABLE, &both, 80, true));
	compare("stacks-tag.txt", print(TABLE, &db, 80, true));
	sampled(64);
	compare("stacks-sampled.txt", print(TABLE, &untagged, 80, true));
	sampled(1);
	compare("stacks.json", print(JSON, &all, 80, true));
	uncounted(12 * KIB);
	compare("stacks-uncounted.txt", print(TABLE, &few, 80, true));
	compare("stacks-uncounted.json", print(JSON, &few, 80, true));
	uncounted(0);
	compare("stacks-combined.json", print(JSON, &both, 80, true));
	compare("stacks.folded", print(FOLDED, &all, 80, true));
	compare("stacks-combined.folded", print(FOLDED, &both, 80, true));
	resolve(false);
	compare("stacks-no-symbols.json", print(JSON, &all, 80, true));
}

static void test_widths(void)
{
	const struct stack_choice all = {0};
	bool good = true;

	for (int symbols = 0; symbols < 2; symbols++) {
		resolve(symbols);
		sampled(UINT32_MAX);
		for (unsigned int width = 64; width <= 200; width += 8) {
			char *text = print(TABLE, &all, width, symbols);

			good &= fits(text, width < 80 ? 80 : width);
			free(text);
		}
	}
	ok(good, "no line of the table is longer than the terminal is wide, or than 80 columns");
}

static uint64_t sum_of(const struct stack_view *view, bool all)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < (all ? view->n_all : view->n); i++)
		sum += view->rows[i].anon;
	return sum;
}

static void test_choice(void)
{
	const struct stack_choice all = {0}, combined = {.combined = true, .most = 1},
				  db = {.tag = "db"};
	struct stack_view view;

	resolve(false);
	ok(!stack_view_make(&view, snap.procs, &all) && view.n == 10 &&
		   sum_of(&view, false) == view.anon && view.swap == 1536 * KIB,
	   "the stacks of all known tags, and their sums");
	stack_view_clear(&view);
	ok(!stack_view_make(&view, snap.procs, &combined) && view.n == 1 && view.n_all == 7 &&
		   sum_of(&view, true) == view.anon && view.rows[1].anon == 100 * MIB + 8 * KIB &&
		   !view.rows[0].knows_touched,
	   "combined, equal stacks of several tags are one, and nothing is lost");
	stack_view_clear(&view);
	ok(!stack_view_make(&view, snap.procs, &db) && view.n == 5,
	   "a tag means those below it, and not another one that begins like it");
	view.one_in = 101;
	ok(fabs(stack_view_error(&view, 4096 * 100) - sqrt(100.0 / (100 * 101))) < 1e-12,
	   "the relative error of samples is sqrt((N-1)/pages)");
	view.one_in = 1;
	ok(stack_view_error(&view, 4096) == 0, "and 0 if all are taken");
	stack_view_clear(&view);
}

/* ---- for other programs ---- */

static FILE *create(const char *dir, const char *name)
{
	char path[500];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "w");
	if (!file)
		abort();
	return file;
}

static int export_one(const struct subject *subject, const struct stack_view *view, const char *dir,
		      const char *name)
{
	struct fmt fmt = {.width = 80, .utf8 = true, .out = create(dir, name)};
	struct json_list list = {.fmt = &fmt};
	int err = 0;

	if (!strcmp(name, "json")) {
		err = stacks_json(&list, view);
		json_list_end(&list);
	}
	if (!strcmp(name, "folded"))
		err = folded_print(&fmt, subject->snap);
	if (!strcmp(name, "pprof"))
		err = pprof_print(&fmt, subject->snap);
	if (!strcmp(name, "speedscope"))
		err = speedscope_print(&fmt, subject->snap);
	if (!strcmp(name, "svg"))
		err = icicle_print(&fmt, subject);
	if (!strcmp(name, "html"))
		err = page_print(&fmt, subject);
	fclose(fmt.out);
	return err;
}

/* As form_has_lines(). */
static bool form_has_lines_of(const char *name)
{
	return !strcmp(name, "pprof") || !strcmp(name, "speedscope");
}

static int export(const char *dir, bool combined)
{
	static const char *const names[] = {"json", "folded", "pprof", "speedscope", "svg", "html"};
	const struct stack_choice choice = {.combined = combined};
	const struct origin origin = {.time_ms = 1700000000000, .host = "host"};
	struct timeline timeline = {0};
	struct snap graph = {.time_ms = origin.time_ms}, lines = {.time_ms = origin.time_ms};
	const struct subject subject = {&graph, &origin, &timeline};
	const struct subject by_line = {&lines, &origin, &timeline};
	struct stack_view view;
	int err;

	resolve(true);
	err = stack_view_make(&view, &snap.procs[0], &choice);
	err = err || graph_add(&graph, &view, false) || graph_add(&lines, &view, true) ||
	      timeline_add(&timeline, origin.time_ms, &graph) || timeline_rank(&timeline, HUES);
	for (size_t i = 0; i < ARRAY_SIZE(names) && !err; i++)
		err = export_one(form_has_lines_of(names[i]) ? &by_line : &subject, &view, dir,
				 names[i]);
	timeline_clear(&timeline);
	snap_clear(&graph);
	snap_clear(&lines);
	stack_view_clear(&view);
	return err ? 1 : 0;
}

int main(int argc, char **argv)
{
	int status;

	setlocale(LC_ALL, "C.UTF-8");
	setlocale(LC_NUMERIC, "C");
	if (!elf_build()) {
		printf("1..0 # SKIP no C compiler, nm, readelf and objcopy here\n");
		return 0;
	}
	canned();
	if (argc > 1) {
		status = export(argv[1], argc > 2);
		elf_run(NULL, 0, "cp '%s' '%s'/symbols.so", elf_library, argv[1]);
	} else {
		test_golden();
		test_widths();
		test_choice();
		status = tap_end();
	}
	elf_remove();
	traces_clear(&traces);
	snap_clear(&snap);
	return status;
}
