// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/stacks/stack.c ctl/model.c ctl/parse.c ctl/utf8.c ctl/format/text.c ctl/format/json.c ctl/format/show.c */
/* sources: ctl/format/label.c ctl/format/heap.c ctl/format/stack.c ctl/format/snapshot.c ctl/offline/line.c ctl/offline/read.c ctl/fail.c */
/* mtagctl: snapshot files, as they were written, and with something wrong in each line. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ctl.h"
#include "ctl_tap.h"
#include "format/show.h"
#include "kern.h"
#include "offline/read.h"

#define HEADER "{\"mtag_snapshot\":1,\"time_ms\":5}\n"
#define ZEROS                                                                                      \
	"\"rss_bytes\":0,\"anon_bytes\":0,\"file_bytes\":0,\"shmem_bytes\":0,\"swap_bytes\":0,"    \
	"\"peak_rss_bytes\":0}\n"
#define TAG(pid, id, parent, path)                                                                 \
	"{\"pid\":" #pid ",\"comm\":\"c\",\"id\":" #id ",\"parent_id\":" #parent                   \
	",\"tag\":\"" path "\"," ZEROS
#define TAG0  TAG(1, 0, 0, "")
#define WHOLE HEADER TAG0 "{\"end\":1}\n"

/* The beginning of a sample with stacks, and one beneath its untagged. */
#define STACKS "{\"mtag_snapshot\":2,\"time_ms\":5}\n" TAG0
#define STACK(frames)                                                                              \
	"{\"pid\":1,\"id\":0,\"stack\":[" frames "],\"anon_bytes\":4096,\"swap_bytes\":0,"         \
	"\"why\":\"complete\"}\n"

const char *kern_why(const struct kern *kern)
{
	(void)kern;
	return "";
}

/* A sample with names that nobody would choose. */
static void make(struct snap *snap, unsigned int tags)
{
	struct proc *proc = snap_proc(snap, 4711, "a\"b\\\xff\n");

	for (unsigned int id = 0; id < tags; id++) {
		char name[32] = "";
		struct tag *tag;

		if (id)
			snprintf(name, sizeof(name), id % 7 ? "tag%u" : "odd \x1b\"%u", id);
		tag = proc_add_tag(proc, (uint16_t)id, id > 20 && id % 3 ? (uint16_t)(id / 20) : 0,
				   name);
		for (unsigned int c = 0; c < MTAG_C_NR; c++)
			tag->c[c] = id * 4096ULL + c;
	}
	proc->lost = 3;
	proc->overflow = UINT64_MAX;
	proc_set_cgroup(proc, "/a \"b\"\\c.scope");
	proc = snap_proc(snap, 4712, "");
	proc_add_tag(proc, 0, 0, "")->c[MTAG_C_ANON] = 1ULL << 62;
	snap_finish(snap);
}

static char *shown(const struct snap *snap)
{
	char *text;
	size_t size;
	struct fmt fmt = {.out = open_memstream(&text, &size), .stats = true};

	show_json(&fmt, snap);
	fclose(fmt.out);
	return text;
}

static char *written(const struct origin *origin, const struct snap *snap, size_t *size)
{
	struct snapshot_left left;
	char *text;
	FILE *out = open_memstream(&text, size);

	snapshot_print(out, origin, snap, &left);
	fclose(out);
	return text;
}

static FILE *file_of(const char *text, size_t size)
{
	return fmemopen((void *)(uintptr_t)text, size, "r");
}

/* Reads samples to the end. Returns how many, or -1 with what was printed in @error. */
static int read_all(const char *text, size_t size, struct snap *last, char *error, size_t room)
{
	_cleanup_(reader_closep) struct reader *reader = NULL;
	FILE *real = stderr;
	struct origin origin;
	enum reading found;
	int n = 0;

	memset(error, 0, room);
	stderr = fmemopen(error, room, "w");
	reader_start(&reader, file_of(text, size), "FILE");
	do {
		snap_clear(last);
		found = reader_next(reader, &origin, last);
	} while (found == READ_SAMPLE && ++n);
	fclose(stderr);
	stderr = real;
	return found == READ_END ? n : -1;
}

static void test_round_trip(void)
{
	struct origin origin = {1700000000123, "host", "boot", "6.1"}, back = {0};
	_cleanup_(reader_closep) struct reader *reader = NULL;
	struct snap snap = {0}, again = {0};
	char *text, *before, *after;
	size_t size;

	make(&snap, 200);
	before = shown(&snap);
	text = written(&origin, &snap, &size);
	reader_start(&reader, file_of(text, size), "FILE");
	ok(reader_next(reader, &back, &again) == READ_SAMPLE, "a sample that was written is read");
	after = shown(&again);
	ok(!strcmp(before, after), "show prints the same of it");
	ok(back.time_ms == origin.time_ms && !strcmp(back.host, "host") &&
		   !strcmp(back.boot_id, "boot") && !strcmp(back.kernel, "6.1"),
	   "time, host, boot and kernel are known");
	ok(again.procs[0].overflow == UINT64_MAX && again.procs[0].lost == 3,
	   "and what is said of the process, up to the largest number");
	ok(!strcmp(proc_cgroup(&again.procs[0]), "/a \"b\"\\c.scope") && !again.procs[1].cgroup,
	   "and its cgroup, where it is known");
	ok(reader_next(reader, &back, &again) == READ_END, "then the file ends");
	free(before);
	free(after);
	free(text);
	snap_clear(&snap);
	snap_clear(&again);
}

/* Files with something wrong in them, and what is said about it. */
static const struct {
	const char *text, *says;
} wrong[] = {
	{"", "line 1: the file is empty"},
	{"\n", "line 1: the JSON object is incomplete"},
	{"hello\n", "line 1: no JSON object"},
	{"[1]\n", "line 1: a line of a snapshot is one JSON object"},
	{"{}\n", "line 1: no header; a sample begins with {\"mtag_snapshot\":1"},
	{"{\"mtag_snapshot\":3,\"time_ms\":5}\n",
	 "line 1: version 3 of the format; this mtagctl reads versions 1 and 2"},
	{"{\"mtag_snapshot\":1,\"time_ms\":-5}\n", "line 1: the header needs \"time_ms\""},
	{HEADER, "line 2: the file ends within the sample that begins in line 1"},
	{HEADER "{\"end\":1}\n", "line 2: the sample has 0 tags, but its end says 1"},
	{HEADER TAG0 HEADER, "line 3: a header within the sample that begins in line 1; "
			     "{\"end\":1} is missing"},
	{HEADER TAG0 TAG0, "line 3: id 0 comes twice in process 1"},
	{HEADER TAG0 "{\"pid\":", "line 3: the file ends within this line"},
	{HEADER TAG0 "{}{}\n", "line 3: no JSON object"},
	{HEADER TAG(1, 0, 0, "x"), "line 2: id 0 is the untagged"},
	{HEADER TAG(-1, 0, 0, ""),
	 "line 2: \"pid\" is required here, a whole number up to 2147483647"},
	{HEADER TAG(1.5, 0, 0, ""), "line 2: \"pid\" is required"},
	{HEADER TAG(1, 65536, 0, "a"),
	 "line 2: \"id\" is required here, a whole number up to 65535"},
	{HEADER TAG(1, 2, 2, "a/a"), "line 2: parent_id 2 is no tag above it"},
	{HEADER TAG(1, 3, 0, "a") TAG(1, 2, 3, "a/b"), "line 3: parent_id 3 is no tag above it"},
	{HEADER TAG(1, 2, 0, "a") TAG(1, 3, 2, "b/b"),
	 "line 3: the tag does not begin with its parent's, 'a/'"},
	{HEADER TAG(2, 0, 0, "") TAG(1, 0, 0, ""), "line 3: process 1 after process 2"},
	{HEADER TAG(1, 2, 0, "a\\u0000b"),
	 "line 2: \"tag\" is required here, a string without NUL"},
	{HEADER TAG(1, 2, 0, "\xff"), "line 2: no JSON object"},
	{HEADER TAG(1, 2, 0, "\\\xc3\xbc"), "line 2: no JSON object"},
	{HEADER "{\"pid\":1,\"x\":\"\xc3\xbc\",}\n", "line 2: no JSON object"},
	{HEADER "{\"pid\":1,\"comm\":\"c\",\"id\":0,\"parent_id\":0,\"tag\":\"\",\"rss_bytes\":1,"
		"\"anon_bytes\":2,\"file_bytes\":0,\"shmem_bytes\":0,\"swap_bytes\":0,"
		"\"peak_rss_bytes\":0}\n",
	 "line 2: \"rss_bytes\" is missing or wrong; it is a whole number, the sum"},
	{HEADER
	 "{\"pid\":1,\"comm\":\"c\",\"id\":0,\"parent_id\":0,\"tag\":\"\",\"rss_bytes\":1}\n",
	 "line 2: \"anon_bytes\" is missing or wrong"},
	{HEADER "[[[[[[[[\n", "line 2: no JSON object: nesting too deep"},
	{HEADER TAG(1, 2, 0, "a") "\x7f"
				  "ELF\x02\x01\n",
	 "line 3: no JSON object"},
	{HEADER TAG(18446744073709551616, 2, 0, "a"),
	 "line 2: a number is larger than 18446744073709551615"},
	{HEADER "{\"pid\":1,\"new\\\"\":99999999999999999999999999}\n",
	 "line 2: a number is larger than 18446744073709551615"},
	{HEADER TAG(1, 2, 0, "18446744073709551616") "{}\n", "line 3: \"pid\" is required here"},
	{HEADER TAG(18446744073709551615, 2, 0, "a"), "line 2: \"pid\" is required here"},
	{WHOLE "x\n", "line 4: no JSON object"},
	{HEADER TAG(1, 2, 0, ""),
	 "line 2: id 2 has an empty name; only id 0, the untagged, has none"},
	{HEADER TAG(1, 2, 0, "a") TAG(1, 3, 2, "a/"), "line 3: id 3 has an empty name"},
	{HEADER TAG(1, 2, 0, "a/b"),
	 "line 2: the tag 'a/b' is more than one name below parent_id 0; each tag of a path has "
	 "a line, those above it first"},
	{HEADER TAG(1, 2, 0, "a") TAG(1, 3, 2, "a/b/c"),
	 "line 3: the tag 'a/b/c' is more than one name below parent_id 2"},
	{HEADER "{\"pid\":1,\"x\":{\"pid\":2,\"y\":[\"pid\",\"\\\"\"]}, \"pid\" : 2}\n",
	 "line 2: the key \"pid\" comes twice; each comes once"},
	{HEADER "{\"pid\":1,\"p\\u0069d\":2}\n", "line 2: the key with an escape comes twice"},
	{HEADER "{\"end\":0,\"end\":1}\n", "line 2: the key \"end\" comes twice"},
	{"{\"mtag_snapshot\":2,\"mtag_snapshot\":1,\"time_ms\":5}\n",
	 "line 1: the key \"mtag_snapshot\" comes twice"},
	{STACKS "{\"pid\":2,\"id\":0,\"stack\":[]}\n",
	 "line 3: the \"pid\" of a stack is that of the tags before it"},
	{STACKS "{\"pid\":1,\"id\":2,\"stack\":[]}\n",
	 "line 3: the \"id\" of a stack is that of a tag of its process"},
	{STACKS "{\"pid\":1,\"id\":0,\"stack\":{}}\n", "line 3: \"stack\" is an array of frames"},
	{STACKS STACK("1"), "line 3: \"stack\" is an array of frames"},
	{STACKS STACK("{\"line\":4294967296}"), "line 3: a \"line\" of a frame is a whole number"},
	{STACKS STACK("{\"module\":\"m\"}"), "line 3: a frame with a \"module\" has an \"offset\""},
	{STACKS "{\"pid\":1,\"id\":0,\"stack\":[]}\n", "line 3: a stack has \"anon_bytes\""},
	{STACKS "{\"pid\":1,\"id\":0,\"stack\":[],\"anon_bytes\":1,\"swap_bytes\":0}\n",
	 "line 3: a stack says \"why\" it ends: complete, no_table"},
	{STACKS STACK("{\"function\":\"f\"}") "{\"end\":1}\n",
	 "line 4: the sample has 1 stacks, but its end says 0"},
	{"\xef\xbb\xbf" WHOLE, "line 1: the file begins with a byte order mark; a snapshot begins"},
	{"\x1f\x8b\x08", "line 1: the file is compressed; decompress it, as by `zcat FILE |"},
	{"\xff\xfe{", "line 1: the file is UTF-16; a snapshot is UTF-8"},
	{HEADER "\x1f\x8b\n", "line 2: no JSON object"},
};

static void test_errors(void)
{
	struct snap snap = {0};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		char error[1024], title[160];

		snprintf(title, sizeof(title), "a message about %.100s", wrong[i].says);
		if (!ok(read_all(wrong[i].text, strlen(wrong[i].text), &snap, error,
				 sizeof(error)) == -1 &&
				!strncmp(error, "mtagctl: FILE: ", 15) &&
				strstr(error, wrong[i].says) == error + 15,
			title))
			printf("# it says: %s\n", error);
	}
	snap_clear(&snap);
}

/* Only a key of the line's object itself counts. */
static void test_keys(void)
{
	static const char text[] =
		HEADER "{\"pid\":1,\"x\":{\"pid\":2,\"a\":{\"id\":1}},\"y\":\"pid\","
		       "\"z\":\"\\\"pid\\\":\",\"comm\":\"c\",\"id\":0,\"parent_id\":0,"
		       "\"tag\":\"\"," ZEROS "{\"end\":1}\n";
	struct snap snap = {0};
	char error[1024];

	ok(read_all(text, strlen(text), &snap, error, sizeof(error)) == 1,
	   "a key may come again within a value, or as one");
	snap_clear(&snap);
}

/* A line may hold any bytes; a text in C ends at the first NUL. */
static void test_nul(void)
{
	static const char text[] = HEADER "{\"pid\":1,\0\"comm\":\"c\"}\n", zeros[4096];
	struct snap snap = {0};
	char error[1024];

	ok(read_all(text, sizeof(text) - 1, &snap, error, sizeof(error)) == -1 &&
		   !strncmp(error, "mtagctl: FILE: line 2: ", 23),
	   "a message about a NUL in a line");
	ok(read_all(zeros, sizeof(zeros), &snap, error, sizeof(error)) == -1 &&
		   !strncmp(error, "mtagctl: FILE: line 1: ", 23),
	   "and about a file of NULs, as file systems leave them after a crash");
	snap_clear(&snap);
}

static void test_limits(void)
{
	const size_t size = 10 << 20;
	size_t length;
	char *text = malloc(size), error[1024], deep[40000] = HEADER, path[200] = "x";
	struct snap snap = {0};

	memset(text, ' ', size);
	ok(read_all(text, size, &snap, error, sizeof(error)) == -1 &&
		   strstr(error, "line 1: it is longer than 4194304 bytes"),
	   "a line has a limit");
	length = (size_t)snprintf(text, size, "%s{\"x\":\"%*s\"}\n", HEADER, 1 << 17, "");
	ok(read_all(text, length, &snap, error, sizeof(error)) == -1 &&
		   strstr(error, "line 2: it is longer than 65536 bytes; only the line of a stack"),
	   "a lower one unless it is a stack's");
	length = (size_t)snprintf(text, size, STACKS STACK("{\"function\":\"%*s\"}") "%s", 1 << 17,
				  "f", "{\"end\":1,\"stacks\":1}\n");
	ok(read_all(text, length, &snap, error, sizeof(error)) == 1, "which may be longer");
	free(text);
	for (int id = 2; id < 36; id++) {
		size_t at = strlen(deep);

		snprintf(
			deep + at, sizeof(deep) - at,
			"{\"pid\":1,\"comm\":\"c\",\"id\":%d,\"parent_id\":%d,\"tag\":\"%s\"," ZEROS,
			id, id == 2 ? 0 : id - 1, path);
		strcat(path, "/x");
	}
	ok(read_all(deep, strlen(deep), &snap, error, sizeof(error)) == -1 &&
		   strstr(error, "line 34: the tag is deeper than 32"),
	   "so has the depth of a tag");
	snap_clear(&snap);
}

/* However a file is cut, either whole samples are left or the message names the line. */
static void test_truncations(void)
{
	struct origin origin = {.time_ms = 1};
	struct snap snap = {0}, last = {0};
	size_t size, bad = 0;
	char *text, error[1024];

	make(&snap, 12);
	text = written(&origin, &snap, &size);
	for (size_t cut = 1; cut < size; cut++)
		if (read_all(text, cut, &last, error, sizeof(error)) != -1 ||
		    !strstr(error, "mtagctl: FILE: line "))
			bad++;
	ok(!bad, "a sample that is cut anywhere is noticed");
	for (unsigned int seed = 1; seed <= 3000; seed++) {
		unsigned int next = seed;
		char *copy = malloc(size);

		memcpy(copy, text, size);
		for (int i = 0; i < 3; i++)
			copy[(size_t)rand_r(&next) % size] = (char)rand_r(&next);
		if (read_all(copy, size, &last, error, sizeof(error)) < 0 &&
		    !strstr(error, "mtagctl: FILE: line "))
			bad++;
		free(copy);
	}
	ok(!bad, "3000 files with wrong bytes do no harm");
	free(text);
	snap_clear(&snap);
	snap_clear(&last);
}

int main(void)
{
	struct snap snap = {0};
	char error[1024];

	test_round_trip();
	ok(read_all(WHOLE WHOLE, 2 * strlen(WHOLE), &snap, error, sizeof(error)) == 2,
	   "a file may have several samples");
	test_keys();
	test_errors();
	test_nul();
	test_limits();
	test_truncations();
	return tap_end();
}
