// SPDX-License-Identifier: GPL-2.0
/*
 * Dumps of the netlink family: all processes, or the tags of one or of all, with
 * their shares or without, in as many messages as it takes.
 */
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <net/sock.h>
#include "access.h"
#include "dump.h"
#include "message.h"
#include "mtag.h"
#include "pss.h"
#include "report.h"
#include "request.h"
#include "space.h"
#include "state.h"

/**
 * struct dump - a dump under way, from its first message to its last
 * @space:	of the process being shown, or of the last one shown
 * @bucket:	cursor of mtag_space_next()
 * @report:	of that process, read once for all its messages
 * @pss:	likewise; NULL unless the request is for shares
 * @process:	its pid and name
 * @ns:		pid namespace of the sender, whose pids all readers are shown; reference
 * @opener:	credentials of the opener of the socket; reference
 * @tag:	next tag to show
 * @begun:	the first process has been looked for
 * @running:	set once the core owns the dump and will call dump_done()
 * @single:	the request names a process, and only that is shown
 * @shares:	the request is for shares, too
 * @brief:	and wants no zeros at the end of counters
 * @totals:	it is for totals of processes only
 */
struct dump {
	struct mtag_space *space;
	unsigned int bucket;
	struct mtag_report *report;
	struct mtag_pss *pss;
	struct mtag_process process;
	struct pid_namespace *ns;
	const struct cred *opener;
	u32 tag;
	bool begun;
	bool *running;
	bool single;
	bool shares;
	bool brief;
	bool totals;
};

static struct dump *dump_of(struct netlink_callback *cb)
{
	return cb->data;
}

/* Drops what was read of the last process. */
static void dump_forget(struct dump *d)
{
	mtag_report_put(d->report);
	mtag_pss_put(d->pss);
	d->report = NULL;
	d->pss = NULL;
}

static void dump_free(struct dump *d)
{
	dump_forget(d);
	if (d->space)
		mtag_space_put(d->space);
	put_pid_ns(d->ns);
	put_cred(d->opener);
	kfree(d);
}

/* From here on the core owns the dump. */
static int dump_start(struct netlink_callback *cb)
{
	*dump_of(cb)->running = true;
	return 0;
}

static int dump_done(struct netlink_callback *cb)
{
	dump_free(dump_of(cb));
	return 0;
}

/* Reads d->space into d->report and, if that is wanted, d->pss. */
static int dump_fill(struct dump *d)
{
	struct mtag_report *r;
	struct mtag_pss *p;

	r = d->totals ? mtag_report_totals(d->space) : mtag_report_get(d->space);
	if (IS_ERR(r))
		return PTR_ERR(r);
	d->report = r;
	d->tag = MTAG_ID_UNTAGGED;
	if (!d->shares)
		return 0;
	p = mtag_pss_get(d->space, r->nr_tags);
	if (IS_ERR(p)) {
		dump_forget(d);
		return PTR_ERR(p);
	}
	d->pss = p;
	return 0;
}

/* Reads d->space. Return: 1; 0 to skip its process, as when it is gone; or an error. */
static int dump_read(struct dump *d)
{
	int err = dump_fill(d);

	if (!err)
		return 1;
	/* Never counted yet, and too busy to be: must not end a dump of all processes. */
	if (err == -EAGAIN && !d->single)
		return 0;
	return err == -ESRCH ? 0 : err;
}

/* May the reader see d->space? Spaces that it may not see are skipped. */
static bool dump_sees(struct dump *d)
{
	struct task_struct *task;
	struct mm_struct *mm;
	bool sees = false;

	if (mtag_space_parked(d->space))
		return false;
	task = mtag_access_owner(d->space);
	if (!task)
		return false;
	if (mtag_access_name(task, d->ns, &d->process)) {
		mm = mtag_access_mm(task, MTAG_ACCESS_LIST, d->opener, NULL);
		if (!IS_ERR(mm)) {
			sees = READ_ONCE(d->space->mm) == mm;
			mmput(mm);
		}
	}
	put_task_struct(task);
	return sees;
}

/* Goes on to the next process. Return: 1; 0 at the end; or an error. */
static int dump_next(struct dump *d)
{
	int found = 0;

	dump_forget(d);
	if (d->single)
		return 0;
	while (!found) {
		d->space = mtag_space_next(d->space, &d->bucket);
		if (!d->space)
			return 0;
		if (dump_sees(d))
			found = dump_read(d);
		else if (fatal_signal_pending(current))
			found = -EINTR;
		cond_resched();
	}
	return found;
}

/* Reads the one process that the request names. */
static int dump_single(struct dump *d, struct mtag_request *r)
{
	struct mtag_target t;
	int err = mtag_request_target(&t, MTAG_ACCESS_READ, r);

	if (err)
		return err;
	d->single = true;
	d->process = t.process;
	d->space = mtag_space_get(t.space);
	mtag_access_put(&t);
	return mtag_message_explain(&r->extack, dump_read(d) ?: -ESRCH);
}

/* Adds a message with as many tags as fit. Return: 1 after the last tag; 0 if @skb is full. */
static int dump_tags(struct sk_buff *skb, struct dump *d, void *hdr)
{
	u32 first = d->tag;

	if (mtag_message_put_process(skb, &d->process) || mtag_message_put_health(skb, d->report))
		goto cancel_message;
	d->tag = mtag_message_put_tags(skb, d->report, first, d->brief, d->pss);
	if (d->tag == first)
		goto cancel_message;
	genlmsg_end(skb, hdr);
	return d->tag == d->report->nr_tags;
cancel_message:
	genlmsg_cancel(skb, hdr);
	return 0;
}

static int dump_sums(struct sk_buff *skb, struct dump *d, void *hdr)
{
	if (mtag_message_put_sums(skb, &d->process, d->report)) {
		genlmsg_cancel(skb, hdr);
		return 0;
	}
	genlmsg_end(skb, hdr);
	return 1;
}

typedef int dump_put_t(struct sk_buff *skb, struct dump *d, void *hdr);

/* Fills @skb with processes by @put. The cursor stays at the first item that did not fit. */
static int dump_rows(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd, dump_put_t *put)
{
	struct dump *d = dump_of(cb);
	int more = d->begun ? !!d->report : dump_next(d);
	void *hdr;

	d->begun = true;
	/* Never 0, which would switch off the check for consistency. */
	cb->seq = atomic_read(&mtag_space_generation) | 1U << 31;
	while (more > 0) {
		hdr = mtag_message_begin(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
					 NLM_F_MULTI, cmd);
		if (!hdr)
			break;
		if (!d->single)
			genl_dump_check_consistent(cb, hdr);
		if (!put(skb, d, hdr))
			break;
		more = dump_next(d);
	}
	if (more < 0)
		return mtag_message_explain(cb->extack, more);
	return more && !skb->len ? -EMSGSIZE : skb->len;
}

static int dump_procs(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_rows(skb, cb, MTAG_CMD_PROC_GET, dump_sums);
}

static int dump_all_tags(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_rows(skb, cb, MTAG_CMD_TAG_GET, dump_tags);
}

static int dump_all_shares(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_rows(skb, cb, MTAG_CMD_PSS_GET, dump_tags);
}

static struct dump *dump_alloc(const struct cred *opener)
{
	struct dump *d = kzalloc(sizeof(*d), MTAG_GFP);

	if (!d)
		return NULL;
	d->ns = get_pid_ns(task_active_pid_ns(current));
	d->opener = get_cred(opener);
	return d;
}

/* Starts a dump by the netlink core, which builds the first messages at once. */
static int dump_begin(struct mtag_request *r,
		      int (*fill)(struct sk_buff *skb, struct netlink_callback *cb))
{
	struct dump *d = dump_alloc(r->opener);
	struct netlink_dump_control control = {
		.start = dump_start,
		.dump = fill,
		.done = dump_done,
		.data = d,
		.module = THIS_MODULE,
	};
	bool running = false;
	int err = 0;

	if (!d)
		return mtag_message_explain(&r->extack, -ENOMEM);
	d->running = &running;
	d->shares = fill == dump_all_shares;
	d->brief = nlmsg_find_attr(r->nlh, GENL_HDRLEN, MTAG_A_TAG_BRIEF);
	d->totals = fill == dump_procs;
	if (r->pid) {
		err = min(dump_single(d, r), 0);
		d->begun = true;
	}
	if (!err)
		err = netlink_dump_start(sock_net(r->sk)->genl_sock, r->skb, r->nlh, &control);
	if (!running)
		dump_free(d);
	return err;
}

/**
 * mtag_dump_procs() - begin a dump of the totals of processes
 * @r:		the request: for the process that it names, or for all that its sender may read
 *
 * Context: may sleep.
 * Return: as an answer of request.c.
 */
int mtag_dump_procs(struct mtag_request *r)
{
	return dump_begin(r, dump_procs);
}

/**
 * mtag_dump_tags() - begin a dump of processes and their tags
 * @r:		the request: for the process that it names, or for all that its sender may read
 *
 * Context: may sleep.
 * Return: as an answer of request.c.
 */
int mtag_dump_tags(struct mtag_request *r)
{
	return dump_begin(r, dump_all_tags);
}

/**
 * mtag_dump_shares() - begin a dump of processes, their tags, and the shares of these
 * @r:		the request: for the process that it names, or for all that its sender may read
 *
 * Context: may sleep.
 * Return: as an answer of request.c.
 */
int mtag_dump_shares(struct mtag_request *r)
{
	return dump_begin(r, dump_all_shares);
}
