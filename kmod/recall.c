// SPDX-License-Identifier: GPL-2.0
/*
 * Dumps of the netlink family: the processes that ended, in as many messages as it takes. Nothing
 * here waits, so request.c is not needed.
 */
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/slab.h>
#include <net/genetlink.h>
#include <net/sock.h>
#include "access.h"
#include "history.h"
#include "memory.h"
#include "message.h"
#include "mtag.h"
#include "recall.h"
#include "request.h"

/**
 * struct recall - a dump under way
 * @past:	the process being shown; reference; NULL before the first and after the last
 * @pid:	its pid in @ns
 * @ns:		pid namespace of the sender, whose pids all readers are shown; reference
 * @opener:	credentials of the opener of the socket; reference
 * @tag:	number of the next tag to show
 * @used:	bytes of the tags before that
 * @begun:	the first process has been looked for
 */
struct recall {
	struct mtag_past *past;
	pid_t pid;
	struct pid_namespace *ns;
	const struct cred *opener;
	unsigned int tag;
	size_t used;
	bool begun;
};

static struct recall *recall_of(struct netlink_callback *cb)
{
	return (struct recall *)cb->args[0];
}

/*
 * A reader that stops keeps an entry, even when the ledger has dropped it: many such readers would
 * hold more than history_kb. So each of them counts as the largest entry, all the time, and its
 * number tells nothing of others' entries.
 */
#define RECALL_BYTES	(sizeof(struct recall) + MTAG_PAST_MOST)

static struct recall *recall_alloc(void)
{
	struct recall *r;

	if (mtag_memory_charge(RECALL_BYTES))
		return NULL;
	r = kzalloc(sizeof(*r), MTAG_GFP);
	if (!r)
		mtag_memory_uncharge(RECALL_BYTES);
	return r;
}

/**
 * mtag_recall_start() - begin a dump of the processes that have ended
 * @cb:		the dump; args[0] keeps its state until mtag_recall_done()
 *
 * Context: task of the sender. May sleep.
 * Return: 0; -ENOMEM; -EOPNOTSUPP if mtag_request_allowed() is false.
 */
int mtag_recall_start(struct netlink_callback *cb)
{
	struct recall *r;

	if (!mtag_request_allowed())
		return -EOPNOTSUPP;
	r = recall_alloc();
	if (!r)
		return mtag_message_explain(cb->extack, -ENOMEM);
	r->ns = get_pid_ns(task_active_pid_ns(current));
	/* The socket belongs to a program, so it has a file. */
	r->opener = get_cred(NETLINK_CB(cb->skb).sk->sk_socket->file->f_cred);
	cb->args[0] = (long)r;
	return 0;
}

/* Frees what mtag_recall_start() made, if anything. Context: may sleep. Return: 0. */
int mtag_recall_done(struct netlink_callback *cb)
{
	struct recall *r = recall_of(cb);

	if (!r)
		return 0;
	mtag_history_put(r->past);
	put_pid_ns(r->ns);
	put_cred(r->opener);
	kfree(r);
	mtag_memory_uncharge(RECALL_BYTES);
	return 0;
}

/* Its pid in the reader's namespace; 0 if it had none. */
static pid_t pid_of(const struct mtag_past *p, struct pid_namespace *ns)
{
	if (p->pid)
		return pid_nr_ns(p->pid, ns);
	return ns == &init_pid_ns ? p->nr : 0;
}

/* Goes on to the next process that the reader may see; false at the end. */
static bool recall_next(struct recall *r)
{
	r->tag = 0;
	r->used = 0;
	do {
		r->past = mtag_history_next(r->past);
		if (!r->past)
			return false;
		r->pid = pid_of(r->past, r->ns);
		cond_resched();
	} while (!r->pid || !mtag_access_may_recall(r->past, r->opener));
	return true;
}

static int put_last(struct sk_buff *skb, int type, const struct mtag_last *last)
{
	u64 counters[MTAG_C_PEAK + 1];

	counters[MTAG_C_ANON] = last->nr[MTAG_ANON] << PAGE_SHIFT;
	counters[MTAG_C_FILE] = last->nr[MTAG_FILE] << PAGE_SHIFT;
	counters[MTAG_C_SHMEM] = last->nr[MTAG_SHMEM] << PAGE_SHIFT;
	counters[MTAG_C_SWAP] = last->nr[MTAG_SWAP] << PAGE_SHIFT;
	counters[MTAG_C_PEAK] = last->peak << PAGE_SHIFT;
	return nla_put(skb, type, sizeof(counters), counters);
}

static int recall_put_end(struct sk_buff *skb, const struct recall *r)
{
	const struct mtag_past *p = r->past;

	if (nla_put_u32(skb, MTAG_A_PROC_PID, r->pid) ||
	    nla_put_string(skb, MTAG_A_PROC_COMM, p->comm) ||
	    mtag_message_put_u64(skb, MTAG_A_HISTORY_ID, p->id) ||
	    mtag_message_put_u64(skb, MTAG_A_HISTORY_ENDED, p->ended) ||
	    mtag_message_put_u64(skb, MTAG_A_HISTORY_RAN, p->ran) ||
	    nla_put_u32(skb, MTAG_A_HISTORY_STATUS, p->status) ||
	    (p->oom && nla_put_flag(skb, MTAG_A_HISTORY_OOM)) ||
	    (p->reaped && nla_put_flag(skb, MTAG_A_HISTORY_REAPED)) ||
	    (p->inexact && nla_put_flag(skb, MTAG_A_HISTORY_INEXACT)))
		return -EMSGSIZE;
	return 0;
}

static int put_sums(struct sk_buff *skb, const struct mtag_past *p)
{
	const u64 *nr = p->total.nr;

	if (mtag_message_put_pages(skb, MTAG_A_PROC_ANON, nr[MTAG_ANON]) ||
	    mtag_message_put_pages(skb, MTAG_A_PROC_FILE, nr[MTAG_FILE]) ||
	    mtag_message_put_pages(skb, MTAG_A_PROC_SHMEM, nr[MTAG_SHMEM]) ||
	    mtag_message_put_pages(skb, MTAG_A_PROC_SWAP, nr[MTAG_SWAP]) ||
	    mtag_message_put_pages(skb, MTAG_A_HISTORY_PEAK, p->total.peak) ||
	    mtag_message_put_u64(skb, MTAG_A_PROC_LOST, p->lost) ||
	    mtag_message_put_u64(skb, MTAG_A_PROC_OVERFLOW, p->overflow) ||
	    mtag_message_put_u64(skb, MTAG_A_PROC_REPAIRS, p->repairs))
		return -EMSGSIZE;
	if (!p->nr_others)
		return 0;
	return nla_put_u32(skb, MTAG_A_HISTORY_OTHERS, p->nr_others) ?:
	       put_last(skb, MTAG_A_HISTORY_OTHERS_COUNTERS, &p->others);
}

static int recall_put_tag(struct sk_buff *skb, const struct mtag_past_tag *t)
{
	struct nlattr *nest = nla_nest_start(skb, MTAG_A_TAG);

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u16(skb, MTAG_A_TAG_ID, t->id) ||
	    nla_put_string(skb, MTAG_A_TAG_PATH, t->path) ||
	    put_last(skb, MTAG_A_TAG_COUNTERS, &t->last)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

/* Adds a message with as many tags as fit. Return: 1 after the last tag; 0 if @skb is full. */
static int put_past(struct sk_buff *skb, struct netlink_callback *cb, struct recall *r)
{
	const struct mtag_past *p = r->past;
	const struct mtag_past_tag *t;
	unsigned int first = r->tag;
	void *hdr = mtag_message_begin(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				       NLM_F_MULTI, MTAG_CMD_HISTORY_GET);

	if (!hdr)
		return 0;
	if (recall_put_end(skb, r) || put_sums(skb, p))
		goto cancel_message;
	for (; r->tag < p->nr_tags; r->tag++) {
		t = (const void *)p->tags + r->used;
		if (recall_put_tag(skb, t))
			break;
		r->used += mtag_past_tag_bytes(t->size);
	}
	if (r->tag == first && p->nr_tags)
		goto cancel_message;
	genlmsg_end(skb, hdr);
	return r->tag == p->nr_tags;
cancel_message:
	genlmsg_cancel(skb, hdr);
	return 0;
}

/* Fills @skb. The cursor stays at the first tag that did not fit. */
int mtag_recall_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct recall *r = recall_of(cb);

	if (!r->begun) {
		r->begun = true;
		recall_next(r);
	}
	while (r->past && put_past(skb, cb, r))
		recall_next(r);
	return r->past && !skb->len ? -EMSGSIZE : skb->len;
}
