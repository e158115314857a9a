// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/stacks/stack.c ctl/model.c ctl/parse.c ctl/fail.c ctl/utf8.c ctl/format/text.c ctl/format/json.c */
/* sources: ctl/format/label.c ctl/format/heap.c ctl/format/show.c ctl/format/stack.c ctl/format/snapshot.c ctl/offline/line.c ctl/offline/read.c */
/*
 * Snapshot files: what is wrong has a message that names the line; what is taken is written again, and
 * read again, as the same.
 */
#include "sample.h"

static void read_all(const void *text, size_t size)
{
	struct reader *reader = sample_start(text, size);
	struct origin origin;
	enum reading found;

	do {
		struct snap snap = {0};

		found = sample_next(reader, &origin, &snap);
		if (found == READ_SAMPLE)
			sample_round_trip(&origin, &snap);
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
	sample_make(&in, &snap);
	sample_round_trip(&origin, &snap);
	text = sample_print(&origin, &snap, &length);
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

	sample_make(in, &snap);
	text = sample_print(&origin, &snap, &length);
	length = length < size ? length : size;
	memcpy(buf, text, length);
	free(text);
	snap_clear(&snap);
	return length;
}

/* A hash without a number that is another one in each process. */
FUZZ_BEGIN(make, json_global_set_string_hash(JSON_C_STR_HASH_PERLLIKE))
