// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/model.c ctl/parse.c ctl/utf8.c ctl/format/text.c ctl/format/json.c ctl/format/show.c */
/* sources: ctl/format/folded.c ctl/format/dot.c ctl/format/snapshot.c */
/* sources: ctl/format/label.c ctl/format/tree.c ctl/format/watch.c ctl/format/audit.c ctl/format/doctor.c */
/*
 * mtagctl: what its commands print of canned data is what tests/unit/ctl_golden/ has, byte for byte.
 * MTAG_GOLDEN_UPDATE=1 writes the files anew: look at the difference before you commit it.
 */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "ctl_tap.h"
#include "format/audit.h"
#include "format/doctor.h"
#include "format/dot.h"
#include "format/folded.h"
#include "format/show.h"
#include "format/snapshot.h"
#include "format/tree.h"
#include "format/watch.h"
#include "utf8.h"

#define GOLDEN "tests/unit/ctl_golden/"
#define KIB    1024ULL
#define MIB    (1024 * KIB)

static struct snap snap, later;

static void add(struct proc *proc, uint16_t id, uint16_t parent, const char *name, uint64_t anon,
		uint64_t file)
{
	struct tag *tag = proc_add_tag(proc, id, parent, name);

	for (int i = MTAG_C_SHMEM; i < MTAG_C_NR; i++)
		tag->c[i] = id * 1000ULL + (uint64_t)i;
	tag->c[MTAG_C_ANON] = anon;
	tag->c[MTAG_C_FILE] = file;
	tag->c[MTAG_C_SHMEM] = 0;
	tag->c[MTAG_C_SWAP] = id == 3 ? 1536 * KIB : 0;
	tag->c[MTAG_C_PEAK] = anon + file + 12 * KIB;
	tag->c[MTAG_C_VIRT] = 2 * (anon + file);
	tag->c[MTAG_C_TOUCHED] = 300 * anon;
	if (id == MTAG_ID_KSM)
		memset(tag->c, 0, sizeof(tag->c));
}

static void canned(struct snap *s, uint64_t grown)
{
	static const char long_name[] =
		"a name of sixty-three bytes, which is as long as names can be.";
	struct proc *proc = snap_proc(s, 4711, "postgres");

	add(proc, 0, 0, "", 3 * MIB, 2 * MIB);
	add(proc, 1, 0, "[ksm]", 0, 0);
	add(proc, 2, 0, "db", 4 * KIB, 0);
	add(proc, 3, 2, "cache", 100 * MIB + grown, 4 * KIB);
	add(proc, 4, 0, "net", 0, 0);
	add(proc, 5, 3, "block", 9 * MIB, 5000 * MIB);
	add(proc, 6, 2, "wal\\ü", 999 * KIB - grown, 0);
	add(proc, 7, 5, long_name, 64 * KIB, 0);
	proc->lost = 3;
	/* Clearing the screen, in ways that terminals know; reordering; what has no glyph. */
	proc = snap_proc(s, 12, "evil\x1b[2J\n\xff\xc2\x9b[2J\x7f\xe2\x80\xae\xf3\xa0\x81\x81");
	add(proc, 0, 0, "", 20 * KIB, 400 * KIB);
	add(proc, 1, 0, "[ksm]", 0, 0);
	proc->tags[1].c[MTAG_C_ANON] = 8 * KIB;
	snap_finish(s);
}

static bool fits(const char *text, unsigned int width)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		char *line = strndup(text, len);
		unsigned int have = utf8_width(line);

		free(line);
		if (have > width)
			return false;
		text += len + (text[len] == '\n');
	}
	return true;
}

static char *read_golden(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = NULL;
	size_t room = 0;

	if (!file)
		return NULL;
	if (getdelim(&text, &room, '\0', file) < 0) {
		free(text);
		text = NULL;
	}
	fclose(file);
	return text;
}

static void compare(const char *name, const char *text)
{
	char path[128], title[160];
	char *expected;

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
}

enum what { SHOW, TREE, WATCH, AUDIT, DOCTOR, DOT, FOLDED, SNAPSHOT };

static const struct audit audits[] = {
	{4711, "postgres", 5000 * MIB, 5000 * MIB, 5000 * MIB, 0, 0, 0, 0},
	{4194304, "a comm of fifteen or so", 12 * KIB, 8 * KIB, 4 * KIB, 1, 1, 12345, 12345678},
};

static const struct check checks[] = {
	{"kernel", CHECK_OK, "6.1.0-56-amd64", NULL},
	{"module", CHECK_FAIL, "not loaded", "Load it: modprobe mtag."},
	{"tracing", CHECK_WARN,
	 "a detail that is long enough to need more than the eighty columns that a terminal has",
	 "And advice that is longer than that: it says what to do, then says it again in words."},
};

static const struct origin origin = {1700000000123, "host", "3f5c", "6.1.0-56-amd64"};

static void print(struct fmt *fmt, enum what what, bool json)
{
	struct sample sample = {&later.procs[1], &snap.procs[1], 1700000000123, 2};

	switch (what) {
	case SHOW:
		json ? (void)show_json(fmt, &snap) : show_text(fmt, &snap);
		break;
	case TREE:
		json ? tree_json(fmt, &snap.procs[1]) : tree_text(fmt, &snap.procs[1]);
		break;
	case WATCH:
		json ? watch_json(fmt, &sample)
		     : watch_text(fmt, &sample, fmt->terminal ? fmt->height - 1 : 0, "\n");
		break;
	case AUDIT:
		json ? (void)audit_json(fmt, audits, 2) : audit_text(fmt, audits, 2);
		break;
	case DOT:
		dot_print(fmt, &snap);
		break;
	case FOLDED:
		folded_print(fmt, &snap);
		break;
	case SNAPSHOT:
		snapshot_print(fmt->out, &origin, &snap);
		break;
	case DOCTOR:
		json ? (void)doctor_json(fmt, checks, 3) : doctor_text(fmt, checks, 3);
		break;
	}
}

static void golden(const char *name, enum what what, bool json, struct fmt fmt)
{
	char *text = NULL;
	size_t size = 0;

	fmt.out = open_memstream(&text, &size);
	fmt.width = fmt.width ? fmt.width : 80;
	fmt.height = fmt.height ? fmt.height : 24;
	print(&fmt, what, json);
	fclose(fmt.out);
	compare(name, text);
	/* Numbers, and what is said of a process, do not get narrower. */
	if (!json && !fmt.colour && what <= DOCTOR)
		ok(fits(text, fmt.width < 80 ? 80 : fmt.width), "and fits its columns");
	free(text);
}

static void empty(void)
{
	struct snap none = {0};
	char *text = NULL;
	size_t size = 0;
	struct fmt fmt = {.out = open_memstream(&text, &size), .width = 80, .height = 24};

	show_json(&fmt, &none);
	audit_json(&fmt, NULL, 0);
	audit_text(&fmt, NULL, 0);
	fclose(fmt.out);
	compare("empty", text);
	free(text);
}

/* As deep as a tree can be: the lines must leave room for the names. */
static void deep(void)
{
	struct fmt fmt = {.utf8 = true, .width = 80, .height = 24};
	struct snap trees = {0};
	struct proc *proc = snap_proc(&trees, 1, "deep");
	char *text = NULL;
	size_t size = 0;

	add(proc, 0, 0, "", 4 * KIB, 0);
	for (uint16_t id = 2; id < 2 + MTAG_DEPTH_MAX; id++)
		add(proc, id, id == 2 ? 0 : id - 1, "level", 4 * KIB, 0);
	snap_finish(&trees);
	fmt.out = open_memstream(&text, &size);
	tree_text(&fmt, &trees.procs[0]);
	fclose(fmt.out);
	compare("tree-deep.txt", text);
	ok(fits(text, 80), "and fits its columns");
	free(text);
	snap_clear(&trees);
}

int main(void)
{
	const struct fmt utf8 = {.utf8 = true}, plain = {0};

	setlocale(LC_CTYPE, "C.UTF-8");
	setenv("TZ", "UTC", 1);
	canned(&snap, 0);
	canned(&later, 600 * KIB);
	golden("show.txt", SHOW, false, utf8);
	golden("show-ascii.txt", SHOW, false, plain);
	golden("show-s.txt", SHOW, false, (struct fmt){.utf8 = true, .stats = true});
	golden("show-wide.txt", SHOW, false, (struct fmt){.utf8 = true, .width = 160});
	golden("show-narrow.txt", SHOW, false, (struct fmt){.utf8 = true, .width = 50});
	golden("show.json", SHOW, true, utf8);
	golden("show-sp.json", SHOW, true, (struct fmt){.stats = true, .pretty = true});
	golden("tree.txt", TREE, false, utf8);
	golden("tree-ascii.txt", TREE, false, plain);
	golden("tree.json", TREE, true, utf8);
	golden("watch.txt", WATCH, false, utf8);
	golden("watch-low.txt", WATCH, false,
	       (struct fmt){.utf8 = true, .terminal = true, .height = 9});
	golden("watch-colour.txt", WATCH, false, (struct fmt){.utf8 = true, .colour = true});
	golden("watch.json", WATCH, true, utf8);
	golden("audit.txt", AUDIT, false, utf8);
	golden("audit.json", AUDIT, true, utf8);
	golden("doctor.txt", DOCTOR, false, utf8);
	golden("doctor.json", DOCTOR, true, utf8);
	golden("show.dot", DOT, false, utf8);
	golden("show.folded", FOLDED, false, utf8);
	golden("snapshot.jsonl", SNAPSHOT, true, utf8);
	empty();
	deep();
	snap_clear(&snap);
	snap_clear(&later);
	return tap_end();
}
