// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/stacks/stack.c ctl/model.c ctl/parse.c ctl/utf8.c ctl/format/text.c ctl/format/json.c ctl/format/show.c */
/* sources: ctl/format/folded.c ctl/format/dot.c ctl/format/stack.c ctl/format/snapshot.c ctl/past.c ctl/format/history.c */
/* sources: ctl/format/label.c ctl/format/heap.c ctl/format/strings.c ctl/format/chain.c ctl/format/tree.c ctl/format/diff.c */
/* sources: ctl/format/spark.c ctl/format/watch.c ctl/format/audit.c ctl/format/doctor.c */
/*
 * mtagctl: what its commands print of canned data is what tests/unit/ctl_golden/ has, byte for
 * byte. MTAG_GOLDEN_UPDATE=1 writes the files anew: look at the difference before you commit it.
 */
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "ctl_tap.h"
#include "format/audit.h"
#include "format/diff.h"
#include "format/doctor.h"
#include "format/dot.h"
#include "format/folded.h"
#include "format/history.h"
#include "format/show.h"
#include "format/snapshot.h"
#include "format/tree.h"
#include "format/watch.h"
#include "utf8.h"

#define GOLDEN "tests/unit/ctl_golden/"
#define KIB    1024ULL
#define MIB    (1024 * KIB)

static struct snap snap, later;
static bool with_shares;

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
	tag->shares = with_shares;
	tag->s[MTAG_S_USS] = anon;
	tag->s[MTAG_S_PSS] = anon + file / 3;
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

enum what { SHOW, TREE, WATCH, BARS, AUDIT, HISTORY, DIFF, GROWTH, DOCTOR, DOT, FOLDED, SNAPSHOT };

static const struct audit audits[] = {
	{4711, "postgres", 5000 * MIB, 5000 * MIB, 5000 * MIB, 0, 0, 0, 0},
	{4194304, "a comm of fifteen or so", 12 * KIB, 8 * KIB, 4 * KIB, 1, 1, 12345, 12345678},
};

static struct ledger ledger;

static struct past *add_past(uint64_t id, pid_t pid, const char *comm, int status, uint64_t total)
{
	struct past *past = ledger_past(&ledger, id);

	past->pid = pid;
	snprintf(past->comm, sizeof(past->comm), "%s", comm);
	past->status = status;
	past->ended_ns = 1700000000123456789 + id * 86399000000000;
	past->ran_ns = 7265004000000 * id;
	past->complete = true;
	past->total[MTAG_C_ANON] = total;
	past->total[MTAG_C_PEAK] = total + 4 * KIB;
	return past;
}

static void add_past_tag(struct past *past, const char *path, uint64_t anon, uint64_t swap)
{
	struct past_tag *tag = past_add_tag(past, (uint16_t)past->n_tags, path);

	tag->c[MTAG_C_ANON] = anon;
	tag->c[MTAG_C_SWAP] = swap;
	tag->c[MTAG_C_PEAK] = anon + MIB;
}

/* How a process may end: by itself, by a signal that has a name or none, by the OOM killer. */
static void canned_history(void)
{
	struct past *past = add_past(1, 4711, "postgres", 9, 812 * MIB);
	char path[32];

	past->oom = true;
	add_past_tag(past, "", 3 * MIB, 0);
	add_past_tag(past, "db/cache/block", 800 * MIB, 0);
	add_past_tag(past, "db/sort", 9 * MIB, 40 * KIB);
	past = add_past(2, 4194304, "a comm of fifteen", 3 << 8, 40 * MIB);
	for (int i = 0; i < 9; i++) {
		snprintf(path, sizeof(path), "part-%d", i);
		add_past_tag(past, path, (uint64_t)i * MIB, 0);
	}
	past->n_others = 12;
	past->others[MTAG_C_ANON] = 4 * MIB;
	past = add_past(3, 12, "\033[31mred", SIGSEGV | 0x80, 8 * KIB);
	past->complete = false;
	past->lost = 2;
	add_past_tag(past,
		     "a/very/long/path/of/a/tag/that/exceeds/what/eighty/columns/leave/for/it",
		     8 * KIB, 0);
	past = add_past(4, 13, "reaped", 9, 0);
	past->oom = true;
	past->reaped = true;
	add_past_tag(past, "Größe", 0, 0);
	add_past(5, 14, "rt", 40, 0);
	ledger_finish(&ledger);
}

static void print_history(const struct fmt *fmt, bool json)
{
	const struct past *pasts[8];

	for (size_t i = 0; i < ledger.n; i++)
		pasts[i] = &ledger.pasts[ledger.n - 1 - i];
	json ? (void)history_json(fmt, pasts, ledger.n) : history_text(fmt, pasts, ledger.n);
}

static const struct check checks[] = {
	{"kernel", CHECK_OK, "6.1.0-56-amd64", NULL},
	{"module", CHECK_FAIL, "not loaded", "Load it: modprobe mtag."},
	{"tracing", CHECK_WARN,
	 "a detail that is long enough to need more than the eighty columns that a terminal has",
	 "And advice that is longer than that: it says what to do, then says it again in words."},
};

static struct diff changes[] = {
	{.comm = (char[]){"postgres"},
	 .tag = (char[]){"db/cache"},
	 .before = {4 * KIB, 0, 0, 0},
	 .after = {5000 * MIB, 4 * KIB, 0, 12 * KIB},
	 .grew = 119},
	{.comm = (char[]){"a comm of sixteen"},
	 .tag = (char[]){"a/very/long/path/of/a/tag/that/exceeds/what/eighty/columns/leave/for/it"},
	 .before = {0, 0, 8 * KIB, 0},
	 .after = {0, 0, 1536 * KIB, 0},
	 .grew = 1},
	{.comm = (char[]){"evil\033[2J"},
	 .tag = (char[]){"Größe/日本"},
	 .before = {12 * KIB, 0, 0, 0},
	 .after = {16 * KIB, 0, 0, 0},
	 .grew = 2},
	{.comm = (char[]){"web"},
	 .tag = (char[]){""},
	 .before = {900 * MIB, 40 * MIB, 0, 0},
	 .after = {810 * MIB, 0, 0, 100 * MIB},
	 .grew = 3},
};

/* In the order of diff, the largest change first. */
static struct diff *const diffs[] = {&changes[0], &changes[1], &changes[2], &changes[3]};

static const struct growth steps = {120, 7200000};

static struct snapshot_left left;
static const struct origin origin = {1700000000123, "host", "3f5c", "6.1.0-56-amd64"};

/* What watch prints on a terminal after 20 samples, of which the last ten rise. */
static void print_bars(struct fmt *fmt)
{
	struct sparks history = {0};
	struct sample sample = {&later.procs[1], &snap.procs[1], 1700000000123, 21, &history};

	spark_add(&history, &snap.procs[1], NULL);
	for (uint64_t i = 1; i < 20; i++) {
		struct snap next = {0};

		canned(&next, i < 10 ? 0 : (i - 9) * 90 * KIB);
		spark_add(&history, &next.procs[1], &snap.procs[1]);
		snap_clear(&next);
	}
	spark_add(&history, &later.procs[1], &snap.procs[1]);
	watch_text(fmt, &sample, 0, "\n");
	spark_clear(&history);
}

static void print(struct fmt *fmt, enum what what, bool json)
{
	struct diffs all = {diffs, ARRAY_SIZE(diffs), 0, what == DIFF ? NULL : &steps};
	struct sample sample = {&later.procs[1], &snap.procs[1], 1700000000123, 2, NULL};

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
	case BARS:
		print_bars(fmt);
		break;
	case AUDIT:
		json ? (void)audit_json(fmt, audits, 2) : audit_text(fmt, audits, 2);
		break;
	case HISTORY:
		print_history(fmt, json);
		break;
	case DIFF:
	case GROWTH:
		json ? (void)diff_json(fmt, &all) : diff_text(fmt, &all);
		break;
	case DOT:
		dot_print(fmt, &snap);
		break;
	case FOLDED:
		folded_print(fmt, &snap);
		break;
	case SNAPSHOT:
		snapshot_print(fmt->out, &origin, &snap, &left);
		break;
	case DOCTOR:
		json ? (void)doctor_json(fmt, checks, 3) : doctor_text(fmt, checks, 3);
		break;
	}
}

/* What is printed of the canned data, and how. */
struct canon {
	const char *name;
	enum what what;
	bool json;
	struct fmt fmt;
};

static void golden(const struct canon *c)
{
	struct fmt fmt = c->fmt;
	char *text = NULL;
	size_t size = 0;

	fmt.out = open_memstream(&text, &size);
	fmt.width = fmt.width ? fmt.width : 80;
	fmt.height = fmt.height ? fmt.height : 24;
	print(&fmt, c->what, c->json);
	fclose(fmt.out);
	compare(c->name, text);
	/* Numbers, and what is said of a process, do not get narrower. */
	if (!c->json && !fmt.colour && c->what <= DOCTOR)
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
	history_json(&fmt, NULL, 0);
	history_text(&fmt, NULL, 0);
	fclose(fmt.out);
	compare("empty", text);
	free(text);
}

/* As deep as a tree can be, with siblings at some depths: the lines must leave room for the names. */
static void deep(const char *name, struct fmt fmt)
{
	static const uint16_t siblings[] = {1, 5, 6, 7, 11, 12, 13, 32};
	struct snap trees = {0};
	struct proc *proc = snap_proc(&trees, 1, "deep");
	char *text = NULL;
	size_t size = 0;

	add(proc, 0, 0, "", 4 * KIB, 0);
	for (uint16_t id = 2; id < 2 + MTAG_DEPTH_MAX; id++)
		add(proc, id, id == 2 ? 0 : id - 1, "level", 4 * KIB, 0);
	for (uint16_t i = 0; i < ARRAY_SIZE(siblings); i++)
		add(proc, 100 + i, siblings[i] == 1 ? 0 : siblings[i], "a longer name", KIB, 0);
	snap_finish(&trees);
	fmt.out = open_memstream(&text, &size);
	tree_text(&fmt, &trees.procs[0]);
	fclose(fmt.out);
	compare(name, text);
	ok(fits(text, fmt.width), "and fits its columns");
	free(text);
	snap_clear(&trees);
}

static const struct canon canons[] = {
	{"show.txt", SHOW, false, {.utf8 = true}},
	{"show-ascii.txt", SHOW, false, {0}},
	{"show-s.txt", SHOW, false, {.utf8 = true, .stats = true}},
	{"show-wide.txt", SHOW, false, {.utf8 = true, .width = 160}},
	{"show-narrow.txt", SHOW, false, {.utf8 = true, .width = 50}},
	{"show.json", SHOW, true, {.utf8 = true}},
	{"show-sp.json", SHOW, true, {.stats = true, .pretty = true}},
	{"tree.txt", TREE, false, {.utf8 = true}},
	{"tree-ascii.txt", TREE, false, {0}},
	{"tree.json", TREE, true, {.utf8 = true}},
	{"watch.txt", WATCH, false, {.utf8 = true}},
	{"watch-low.txt", WATCH, false, {.utf8 = true, .terminal = true, .height = 9}},
	{"watch-colour.txt", WATCH, false, {.utf8 = true, .colour = true}},
	{"watch-bars.txt", BARS, false, {.utf8 = true}},
	{"watch-bars-ascii.txt", BARS, false, {.width = 120}},
	{"watch-66.txt", WATCH, false, {.utf8 = true, .width = 66}},
	{"watch-48.txt", WATCH, false, {.utf8 = true, .width = 48}},
	{"watch.json", WATCH, true, {.utf8 = true}},
	{"audit.txt", AUDIT, false, {.utf8 = true}},
	{"audit.json", AUDIT, true, {.utf8 = true}},
	{"history.txt", HISTORY, false, {.utf8 = true}},
	{"history-s.txt", HISTORY, false, {.utf8 = true, .stats = true}},
	{"history-ascii.txt", HISTORY, false, {0}},
	{"history-wide.txt", HISTORY, false, {.utf8 = true, .width = 120}},
	{"history.json", HISTORY, true, {.utf8 = true}},
	{"diff.txt", DIFF, false, {.utf8 = true}},
	{"diff-ascii.txt", DIFF, false, {0}},
	{"diff-wide.txt", DIFF, false, {.utf8 = true, .width = 160}},
	{"diff-wide-ascii.txt", DIFF, false, {.width = 160}},
	{"diff.json", DIFF, true, {.utf8 = true}},
	{"diff-growth.txt", GROWTH, false, {.utf8 = true}},
	{"diff-growth-ascii.txt", GROWTH, false, {0}},
	{"diff-growth-wide.txt", GROWTH, false, {.utf8 = true, .width = 160}},
	{"diff-growth-wide-ascii.txt", GROWTH, false, {.width = 160}},
	{"diff-growth.json", GROWTH, true, {.utf8 = true}},
	{"doctor.txt", DOCTOR, false, {.utf8 = true}},
	{"doctor.json", DOCTOR, true, {.utf8 = true}},
	{"show.dot", DOT, false, {.utf8 = true}},
	{"show.folded", FOLDED, false, {.utf8 = true}},
	{"snapshot.jsonl", SNAPSHOT, true, {.utf8 = true}},
};

static const struct canon canons_pss[] = {
	{"show-pss.txt", SHOW, false, {.utf8 = true}},
	{"show-pss.json", SHOW, true, {.utf8 = true}},
	{"tree-pss.txt", TREE, false, {.utf8 = true}},
	{"tree-pss.json", TREE, true, {.utf8 = true}},
	{"snapshot-pss.jsonl", SNAPSHOT, true, {.utf8 = true}},
};

int main(void)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	setenv("TZ", "UTC", 1);
	canned(&snap, 0);
	canned(&later, 600 * KIB);
	canned_history();
	for (size_t i = 0; i < ARRAY_SIZE(canons); i++)
		golden(&canons[i]);
	empty();
	deep("tree-deep.txt", (struct fmt){.utf8 = true, .width = 80});
	deep("tree-deep-ascii.txt", (struct fmt){.width = 60});
	deep("tree-deep-narrow.txt", (struct fmt){.utf8 = true, .width = 48});
	snap_clear(&snap);
	with_shares = true;
	canned(&snap, 0);
	for (size_t i = 0; i < ARRAY_SIZE(canons_pss); i++)
		golden(&canons_pss[i]);
	deep("tree-deep-pss.txt", (struct fmt){.utf8 = true, .width = 80});
	snap_clear(&snap);
	snap_clear(&later);
	ledger_clear(&ledger);
	return tap_end();
}
