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

void check_attr(const struct nlattr *attr, int depth, void *data)
{
	static const char zeros[4];
	size_t len = attr->nla_len - NLA_HDRLEN, pad = ALIGN4(attr->nla_len) - attr->nla_len;

	expect(!memcmp((const char *)attr + attr->nla_len, zeros, pad),
	       "attribute %d is padded with something", attr->nla_type);
	switch (attr->nla_type & NLA_TYPE_MASK) {
	case MTAG_A_PROC_COMM:
	case MTAG_A_TAG_NAME:
	case MTAG_A_INFO_VERSION:
	case MTAG_A_INFO_MODE:
	case MTAG_A_EVENT_KIND:
	case MTAG_A_TAG_PATH:
	case MTAG_A_IMAGE_PATH:
		text_is_fine(attr);
		return;
	case MTAG_A_HISTORY_OOM:
	case MTAG_A_HISTORY_REAPED:
	case MTAG_A_HISTORY_INEXACT:
		expect(!len, "a flag of %zu bytes", len);
		return;
	case MTAG_A_HISTORY_ENDED:
		expect(len == 8 && u64_of(attr) / 1000000000 <= (uint64_t)time(NULL),
		       "a process ended in the future");
		return;
	case MTAG_A_PROC_PID:
	case MTAG_A_PROC_TAGS:
	case MTAG_A_INFO_INSTALLED:
	case MTAG_A_INFO_PROCS:
	case MTAG_A_INFO_HISTORY:
	case MTAG_A_HISTORY_STATUS:
	case MTAG_A_HISTORY_OTHERS:
	case MTAG_A_IMAGE_ID:
	case MTAG_A_STACK_KIND:
	case MTAG_A_STACK_WHY:
	case MTAG_A_STACK_ONE_IN:
		expect(len == 4, "attribute %d of %zu bytes", attr->nla_type, len);
		return;
	case MTAG_A_TAG_ID:
	case MTAG_A_TAG_PARENT:
		expect(len == 2 && depth, "attribute %d of %zu bytes", attr->nla_type, len);
		return;
	case MTAG_A_TAG_COUNTERS:
	case MTAG_A_TAG_SHARES:
	case MTAG_A_HISTORY_OTHERS_COUNTERS:
		for (size_t i = 0; i + 8 <= len; i += 8) {
			uint64_t v;

			memcpy(&v, (const char *)(attr + 1) + i, 8);
			expect(v < 1ULL << 48, "a counter is %#" PRIx64, v);
		}
		return;
	case MTAG_A_STACK_FRAMES:
		frames_are_fine(attr);
		return;
	case MTAG_A_TAG:
	case MTAG_A_STACK:
	case MTAG_A_STACK_IMAGE:
	case MTAG_A_PAD:
		return;
	case MTAG_A_AUDIT_DRIFT:
		if (data)
			*(uint64_t *)data = u64_of(attr);
		/* fall through */
	default:
		expect(len == 8 && u64_of(attr) < 1ULL << 48, "attribute %d of %zu bytes",
		       attr->nla_type, len);
	}
}
