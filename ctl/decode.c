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
	[MTAG_A_PROC_PID] = {.type = NLA_U32},	       [MTAG_A_PROC_TAGS] = {.type = NLA_U32},
	[MTAG_A_PROC_ANON] = {.type = NLA_U64},	       [MTAG_A_PROC_FILE] = {.type = NLA_U64},
	[MTAG_A_PROC_SHMEM] = {.type = NLA_U64},       [MTAG_A_PROC_SWAP] = {.type = NLA_U64},
	[MTAG_A_PROC_VIRT] = {.type = NLA_U64},	       [MTAG_A_PROC_LOST] = {.type = NLA_U64},
	[MTAG_A_PROC_OVERFLOW] = {.type = NLA_U64},    [MTAG_A_PROC_REPAIRS] = {.type = NLA_U64},
	[MTAG_A_TAG_ID] = {.type = NLA_U16},	       [MTAG_A_TAG_PARENT] = {.type = NLA_U16},
	[MTAG_A_AUDIT_KERNEL_RSS] = {.type = NLA_U64}, [MTAG_A_AUDIT_WALKED] = {.type = NLA_U64},
	[MTAG_A_AUDIT_ACCOUNTED] = {.type = NLA_U64},  [MTAG_A_AUDIT_DRIFT] = {.type = NLA_U64},
	[MTAG_A_AUDIT_MIGRATING] = {.type = NLA_U64},  [MTAG_A_INFO_INSTALLED] = {.type = NLA_U32},
	[MTAG_A_INFO_PROCS] = {.type = NLA_U32},       [MTAG_A_INFO_ENDED] = {.type = NLA_U64},
	[MTAG_A_INFO_DRIFT] = {.type = NLA_U64},       [MTAG_A_INFO_LOST] = {.type = NLA_U64},
	[MTAG_A_INFO_OVERFLOW] = {.type = NLA_U64},    [MTAG_A_INFO_REPAIRS] = {.type = NLA_U64},
	[MTAG_A_INFO_MEMORY] = {.type = NLA_U64},
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

static int get_proc(struct nlattr **tb, struct snap *snap, struct proc **proc)
{
	char comm[STRING_MAX];

	if (!tb[MTAG_A_PROC_PID])
		return -EBADMSG;
	*proc = snap_proc(snap, (pid_t)nla_get_u32(tb[MTAG_A_PROC_PID]),
			  get_string(tb[MTAG_A_PROC_COMM], comm, sizeof(comm)));
	return *proc ? 0 : -ENOMEM;
}

static int decode_tag(struct nlattr *nest, struct proc *proc)
{
	struct nlattr *tb[MTAG_A_MAX + 1], *counters;
	char name[STRING_MAX];
	struct tag *tag;
	uint16_t parent = MTAG_ID_UNTAGGED;
	size_t size;

	if (parse_attrs(tb, nla_data(nest), nla_len(nest)) || !tb[MTAG_A_TAG_ID])
		return -EBADMSG;
	if (tb[MTAG_A_TAG_PARENT])
		parent = nla_get_u16(tb[MTAG_A_TAG_PARENT]);
	tag = proc_add_tag(proc, nla_get_u16(tb[MTAG_A_TAG_ID]), parent,
			   get_string(tb[MTAG_A_TAG_NAME], name, sizeof(name)));
	if (!tag)
		return -ENOMEM;
	counters = tb[MTAG_A_TAG_COUNTERS];
	if (!counters)
		return 0;
	size = (size_t)nla_len(counters) / sizeof(uint64_t) * sizeof(uint64_t);
	if (size > sizeof(tag->c))
		size = sizeof(tag->c);
	memcpy(tag->c, nla_data(counters), size);
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
	return 0;
}
