// SPDX-License-Identifier: GPL-2.0
/* What history prints: ended processes, how they ended, and their largest tags. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "ctl.h"
#include "format/history.h"
#include "format/json.h"
#include "format/text.h"
#include "utf8.h"

#define PID_WIDTH  7
#define COMM_WIDTH 15
#define HOW_WIDTH  9
#define TIME_WIDTH 19
#define INDENT	   (PID_WIDTH + 1)
#define TAGS_MOST  5 /* shown without -s */
#define LINE_WIDTH (INDENT + COMM_WIDTH + 1 + HOW_WIDTH + 1 + TIME_WIDTH + 3 * COL_SIZE)

enum { RSS = -1 };

struct column {
	const char *head;
	int counter;
};

static const struct column brief[] = {
	{"RSS", RSS},
	{"SWAP", MTAG_C_SWAP},
	{"PEAK", MTAG_C_PEAK},
};

static const struct column full[] = {
	{"ANON", MTAG_C_ANON}, {"FILE", MTAG_C_FILE}, {"SHMEM", MTAG_C_SHMEM},
	{"SWAP", MTAG_C_SWAP}, {"PEAK", MTAG_C_PEAK},
};

static const char *how_text(const struct past *past, char buf[16])
{
	const char *name = WIFSIGNALED(past->status) ? sigabbrev_np(WTERMSIG(past->status)) : NULL;

	if (past->oom)
		return "OOM";
	if (!WIFSIGNALED(past->status))
		snprintf(buf, 16, "exit %d", WEXITSTATUS(past->status));
	else if (name)
		snprintf(buf, 16, "SIG%s", name);
	else
		snprintf(buf, 16, "signal %d", WTERMSIG(past->status));
	return buf;
}

static const char *time_text(uint64_t ns, char buf[32])
{
	time_t seconds = (time_t)(ns / 1000000000);
	struct tm tm;

	if (!localtime_r(&seconds, &tm) || tm.tm_year > 9999 - 1900 ||
	    !strftime(buf, 32, "%F %T", &tm))
		strcpy(buf, "?");
	return buf;
}

static uint64_t value_of(const struct column *column, const uint64_t *c)
{
	return column->counter == RSS ? past_rss(c) : c[column->counter];
}

static void print_heads(const struct fmt *fmt, const struct column *columns, size_t n)
{
	for (size_t i = 0; i < n; i++)
		text_right(fmt, COL_SIZE, columns[i].head);
	fputc('\n', fmt->out);
}

static void print_values(const struct fmt *fmt, const struct column *columns, size_t n,
			 const uint64_t *c)
{
	char buf[16];

	for (size_t i = 0; i < n; i++)
		text_right(fmt, COL_SIZE, text_size(buf, value_of(&columns[i], c)));
	fputc('\n', fmt->out);
}

static const char *label_of(const struct past_tag *tag)
{
	return *tag->path ? tag->path : "[untagged]";
}

static size_t shown_tags(const struct fmt *fmt, const struct past *past)
{
	return fmt->stats || past->n_tags <= TAGS_MOST ? past->n_tags : TAGS_MOST;
}

/* What the lines have beyond 80 columns, so that the longest path fits if the terminal is wide enough. */
static unsigned int wider_by(const struct fmt *fmt, const struct past *const *pasts, size_t n)
{
	size_t columns = fmt->stats ? ARRAY_SIZE(full) : ARRAY_SIZE(brief);
	unsigned int most = fmt->width > LINE_WIDTH ? fmt->width - LINE_WIDTH : 0, more = 0;
	unsigned int room = (unsigned int)(LINE_WIDTH - INDENT - columns * COL_SIZE);

	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < shown_tags(fmt, pasts[i]); j++) {
			_cleanup_(freep) char *clean =
				utf8_clean(label_of(&pasts[i]->tags[j]), fmt->utf8);
			unsigned int width = clean ? utf8_width(clean) : 0;

			if (width > room + more)
				more = width - room;
		}
	}
	return more < most ? more : most;
}

static void print_label(const struct fmt *fmt, const char *label, size_t columns, unsigned int more)
{
	unsigned int width = (unsigned int)(LINE_WIDTH - INDENT - columns * COL_SIZE) + more;

	fprintf(fmt->out, "%*s", INDENT, "");
	text_cell(fmt, label, width, CUT_BEGINNING);
}

static void print_tag(const struct fmt *fmt, const char *label, const uint64_t *c,
		      unsigned int more)
{
	const struct column *columns = fmt->stats ? full : brief;
	size_t n = fmt->stats ? ARRAY_SIZE(full) : ARRAY_SIZE(brief);

	print_label(fmt, label, n, more);
	print_values(fmt, columns, n, c);
}

static void add(uint64_t *sum, const uint64_t *c)
{
	for (size_t i = 0; i < PAST_NR; i++) {
		if (i != MTAG_C_PEAK)
			sum[i] += c[i];
		else if (sum[i] < c[i])
			sum[i] = c[i];
	}
}

/* The largest tags, and the sum of the others. */
static void print_tags(const struct fmt *fmt, const struct past *past, unsigned int more)
{
	size_t most = shown_tags(fmt, past);
	size_t others = past->n_tags - most + past->n_others;
	uint64_t sum[PAST_NR];
	char label[48];

	if (fmt->stats) {
		print_label(fmt, "TAG", ARRAY_SIZE(full), more);
		print_heads(fmt, full, ARRAY_SIZE(full));
	}
	for (size_t i = 0; i < most; i++)
		print_tag(fmt, label_of(&past->tags[i]), past->tags[i].c, more);
	if (!others)
		return;
	memcpy(sum, past->others, sizeof(sum));
	for (size_t i = most; i < past->n_tags; i++)
		add(sum, past->tags[i].c);
	snprintf(label, sizeof(label), "[%zu other%s]", others, others == 1 ? "" : "s");
	print_tag(fmt, label, sum, more);
}

static void print_notes(const struct fmt *fmt, const struct past *past)
{
	if (past->reaped)
		fprintf(fmt->out, "%*sthe OOM killer took memory away before its end: see PEAK\n",
			INDENT, "");
	if (!past->complete)
		fprintf(fmt->out, "%*sinexact: an event had been missed\n", INDENT, "");
	if (fmt->stats || past->lost || past->overflow)
		fprintf(fmt->out,
			"%*sran %" PRIu64 ".%03" PRIu64 " s, lost events %" PRIu64
			", tags refused %" PRIu64 ", repairs %" PRIu64 "\n",
			INDENT, "", past->ran_ns / 1000000000, past->ran_ns / 1000000 % 1000,
			past->lost, past->overflow, past->repairs);
}

static void print_past(const struct fmt *fmt, const struct past *past, unsigned int more)
{
	char how[16], ended[32];

	fprintf(fmt->out, "%*d ", PID_WIDTH, (int)past->pid);
	text_cell(fmt, past->comm, COMM_WIDTH, CUT_END);
	fprintf(fmt->out, " %-*s %-*s", HOW_WIDTH, how_text(past, how), (int)(TIME_WIDTH + more),
		time_text(past->ended_ns, ended));
	print_values(fmt, brief, ARRAY_SIZE(brief), past->total);
	print_tags(fmt, past, more);
	print_notes(fmt, past);
}

void history_text(const struct fmt *fmt, const struct past *const *pasts, size_t n)
{
	unsigned int more = wider_by(fmt, pasts, n);

	if (!n)
		return;
	fprintf(fmt->out, "%*s %-*s %-*s %-*s", PID_WIDTH, "PID", COMM_WIDTH, "COMM", HOW_WIDTH,
		"HOW", (int)(TIME_WIDTH + more), "ENDED");
	print_heads(fmt, brief, ARRAY_SIZE(brief));
	for (size_t i = 0; i < n; i++)
		print_past(fmt, pasts[i], more);
}

/* The keys, and their order, are part of the contract. */
static void add_tag(struct json_object *array, const struct past *past, const char *path,
		    const uint64_t *c, unsigned int tags)
{
	struct json_object *object = json_add_object(array);
	bool killed = WIFSIGNALED(past->status);

	json_add_u64(object, "pid", (uint64_t)past->pid);
	json_add_string(object, "comm", past->comm);
	json_add_u64(object, "ended", past->ended_ns / 1000000);
	json_add_u64(object, "ran_ms", past->ran_ns / 1000000);
	json_add_string(object, "how", past->oom ? "oom" : killed ? "killed" : "exited");
	json_add_u64(object, "status", killed ? 0 : (uint64_t)WEXITSTATUS(past->status));
	json_add_u64(object, "signal", killed ? (uint64_t)WTERMSIG(past->status) : 0);
	json_add_bool(object, "core", killed && WCOREDUMP(past->status));
	json_add_string(object, "tag", path);
	json_add_u64(object, "tags", tags);
	json_add_u64(object, "rss_bytes", past_rss(c));
	json_add_u64(object, "anon_bytes", c[MTAG_C_ANON]);
	json_add_u64(object, "file_bytes", c[MTAG_C_FILE]);
	json_add_u64(object, "shmem_bytes", c[MTAG_C_SHMEM]);
	json_add_u64(object, "swap_bytes", c[MTAG_C_SWAP]);
	json_add_u64(object, "peak_rss_bytes", c[MTAG_C_PEAK]);
	json_add_u64(object, "process_peak_rss_bytes", past->total[MTAG_C_PEAK]);
	json_add_bool(object, "complete", past->complete);
	json_add_bool(object, "reaped", past->reaped);
	json_add_u64(object, "lost", past->lost);
	json_add_u64(object, "overflow", past->overflow);
	json_add_u64(object, "repairs", past->repairs);
}

int history_json(const struct fmt *fmt, const struct past *const *pasts, size_t n)
{
	_cleanup_(json_putp) struct json_object *array = json_object_new_array();

	if (!array)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct past *past = pasts[i];

		for (size_t j = 0; j < past->n_tags; j++)
			add_tag(array, past, past->tags[j].path, past->tags[j].c, 1);
		/* So that no process is missing, and that the sums hold. */
		if (past->n_others || !past->n_tags)
			add_tag(array, past, past->n_others ? "[other]" : "", past->others,
				past->n_others);
	}
	return json_print(fmt, array);
}
