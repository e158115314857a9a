// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/model.c ctl/parse.c ctl/fail.c ctl/utf8.c ctl/format/text.c ctl/format/json.c */
/* sources: ctl/format/label.c ctl/format/show.c ctl/format/snapshot.c ctl/offline/read.c */
/*
 * Snapshot files: what is wrong has a message that names the line; what is taken is written again, and
 * read again, as the same.
 */
#include "ctl.h"
#include "format/show.h"
#include "format/snapshot.h"
#include "fuzz.h"
#include "kern.h"
#include "offline/read.h"

const char *kern_why(const struct kern *kern)
{
	(void)kern;
	return "";
}

static void build(struct input *in, struct snap *snap)
{
	char name[200];

	for (unsigned int n = in_below(in, 4); n; n--) {
		struct proc *proc;

		in_name(in, name, sizeof(name));
		proc = snap_proc(snap, (pid_t)in_below(in, 5), name);
		proc->lost = in_number(in);
		for (unsigned int tags = in_below(in, 9); tags; tags--) {
			unsigned int id = in_below(in, in_rarely(in) ? 65536 : 24);
			struct tag *tag;

			in_name(in, name, 64);
			tag = proc_add_tag(proc, (uint16_t)id, (uint16_t)in_below(in, id + 1),
					   id ? name : "");
			for (size_t i = 0; i < MTAG_C_NR; i++)
				tag->c[i] = in_number(in);
		}
	}
	must(!snap_finish(snap));
}

static char *print(const struct origin *origin, const struct snap *snap, size_t *size)
{
	char *text;
	FILE *out = open_memstream(&text, size);

	must(out && !snapshot_print(out, origin, snap));
	fclose(out);
	must_be_harmless(text, *size, JSON);
	return text;
}

static enum reading next(struct reader *reader, struct origin *origin, struct snap *snap)
{
	FILE *real = stderr;
	enum reading found;
	char *error;
	size_t size;

	stderr = open_memstream(&error, &size);
	found = reader_next(reader, origin, snap);
	fclose(stderr);
	stderr = real;
	must_be_harmless(error, size, TEXT);
	must(found == READ_FAILED ? !strncmp(error, "mtagctl: F: line ", 17) : !size);
	free(error);
	return found;
}

static struct reader *start(const void *text, size_t size)
{
	struct reader *reader;
	FILE *file = size ? fmemopen((void *)(uintptr_t)text, size, "r") : fopen("/dev/null", "r");

	must(file && !reader_start(&reader, file, "F"));
	return reader;
}

/* What was taken or built is the same when it is written and read. */
static void round_trip(const struct origin *origin, const struct snap *snap)
{
	struct origin back;
	struct snap again = {0};
	size_t size, other;
	char *text = print(origin, snap, &size), *copy;
	struct reader *reader = start(text, size);

	must(next(reader, &back, &again) == READ_SAMPLE);
	copy = print(&back, &again, &other);
	must(size == other && !memcmp(text, copy, size));
	reader_close(reader);
	snap_clear(&again);
	free(copy);
	free(text);
}

static void read_all(const void *text, size_t size)
{
	struct reader *reader = start(text, size);
	struct origin origin;
	enum reading found;

	do {
		struct snap snap = {0};

		found = next(reader, &origin, &snap);
		if (found == READ_SAMPLE)
			round_trip(&origin, &snap);
		snap_clear(&snap);
	} while (found == READ_SAMPLE);
	reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct origin origin = {1700000000123, "host", "boot", "6.1"};
	struct input in = {data, size};
	struct snap snap = {0};
	size_t length;
	char *text;

	if (!fuzz_built) {
		read_all(data, size);
		return 0;
	}
	build(&in, &snap);
	round_trip(&origin, &snap);
	text = print(&origin, &snap, &length);
	for (unsigned int n = in_below(&in, 4); n; n--)
		text[in_below(&in, (unsigned int)length)] = (char)in_u8(&in);
	read_all(text, length - (in_rarely(&in) ? in_below(&in, (unsigned int)length) : 0));
	free(text);
	snap_clear(&snap);
	return 0;
}

static size_t make(struct input *in, uint8_t *buf, size_t size)
{
	struct origin origin = {.time_ms = 1};
	struct snap snap = {0};
	size_t length;
	char *text;

	build(in, &snap);
	text = print(&origin, &snap, &length);
	length = length < size ? length : size;
	memcpy(buf, text, length);
	free(text);
	snap_clear(&snap);
	return length;
}

/* A hash without a number that is another one in each process. */
FUZZ_BEGIN(make, json_global_set_string_hash(JSON_C_STR_HASH_PERLLIKE))
