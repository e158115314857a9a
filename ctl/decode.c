// SPDX-License-Identifier: GPL-2.0
/*
 * Messages of the kernel into the model. Nothing here reads beyond the message, however malformed
 * it is. Attributes newer than this program are skipped; those that an older module lacks are zero.
 */
#include <errno.h>
#include <string.h>
#include <netlink/attr.h>

#include "decode.h"

#define STRING_MAX 256

static struct nla_policy policy[MTAG_A_MAX + 1] = {
	[MTAG_A_PROC_PID] = {.type = NLA_U32},
	[MTAG_A_PROC_TAGS] = {.type = NLA_U32},
	[MTAG_A_PROC_ANON] = {.type = NLA_U64},
	[MTAG_A_PROC_FILE] = {.type = NLA_U64},
	[MTAG_A_PROC_SHMEM] = {.type = NLA_U64},
	[MTAG_A_PROC_SWAP] = {.type = NLA_U64},
	[MTAG_A_PROC_VIRT] = {.type = NLA_U64},
	[MTAG_A_PROC_LOST] = {.type = NLA_U64},
	[MTAG_A_PROC_OVERFLOW] = {.type = NLA_U64},
	[MTAG_A_PROC_REPAIRS] = {.type = NLA_U64},
	[MTAG_A_TAG_ID] = {.type = NLA_U16},
	[MTAG_A_TAG_PARENT] = {.type = NLA_U16},
	[MTAG_A_AUDIT_KERNEL_RSS] = {.type = NLA_U64},
	[MTAG_A_AUDIT_WALKED] = {.type = NLA_U64},
	[MTAG_A_AUDIT_ACCOUNTED] = {.type = NLA_U64},
	[MTAG_A_AUDIT_DRIFT] = {.type = NLA_U64},
	[MTAG_A_AUDIT_MIGRATING] = {.type = NLA_U64},
	[MTAG_A_INFO_INSTALLED] = {.type = NLA_U32},
	[MTAG_A_INFO_PROCS] = {.type = NLA_U32},
	[MTAG_A_INFO_ENDED] = {.type = NLA_U64},
	[MTAG_A_INFO_DRIFT] = {.type = NLA_U64},
	[MTAG_A_INFO_LOST] = {.type = NLA_U64},
	[MTAG_A_INFO_OVERFLOW] = {.type = NLA_U64},
	[MTAG_A_INFO_REPAIRS] = {.type = NLA_U64},
	[MTAG_A_INFO_MEMORY] = {.type = NLA_U64},
	[MTAG_A_LIMIT_BYTES] = {.type = NLA_U64},
	[MTAG_A_HISTORY_ID] = {.type = NLA_U64},
	[MTAG_A_HISTORY_ENDED] = {.type = NLA_U64},
	[MTAG_A_HISTORY_RAN] = {.type = NLA_U64},
	[MTAG_A_HISTORY_STATUS] = {.type = NLA_U32},
	[MTAG_A_HISTORY_PEAK] = {.type = NLA_U64},
	[MTAG_A_HISTORY_OTHERS] = {.type = NLA_U32},
	[MTAG_A_INFO_HISTORY] = {.type = NLA_U32},
	[MTAG_A_INFO_HISTORY_DROPPED] = {.type = NLA_U64},
	[MTAG_A_INFO_HISTORY_LOST] = {.type = NLA_U64},
};

/* nla_parse() checks minimal sizes. Of a repeated attribute the last one counts. */
static int parse_attrs(struct nlattr **tb, struct nlattr *attrs, int len)
{
	return nla_parse(tb, MTAG_A_MAX, attrs, len, policy) < 0 ? -EBADMSG : 0;
}

/* Copies a string, NUL-terminated or not, cut at @size; "" if the attribute is missing. */
static const char *get_string(const struct nlattr *a, char *buf, size_t size)
{
	size_t len = 0;

	if (a) {
		len = strnlen(nla_data(a), (size_t)nla_len(a));
		if (len >= size)
			len = size - 1;
		memcpy(buf, nla_data(a), len);
	}
	buf[len] = '\0';
	return buf;
}

static uint64_t get_u64(struct nlattr *a)
{
	return a ? nla_get_u64(a) : 0;
}

static uint32_t get_u32(struct nlattr *a)
{
	return a ? nla_get_u32(a) : 0;
}

/* Copies as many numbers as there are; the others stay. Returns whether all @n are there. */
static bool get_array(const struct nlattr *a, uint64_t *values, size_t n)
{
	size_t have = a ? (size_t)nla_len(a) / sizeof(*values) : 0;

	if (have)
		memcpy(values, nla_data(a), (have < n ? have : n) * sizeof(*values));
	return have >= n;
}

static int get_proc(struct nlattr **tb, struct snap *snap, struct proc **proc)
{
	char comm[STRING_MAX];
	pid_t pid = (pid_t)get_u32(tb[MTAG_A_PROC_PID]);

	/* What is asked about the process afterwards is asked by this number. */
	if (pid <= 0)
		return -EBADMSG;
	*proc = snap_proc(snap, pid, get_string(tb[MTAG_A_PROC_COMM], comm, sizeof(comm)));
	return *proc ? 0 : -ENOMEM;
}

/* There are many tags: what a nest has is found in one pass, without a table of all attributes. */
static int decode_tag(struct nlattr *nest, struct proc *proc)
{
	struct nlattr *a, *id = NULL, *parent = NULL, *name = NULL, *counters = NULL,
			  *shares = NULL;
	char text[STRING_MAX];
	struct tag *tag;
	int left;

	nla_for_each_nested(a, nest, left)
	{
		if (nla_type(a) == MTAG_A_TAG_ID)
			id = a;
		else if (nla_type(a) == MTAG_A_TAG_PARENT)
			parent = a;
		else if (nla_type(a) == MTAG_A_TAG_NAME)
			name = a;
		else if (nla_type(a) == MTAG_A_TAG_COUNTERS)
			counters = a;
		else if (nla_type(a) == MTAG_A_TAG_SHARES)
			shares = a;
	}
	if (!id || nla_len(id) < (int)sizeof(uint16_t) ||
	    (parent && nla_len(parent) < (int)sizeof(uint16_t)))
		return -EBADMSG;
	tag = proc_add_tag(proc, nla_get_u16(id), parent ? nla_get_u16(parent) : MTAG_ID_UNTAGGED,
			   get_string(name, text, sizeof(text)));
	if (!tag)
		return -ENOMEM;
	get_array(counters, tag->c, MTAG_C_NR);
	tag->shares = get_array(shares, tag->s, MTAG_S_NR);
	return 0;
}

static void get_health(struct nlattr **tb, struct proc *proc)
{
	proc->lost = get_u64(tb[MTAG_A_PROC_LOST]);
	proc->overflow = get_u64(tb[MTAG_A_PROC_OVERFLOW]);
	proc->repairs = get_u64(tb[MTAG_A_PROC_REPAIRS]);
}

int decode_tags(struct nlattr *attrs, int len, struct snap *snap)
{
	struct nlattr *tb[MTAG_A_MAX + 1], *a;
	struct proc *proc;
	int left, err;

	err = parse_attrs(tb, attrs, len);
	if (!err)
		err = get_proc(tb, snap, &proc);
	if (err)
		return err;
	get_health(tb, proc);
	nla_for_each_attr(a, attrs, len, left)
	{
		if (nla_type(a) != MTAG_A_TAG)
			continue;
		err = decode_tag(a, proc);
		if (err)
			return err;
	}
	return 0;
}

int decode_proc(struct nlattr *attrs, int len, struct snap *snap)
{
	struct nlattr *tb[MTAG_A_MAX + 1];
	struct proc *proc;
	int err = parse_attrs(tb, attrs, len);

	if (!err)
		err = get_proc(tb, snap, &proc);
	if (err)
		return err;
	get_health(tb, proc);
	return 0;
}

int decode_audit(struct nlattr *attrs, int len, struct audit *audit)
{
	struct nlattr *tb[MTAG_A_MAX + 1];

	if (parse_attrs(tb, attrs, len) || !tb[MTAG_A_PROC_PID] || !tb[MTAG_A_AUDIT_DRIFT])
		return -EBADMSG;
	audit->pid = (pid_t)nla_get_u32(tb[MTAG_A_PROC_PID]);
	get_string(tb[MTAG_A_PROC_COMM], audit->comm, sizeof(audit->comm));
	audit->kernel_rss = get_u64(tb[MTAG_A_AUDIT_KERNEL_RSS]);
	audit->walked = get_u64(tb[MTAG_A_AUDIT_WALKED]);
	audit->accounted = get_u64(tb[MTAG_A_AUDIT_ACCOUNTED]);
	audit->drift = get_u64(tb[MTAG_A_AUDIT_DRIFT]);
	audit->migrating = get_u64(tb[MTAG_A_AUDIT_MIGRATING]);
	audit->lost = get_u64(tb[MTAG_A_PROC_LOST]);
	audit->overflow = get_u64(tb[MTAG_A_PROC_OVERFLOW]);
	return 0;
}

int decode_event(struct nlattr *attrs, int len, struct event *event)
{
	struct nlattr *tb[MTAG_A_MAX + 1];

	if (parse_attrs(tb, attrs, len) || !tb[MTAG_A_EVENT_KIND] || !tb[MTAG_A_PROC_PID])
		return -EBADMSG;
	get_string(tb[MTAG_A_EVENT_KIND], event->kind, sizeof(event->kind));
	event->pid = (pid_t)nla_get_u32(tb[MTAG_A_PROC_PID]);
	get_string(tb[MTAG_A_PROC_COMM], event->comm, sizeof(event->comm));
	get_string(tb[MTAG_A_EVENT_TAG], event->tag, sizeof(event->tag));
	event->limit = get_u64(tb[MTAG_A_LIMIT_BYTES]);
	event->caught_up = false;
	return 0;
}

int decode_info(struct nlattr *attrs, int len, struct info *info)
{
	struct nlattr *tb[MTAG_A_MAX + 1];

	if (parse_attrs(tb, attrs, len))
		return -EBADMSG;
	get_string(tb[MTAG_A_INFO_VERSION], info->version, sizeof(info->version));
	get_string(tb[MTAG_A_INFO_MODE], info->mode, sizeof(info->mode));
	info->installed = get_u32(tb[MTAG_A_INFO_INSTALLED]);
	info->procs = get_u32(tb[MTAG_A_INFO_PROCS]);
	info->ended = get_u64(tb[MTAG_A_INFO_ENDED]);
	info->drift = get_u64(tb[MTAG_A_INFO_DRIFT]);
	info->lost = get_u64(tb[MTAG_A_INFO_LOST]);
	info->overflow = get_u64(tb[MTAG_A_INFO_OVERFLOW]);
	info->repairs = get_u64(tb[MTAG_A_INFO_REPAIRS]);
	info->memory = get_u64(tb[MTAG_A_INFO_MEMORY]);
	info->history = get_u32(tb[MTAG_A_INFO_HISTORY]);
	info->history_dropped = get_u64(tb[MTAG_A_INFO_HISTORY_DROPPED]);
	info->history_lost = get_u64(tb[MTAG_A_INFO_HISTORY_LOST]);
	return 0;
}

static int decode_past_tag(struct nlattr *nest, struct past *past)
{
	struct nlattr *tb[MTAG_A_MAX + 1];
	char path[MTAG_PATH_MAX];
	struct past_tag *tag;

	if (parse_attrs(tb, nla_data(nest), nla_len(nest)) || !tb[MTAG_A_TAG_ID])
		return -EBADMSG;
	tag = past_add_tag(past, nla_get_u16(tb[MTAG_A_TAG_ID]),
			   get_string(tb[MTAG_A_TAG_PATH], path, sizeof(path)));
	if (!tag)
		return -ENOMEM;
	get_array(tb[MTAG_A_TAG_COUNTERS], tag->c, PAST_NR);
	return 0;
}

/* What all messages of an ended process say. */
static void get_past(struct nlattr **tb, struct past *past)
{
	get_string(tb[MTAG_A_PROC_COMM], past->comm, sizeof(past->comm));
	past->pid = (pid_t)nla_get_u32(tb[MTAG_A_PROC_PID]);
	past->ended_ns = get_u64(tb[MTAG_A_HISTORY_ENDED]);
	past->ran_ns = get_u64(tb[MTAG_A_HISTORY_RAN]);
	past->status = (int)get_u32(tb[MTAG_A_HISTORY_STATUS]);
	past->oom = tb[MTAG_A_HISTORY_OOM];
	past->reaped = tb[MTAG_A_HISTORY_REAPED];
	past->complete = !tb[MTAG_A_HISTORY_INEXACT];
	past->total[MTAG_C_ANON] = get_u64(tb[MTAG_A_PROC_ANON]);
	past->total[MTAG_C_FILE] = get_u64(tb[MTAG_A_PROC_FILE]);
	past->total[MTAG_C_SHMEM] = get_u64(tb[MTAG_A_PROC_SHMEM]);
	past->total[MTAG_C_SWAP] = get_u64(tb[MTAG_A_PROC_SWAP]);
	past->total[MTAG_C_PEAK] = get_u64(tb[MTAG_A_HISTORY_PEAK]);
	past->lost = get_u64(tb[MTAG_A_PROC_LOST]);
	past->overflow = get_u64(tb[MTAG_A_PROC_OVERFLOW]);
	past->repairs = get_u64(tb[MTAG_A_PROC_REPAIRS]);
	past->n_others = get_u32(tb[MTAG_A_HISTORY_OTHERS]);
	get_array(tb[MTAG_A_HISTORY_OTHERS_COUNTERS], past->others, PAST_NR);
}

int decode_past(struct nlattr *attrs, int len, struct ledger *ledger)
{
	struct nlattr *tb[MTAG_A_MAX + 1], *a;
	struct past *past;
	int left, err;

	if (parse_attrs(tb, attrs, len) || !tb[MTAG_A_PROC_PID] || !tb[MTAG_A_HISTORY_ID])
		return -EBADMSG;
	past = ledger_past(ledger, nla_get_u64(tb[MTAG_A_HISTORY_ID]));
	if (!past)
		return -ENOMEM;
	get_past(tb, past);
	nla_for_each_attr(a, attrs, len, left)
	{
		if (nla_type(a) != MTAG_A_TAG)
			continue;
		err = decode_past_tag(a, past);
		if (err)
			return err;
	}
	return 0;
}
