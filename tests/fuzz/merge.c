// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/stacks/stack.c ctl/model.c ctl/parse.c ctl/fail.c ctl/utf8.c ctl/format/text.c ctl/format/json.c */
/* sources: ctl/format/label.c ctl/format/heap.c ctl/format/show.c ctl/format/stack.c ctl/format/snapshot.c ctl/offline/line.c ctl/offline/read.c */
/* sources: ctl/heaps/sum.c ctl/offline/rules.c ctl/offline/fold.c */
/*
 * Rules of merge, and what they make of a sample: what is wrong has a message that names the line; nothing
 * is lost or counted twice; the result is a sample again; without rules it stays as it is. An input is the
 * rules, a NUL, and a snapshot file.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "offline/fold.h"
#include "offline/rules.h"
#include "sample.h"

/* Opens a text as a file of rules. NULL if something is wrong with it. */
static struct rules *open_rules(const void *text, size_t size)
{
	char path[40], begins[60], *error;
	struct rules *rules = NULL;
	int fd = memfd_create("rules", 0), status;
	FILE *real = stderr;
	size_t length;

	must(fd >= 0 && write(fd, text, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	snprintf(begins, sizeof(begins), "mtagctl: %s: line ", path);
	stderr = open_memstream(&error, &length);
	status = rules_open(&rules, path);
	fclose(stderr);
	stderr = real;
	close(fd);
	must_be_harmless(error, length, TEXT);
	must(status ? !strncmp(error, begins, strlen(begins)) : !length);
	free(error);
	if (!status)
		return rules;
	rules_close(rules);
	return NULL;
}

/* All that can be added. */
struct sums {
	uint64_t c[MTAG_C_NR], lost, overflow, repairs;
};

static struct sums sums_of(const struct snap *snap)
{
	struct sums sums = {0};

	for (size_t i = 0; i < snap->n_procs; i++) {
		const struct proc *proc = &snap->procs[i];

		for (size_t j = 0; j < proc->n_tags; j++)
			for (size_t c = 0; c < MTAG_C_NR; c++)
				sums.c[c] += proc->tags[j].c[c];
		if (!proc->n_tags)
			continue;
		sums.lost += proc->lost;
		sums.overflow += proc->overflow;
		sums.repairs += proc->repairs;
	}
	return sums;
}

static void fold_with(const struct snap *snap, const struct rules *rules)
{
	static const char none[] = "";
	struct origin origin = {.time_ms = 1};
	struct snap folded = {0}, again = {0};
	struct refused refused = {""};
	struct sums before = sums_of(snap), after;
	struct rules *nothing = open_rules(none, 0);
	char *one, *two;
	size_t size, other;
	int err = fold(snap, rules, &folded, &refused);

	must(!err || err == -E2BIG || (err == -EINVAL && *refused.text));
	if (!err) {
		after = sums_of(&folded);
		must(!memcmp(&before, &after, sizeof(before)));
		sample_round_trip(&origin, &folded);
		must(nothing && !fold(&folded, nothing, &again, &refused));
		one = sample_print(&origin, &folded, &size);
		two = sample_print(&origin, &again, &other);
		must(size == other && !memcmp(one, two, size));
		free(one);
		free(two);
	}
	rules_close(nothing);
	snap_clear(&folded);
	snap_clear(&again);
}

static void check(const struct snap *snap, const char *text, size_t size)
{
	struct rules *rules = open_rules(text, size);

	if (rules)
		fold_with(snap, rules);
	rules_close(rules);
}

/* A few lines, mostly rules. */
static void make_rules(struct input *in, FILE *out)
{
	static const char *const parts[] = {
		"a", "[a-z]", "(", ")",	   "(.)", ".*",	 "^",  "$",	      "|",	 "+",
		"?", "*",     "/", "[^/]", "\\.", "b",	 "db", "{2}",	      "{1,300}", "{3,}",
		"[", "]",     "{", "}",	   "\\",  "\\1", ",",  "[[:alpha:]]", "(a+)+",	 "cache",
	};
	static const char *const names[] = {"\\1",    "x",  "",	  "/", "a/b",
					    "\\2\\1", "//", "\\", "&", "db"};

	for (unsigned int n = in_below(in, 5); n; n--) {
		const char mark = "/,|#!"[in_below(in, 5)];

		fprintf(out, "%s s%c", in_u8(in) & 1 ? "comm" : "tag", mark);
		for (unsigned int i = in_below(in, 8); i; i--)
			fputs(parts[in_below(in, ARRAY_SIZE(parts))], out);
		fputc(mark, out);
		for (unsigned int i = in_below(in, 4); i; i--)
			fputs(names[in_below(in, ARRAY_SIZE(names))], out);
		fputc(in_rarely(in) ? 'x' : mark, out);
		fputc('\n', out);
	}
}

static void check_file(const uint8_t *data, size_t size)
{
	const uint8_t *end = memchr(data, '\0', size);
	size_t length = end ? (size_t)(end - data) : size;
	struct reader *reader = sample_start(end ? end + 1 : NULL, end ? size - length - 1 : 0);
	struct snap snap = {0};
	struct origin origin;

	if (sample_next(reader, &origin, &snap) != READ_SAMPLE)
		snap_clear(&snap);
	check(&snap, (const char *)data, length);
	snap_clear(&snap);
	reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	struct snap snap = {0};
	char *rules;
	size_t length;
	FILE *out;

	if (!fuzz_built) {
		if (size)
			check_file(data, size);
		return 0;
	}
	sample_make(&in, &snap);
	out = open_memstream(&rules, &length);
	make_rules(&in, out);
	fclose(out);
	check(&snap, rules, length);
	free(rules);
	snap_clear(&snap);
	return 0;
}

static size_t make(struct input *in, uint8_t *buf, size_t size)
{
	struct origin origin = {.time_ms = 1};
	struct snap snap = {0};
	char *text;
	FILE *out = fmemopen(buf, size, "w");
	size_t length;

	make_rules(in, out);
	fputc('\0', out);
	sample_make(in, &snap);
	text = sample_print(&origin, &snap, &length);
	fwrite(text, 1, length, out);
	fflush(out);
	length = (size_t)ftell(out);
	fclose(out);
	free(text);
	snap_clear(&snap);
	return length;
}

/* A hash without a number that is another one in each process. */
FUZZ_BEGIN(make, json_global_set_string_hash(JSON_C_STR_HASH_PERLLIKE))
