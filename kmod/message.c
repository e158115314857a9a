// SPDX-License-Identifier: GPL-2.0
/*
 * Builds netlink messages: headers, attributes and the texts of errors.
 */
#include "access.h"
#include "account.h"
#include "message.h"
#include "mtag.h"
#include "report.h"

/* Set at init, not named here: the family's ops use this file, which must not depend on them. */
static const struct genl_family *family;

/* Sets the family of all messages. Context: before @f is registered. */
void mtag_message_init(const struct genl_family *f)
{
	family = f;
}

/* Adds the header of a message to @skb; NULL if there is no room. */
void *mtag_message_begin(struct sk_buff *skb, u32 portid, u32 seq, int flags, u8 cmd)
{
	return genlmsg_put(skb, portid, seq, family, flags, cmd);
}

/* ---- events: in the initial network namespace only ---- */

/*
 * Does anybody listen? Only the initial network namespace counts: to join in another one,
 * CAP_SYS_ADMIN in the user namespace that owns it would suffice.
 */
bool mtag_message_has_listeners(void)
{
	return genl_has_listeners(family, &init_net, MTAG_NETLINK_EVENTS);
}

/* Sends an event to all listeners, and uses up @skb. Context: may sleep. */
void mtag_message_multicast(struct sk_buff *skb)
{
	genlmsg_multicast(family, skb, 0, MTAG_NETLINK_EVENTS, GFP_KERNEL);
}

/* Tells listeners that they missed an event: their next read fails with ENOBUFS. */
void mtag_message_missed(void)
{
	genl_set_err(family, &init_net, 0, MTAG_NETLINK_EVENTS, -ENOBUFS);
}

/* ---- errors ---- */

/* Tells the sender in words why its request failed with @err. Return: @err. */
int mtag_message_explain(struct netlink_ext_ack *extack, int err)
{
	switch (err) {
	case -EINVAL:
		NL_SET_ERR_MSG(extack, "a kernel thread has no memory of its own");
		break;
	case -EACCES:
		NL_SET_ERR_MSG(extack, "reading this process needs ptrace read access to it");
		break;
	case -EPERM:
		NL_SET_ERR_MSG(extack, "this needs CAP_SYS_PTRACE over the process");
		break;
	case -ESRCH:
		NL_SET_ERR_MSG(extack, "no such process");
		break;
	case -ENOENT:
		NL_SET_ERR_MSG(extack, "this process is not tracked");
		break;
	case -ENOSPC:
		NL_SET_ERR_MSG(extack, "too many processes are tracked (max_processes)");
		break;
	case -ENOMEM:
		NL_SET_ERR_MSG(extack, "out of memory, or mtag's limit is reached (max_memory_kb)");
		break;
	case -EAGAIN:
		NL_SET_ERR_MSG(extack, "the process is too busy to be counted; try again");
		break;
	case -EINTR:
		NL_SET_ERR_MSG(extack, "interrupted");
		break;
	default:
		if (err < 0)
			NL_SET_ERR_MSG(extack, "failed; the kernel log may tell more");
	}
	return err;
}

/* ---- attributes ---- */

/* Adds a number of 64 bits. Return: 0; -EMSGSIZE if there is no room. */
int mtag_message_put_u64(struct sk_buff *skb, int type, u64 value)
{
	return nla_put_u64_64bit(skb, type, value, MTAG_A_PAD);
}

/* Adds the bytes of @pages pages, as mtag_message_put_u64(). */
int mtag_message_put_pages(struct sk_buff *skb, int type, u64 pages)
{
	return mtag_message_put_u64(skb, type, pages << PAGE_SHIFT);
}

/* Adds the pid and name of a process. Return: 0; -EMSGSIZE if there is no room. */
int mtag_message_put_process(struct sk_buff *skb, const struct mtag_process *p)
{
	return nla_put_u32(skb, MTAG_A_PROC_PID, p->pid) ||
	       nla_put_string(skb, MTAG_A_PROC_COMM, p->comm) ? -EMSGSIZE : 0;
}

/* How far a reader may trust the other numbers. */
int mtag_message_put_health(struct sk_buff *skb, const struct mtag_report *r)
{
	return mtag_message_put_u64(skb, MTAG_A_PROC_LOST, r->lost) ||
	       mtag_message_put_u64(skb, MTAG_A_PROC_OVERFLOW, r->overflow) ||
	       mtag_message_put_u64(skb, MTAG_A_PROC_REPAIRS, r->repairs) ? -EMSGSIZE : 0;
}

/* ---- tags: there are many, so they are written at once, into room that is taken once ---- */

/* Writes the header of an attribute and the zeros that pad it. Return: where its payload begins. */
static __always_inline void *attr_begin(void *at, int type, int len)
{
	struct nlattr *attr = at;

	/* The payload is written over the part of this that is not padding. */
	if (len % NLA_ALIGNTO)
		memset(at + nla_total_size(len) - NLA_ALIGNTO, 0, NLA_ALIGNTO);
	attr->nla_type = type;
	attr->nla_len = nla_attr_size(len);
	return nla_data(attr);
}

/* Writes an attribute. Return: where the next begins. */
static __always_inline void *attr_write(void *at, int type, const void *data, int len)
{
	at = attr_begin(at, type, len);
	if (len)
		memcpy(at, data, len);
	return at + NLA_ALIGN(len);
}

/* Writes a name and its NUL, by words: what comes next is written over zeros at the end. */
static __always_inline void *attr_write_name(void *at, const struct mtag_label *label)
{
	int bytes = label->len + 1, i = 0;
	struct nlattr *attr = at;
	char *to = nla_data(attr);

	attr->nla_type = MTAG_A_TAG_NAME;
	attr->nla_len = nla_attr_size(bytes);
	do {
		memcpy(to + i, label->name + i, sizeof(u64));
		i += sizeof(u64);
	} while (i < bytes);
	return to + NLA_ALIGN(bytes);
}

static __always_inline void *attr_write_id(void *at, int type, u16 id)
{
	return attr_write(at, type, &id, sizeof(id));
}

/**
 * struct row - what is sent of a tag
 * @label:	what it is called
 * @nr:		of @counters
 * @counters:	by MTAG_C_*
 * @shares:	by MTAG_S_*; or NULL
 */
struct row {
	struct mtag_label label;
	unsigned int nr;
	const u64 *counters;
	const u64 *shares;
};

/* No row takes more. */
#define ROW_MAX	(NLA_HDRLEN + 2 * nla_total_size(sizeof(u16)) + \
		 nla_total_size(MTAG_NAME_MAX + 1) + nla_total_size(MTAG_C_NR * sizeof(u64)) + \
		 nla_total_size(MTAG_S_NR * sizeof(u64)))

/* Writes a tag where ROW_MAX is left. Return: where the next begins. */
static __always_inline void *row_write(void *at, u32 tag, const struct row *row)
{
	struct nlattr *nest = at;

	at = attr_write_id(nla_data(nest), MTAG_A_TAG_ID, tag);
	if (row->label.parent)
		at = attr_write_id(at, MTAG_A_TAG_PARENT, row->label.parent);
	at = attr_write_name(at, &row->label);
	/* Most tags of a large tree have none. */
	if (row->nr)
		at = attr_write(at, MTAG_A_TAG_COUNTERS, row->counters,
				row->nr * sizeof(*row->counters));
	else
		at = attr_begin(at, MTAG_A_TAG_COUNTERS, 0);
	if (row->shares)
		at = attr_write(at, MTAG_A_TAG_SHARES, row->shares,
				MTAG_S_NR * sizeof(*row->shares));
	nest->nla_type = MTAG_A_TAG | NLA_F_NESTED;
	nest->nla_len = at - (void *)nest;
	return at;
}

/* Fills @counters of a tag. Return: how many to send. */
static __always_inline unsigned int row_read(struct mtag_labels *l, const struct mtag_report *r,
					     u32 tag, bool brief, u64 counters[MTAG_C_NR],
					     bool *empty)
{
	unsigned int nr = mtag_report_labels_counters(l, r, tag, counters);

	*empty = !nr;
	if (brief)
		return nr;
	memset(counters + nr, 0, (MTAG_C_NR - nr) * sizeof(*counters));
	return MTAG_C_NR;
}

/**
 * mtag_message_put_tags() - add tags to a message, as many as fit
 * @skb:	the message
 * @r:		report of a process
 * @tag:	the first of them
 * @brief:	leave out zeros at the end of counters
 * @p:		shares of the process to add; or NULL
 *
 * Return: the tag to go on with, or r->nr_tags.
 */
u32 mtag_message_put_tags(struct sk_buff *skb, const struct mtag_report *r, u32 tag, bool brief,
			  const struct mtag_pss *p)
{
	void *start = skb_tail_pointer(skb), *at = start;
	void *last = start + skb_tailroom(skb) - ROW_MAX;
	u64 counters[MTAG_C_NR], shares[MTAG_S_NR];
	struct row row = { .counters = counters, .shares = p ? shares : NULL };
	struct mtag_labels labels;
	bool empty;

	rcu_read_lock();
	mtag_report_labels_begin(&labels, r);
	for (; tag < r->nr_tags && at <= last; tag++) {
		row.nr = row_read(&labels, r, tag, brief, counters, &empty);
		if (!mtag_report_labels_find(&labels, r, tag, empty, &row.label))
			continue;
		if (p) {
			shares[MTAG_S_USS] = p->shares[tag].uss;
			shares[MTAG_S_PSS] = p->shares[tag].pss;
		}
		at = row_write(at, tag, &row);
	}
	rcu_read_unlock();
	__skb_put(skb, at - start);
	return tag;
}

/* ---- sums ---- */

/**
 * mtag_message_put_sums() - add a process and its totals
 * @skb:	message under way
 * @p:		the process
 * @r:		its report; the totals are enough
 *
 * Return: 0; -EMSGSIZE if there is no room: part of it may be in @skb.
 */
int mtag_message_put_sums(struct sk_buff *skb, const struct mtag_process *p,
			  const struct mtag_report *r)
{
	const s64 *nr = r->total.nr;

	if (mtag_message_put_process(skb, p) ||
	    nla_put_u32(skb, MTAG_A_PROC_TAGS, r->nr_tags) ||
	    mtag_message_put_pages(skb, MTAG_A_PROC_ANON, nr[MTAG_ANON]) ||
	    mtag_message_put_pages(skb, MTAG_A_PROC_FILE, nr[MTAG_FILE]) ||
	    mtag_message_put_pages(skb, MTAG_A_PROC_SHMEM, nr[MTAG_SHMEM]) ||
	    mtag_message_put_pages(skb, MTAG_A_PROC_SWAP, nr[MTAG_SWAP]) ||
	    mtag_message_put_u64(skb, MTAG_A_PROC_VIRT, r->total_virt) ||
	    mtag_message_put_health(skb, r))
		return -EMSGSIZE;
	return 0;
}
