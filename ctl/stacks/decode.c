// SPDX-License-Identifier: GPL-2.0
/*
 * Messages with user stacks into the model. Nothing here reads beyond the message, however malformed it is.
 * Attributes newer than this program are skipped.
 */
#include <errno.h>
#include <string.h>
#include <netlink/attr.h>

#include "ctl.h"
#include "stacks/decode.h"

static struct nla_policy policy[MTAG_A_MAX + 1] = {
	[MTAG_A_PROC_PID] = {.type = NLA_U32},	      [MTAG_A_TAG_ID] = {.type = NLA_U16},
	[MTAG_A_STACK_ONE_IN] = {.type = NLA_U32},    [MTAG_A_IMAGE_ID] = {.type = NLA_U32},
	[MTAG_A_STACK_ANON] = {.type = NLA_U64},      [MTAG_A_STACK_SWAP] = {.type = NLA_U64},
	[MTAG_A_STACK_TOUCHED] = {.type = NLA_U64},   [MTAG_A_STACK_KIND] = {.type = NLA_U32},
	[MTAG_A_STACK_WHY] = {.type = NLA_U32},	      [MTAG_A_STACK_LOST] = {.type = NLA_U64},
	[MTAG_A_STACK_UNCOUNTED] = {.type = NLA_U64}, [MTAG_A_STACK_NUMBER] = {.type = NLA_U32},
};

static int parse(struct nlattr **tb, struct nlattr *attrs, int len)
{
	return nla_parse(tb, MTAG_A_MAX, attrs, len, policy) < 0 ? -EBADMSG : 0;
}

static int decode_image(const struct nlattr *nest, struct traces *traces)
{
	struct nlattr *tb[MTAG_A_MAX + 1];
	_cleanup_(freep) char *path = NULL;
	const struct nlattr *id;
	struct trace_image *image;

	if (parse(tb, nla_data(nest), nla_len(nest)) || !tb[MTAG_A_IMAGE_ID] ||
	    !tb[MTAG_A_IMAGE_PATH])
		return -EBADMSG;
	path = strndup(nla_data(tb[MTAG_A_IMAGE_PATH]), (size_t)nla_len(tb[MTAG_A_IMAGE_PATH]));
	image = path ? traces_add_image(traces, nla_get_u32(tb[MTAG_A_IMAGE_ID]), path) : NULL;
	if (!image)
		return -ENOMEM;
	id = tb[MTAG_A_IMAGE_BUILD_ID];
	if (!id || (size_t)nla_len(id) > sizeof(image->build_id))
		return 0;
	image->build_id_length = (size_t)nla_len(id);
	memcpy(image->build_id, nla_data(id), image->build_id_length);
	return 0;
}

/* What is beneath a stack. */
static void decode_bytes(struct nlattr *const *tb, struct trace *trace)
{
	trace->tag = nla_get_u16(tb[MTAG_A_TAG_ID]);
	trace->anon = tb[MTAG_A_STACK_ANON] ? nla_get_u64(tb[MTAG_A_STACK_ANON]) : 0;
	trace->swap = tb[MTAG_A_STACK_SWAP] ? nla_get_u64(tb[MTAG_A_STACK_SWAP]) : 0;
	trace->knows_touched = tb[MTAG_A_STACK_TOUCHED];
	if (trace->knows_touched)
		trace->touched = nla_get_u64(tb[MTAG_A_STACK_TOUCHED]);
}

static int decode_trace(const struct nlattr *nest, struct traces *traces)
{
	struct nlattr *tb[MTAG_A_MAX + 1];
	const struct nlattr *frames, *number;
	struct trace *trace;
	size_t n;

	if (parse(tb, nla_data(nest), nla_len(nest)) || !tb[MTAG_A_STACK_KIND])
		return -EBADMSG;
	frames = tb[MTAG_A_STACK_FRAMES];
	number = tb[MTAG_A_STACK_NUMBER];
	if ((!number && !tb[MTAG_A_TAG_ID]) ||
	    (frames && (size_t)nla_len(frames) % sizeof(struct mtag_stack_frame)))
		return -EBADMSG;
	n = frames ? (size_t)nla_len(frames) / sizeof(struct mtag_stack_frame) : 0;
	trace = (number ? traces_add_named : traces_add)(traces, frames ? nla_data(frames) : NULL,
							 n);
	if (!trace)
		return -ENOMEM;
	trace->kind = nla_get_u32(tb[MTAG_A_STACK_KIND]);
	trace->why = tb[MTAG_A_STACK_WHY] ? nla_get_u32(tb[MTAG_A_STACK_WHY]) : 0;
	if (number)
		trace->number = nla_get_u32(number);
	else
		decode_bytes(tb, trace);
	return 0;
}

int decode_traces(struct nlattr *attrs, int len, struct traces *traces)
{
	struct nlattr *tb[MTAG_A_MAX + 1], *a;
	int left, err = parse(tb, attrs, len);

	if (err || !tb[MTAG_A_PROC_PID])
		return -EBADMSG;
	traces->pid = (pid_t)nla_get_u32(tb[MTAG_A_PROC_PID]);
	if (tb[MTAG_A_STACK_ONE_IN])
		traces->one_in = nla_get_u32(tb[MTAG_A_STACK_ONE_IN]);
	if (tb[MTAG_A_STACK_LOST])
		traces->lost = nla_get_u64(tb[MTAG_A_STACK_LOST]);
	if (tb[MTAG_A_STACK_UNCOUNTED])
		traces->uncounted = nla_get_u64(tb[MTAG_A_STACK_UNCOUNTED]);
	nla_for_each_attr(a, attrs, len, left)
	{
		if (nla_type(a) == MTAG_A_STACK_IMAGE)
			err = decode_image(a, traces);
		else if (nla_type(a) == MTAG_A_STACK)
			err = decode_trace(a, traces);
		if (err)
			return err;
	}
	return 0;
}
