// SPDX-License-Identifier: GPL-2.0
/* What the netlink family may say: to those who may not hear of a secret, nothing of it. */
#include "fuzz_look.h"

enum user fuzz_user;

static uint64_t u64_of(const struct nlattr *attr)
{
	uint64_t v;

	memcpy(&v, attr + 1, 8);
	return v;
}

static void text_is_fine(const struct nlattr *attr)
{
	const char *text = (const char *)(attr + 1);
	size_t len = attr->nla_len - NLA_HDRLEN;

	expect(len && strnlen(text, len) == len - 1, "a text of %zu bytes is not ended", len);
	expect(fuzz_user == ROOT || strncmp(text, SECRET, strlen(SECRET)), "%s was told '%s'",
	       user_names[fuzz_user], text);
}

static void frames_are_fine(const struct nlattr *attr)
{
	const struct mtag_stack_frame *f = (const void *)(attr + 1);
	size_t len = attr->nla_len - NLA_HDRLEN, nr = len / sizeof(*f);

	expect(len % sizeof(*f) == 0 && nr <= 127, "frames of %zu bytes", len);
	for (size_t i = 0; i < nr; i++) {
		struct mtag_stack_frame frame;

		memcpy(&frame, f + i, sizeof(frame));
		expect(!(frame.flags & ~MTAG_STACK_EXACT) && frame.offset < 1ULL << 48,
		       "a frame at %#llx, flags %#x", frame.offset, frame.flags);
	}
}

static void counters_are_fine(const struct nlattr *attr)
{
	size_t len = attr->nla_len - NLA_HDRLEN;

	for (size_t i = 0; i + 8 <= len; i += 8) {
		uint64_t v;

		memcpy(&v, (const char *)(attr + 1) + i, 8);
		expect(v < 1ULL << 48, "a counter is %#" PRIx64, v);
	}
}

/* What an attribute must be; a number of 64 bits unless the table says otherwise. */
enum rule { NUMBER, TEXT, FLAG, PAST, U32, TAG, COUNTERS, FRAMES, ANYTHING };

static const enum rule rules[MTAG_A_MAX + 1] = {
	[MTAG_A_PROC_COMM] = TEXT,
	[MTAG_A_TAG_NAME] = TEXT,
	[MTAG_A_INFO_VERSION] = TEXT,
	[MTAG_A_INFO_MODE] = TEXT,
	[MTAG_A_EVENT_KIND] = TEXT,
	[MTAG_A_TAG_PATH] = TEXT,
	[MTAG_A_IMAGE_PATH] = TEXT,
	[MTAG_A_HISTORY_OOM] = FLAG,
	[MTAG_A_HISTORY_REAPED] = FLAG,
	[MTAG_A_HISTORY_INEXACT] = FLAG,
	[MTAG_A_HISTORY_ENDED] = PAST,
	[MTAG_A_PROC_PID] = U32,
	[MTAG_A_PROC_TAGS] = U32,
	[MTAG_A_INFO_INSTALLED] = U32,
	[MTAG_A_INFO_PROCS] = U32,
	[MTAG_A_INFO_HISTORY] = U32,
	[MTAG_A_HISTORY_STATUS] = U32,
	[MTAG_A_HISTORY_OTHERS] = U32,
	[MTAG_A_IMAGE_ID] = U32,
	[MTAG_A_STACK_KIND] = U32,
	[MTAG_A_STACK_WHY] = U32,
	[MTAG_A_STACK_ONE_IN] = U32,
	[MTAG_A_TAG_ID] = TAG,
	[MTAG_A_TAG_PARENT] = TAG,
	[MTAG_A_TAG_COUNTERS] = COUNTERS,
	[MTAG_A_TAG_SHARES] = COUNTERS,
	[MTAG_A_HISTORY_OTHERS_COUNTERS] = COUNTERS,
	[MTAG_A_STACK_FRAMES] = FRAMES,
	[MTAG_A_TAG] = ANYTHING,
	[MTAG_A_STACK] = ANYTHING,
	[MTAG_A_STACK_IMAGE] = ANYTHING,
	[MTAG_A_PAD] = ANYTHING,
};

static void obeys(const struct nlattr *attr, enum rule rule, int depth)
{
	size_t len = attr->nla_len - NLA_HDRLEN;

	switch (rule) {
	case TEXT:
		text_is_fine(attr);
		return;
	case FLAG:
		expect(!len, "a flag of %zu bytes", len);
		return;
	case PAST:
		expect(len == 8 && u64_of(attr) / 1000000000 <= (uint64_t)time(NULL),
		       "a process ended in the future");
		return;
	case U32:
		expect(len == 4, "attribute %d of %zu bytes", attr->nla_type, len);
		return;
	case TAG:
		expect(len == 2 && depth, "attribute %d of %zu bytes", attr->nla_type, len);
		return;
	case COUNTERS:
		counters_are_fine(attr);
		return;
	case FRAMES:
		frames_are_fine(attr);
		return;
	case NUMBER:
		expect(len == 8 && u64_of(attr) < 1ULL << 48, "attribute %d of %zu bytes",
		       attr->nla_type, len);
		return;
	case ANYTHING:
		return;
	}
}

void check_attr(const struct nlattr *attr, int depth, void *data)
{
	static const char zeros[4];
	size_t pad = ALIGN4(attr->nla_len) - attr->nla_len;
	int type = attr->nla_type & NLA_TYPE_MASK;

	expect(!memcmp((const char *)attr + attr->nla_len, zeros, pad),
	       "attribute %d is padded with something", attr->nla_type);
	if (type == MTAG_A_AUDIT_DRIFT && data)
		*(uint64_t *)data = u64_of(attr);
	obeys(attr, type <= MTAG_A_MAX ? rules[type] : NUMBER, depth);
}
