// SPDX-License-Identifier: GPL-2.0
/*
 * Answers netlink requests that may wait for another process: for the locks of
 * its memory, which it may hold for as long as it likes.
 *
 * The netlink core calls a family under a lock that every other user of generic
 * netlink needs as soon as a family is being registered. So such a request is
 * only queued there. The same task answers it on its way back to user space:
 * with its own credentials, before its sendmsg() returns, and only a fatal
 * signal ends the wait.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/netlink.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/task_work.h>
#include <net/genetlink.h>
#include <net/sock.h>
#include "access.h"
#include "later.h"
#include "message.h"
#include "mtag.h"
#include "request.h"

/*
 * What waits for the end of one system call at most. sendmmsg() and io_uring send many messages in
 * one, and a message holds thousands of requests.
 */
#define BATCH_REQUESTS	256
#define BATCH_BYTES	SZ_1M
#define REQUEST_BYTES	SZ_64K	/* a request itself has less than 1 KiB */

/**
 * struct request_batch - the requests of one system call
 * @later:	answers them
 * @node:	in batches
 * @task:	the sender; only compared
 * @requests:	in order of arrival
 * @nr:		of them
 * @bytes:	of their messages
 */
struct request_batch {
	struct mtag_later later;
	struct list_head node;
	struct task_struct *task;
	struct list_head requests;
	unsigned int nr;
	size_t bytes;
};

static LIST_HEAD(batches);
static DEFINE_SPINLOCK(batches_lock);	/* batches, and the requests of those in the list */

static void request_free(struct mtag_request *r)
{
	consume_skb(r->skb);
	fput(r->file);
	kfree(r);
}

/*
 * Keeps the message of a request for as long as it waits. The sender's own is not charged to its
 * memory cgroup, and it may have as many threads wait as it can start. So only the first one of a
 * system call is kept as it is, and only if it is small, as nearly all are; others are copied.
 */
static bool message_keep(struct mtag_request *r, struct sk_buff *skb, const struct nlmsghdr *nlh,
			 const struct nlattr *pid)
{
	struct sk_buff *copy;

	r->nlh = nlh;
	r->pid = pid;
	if (!task_work_pending(current) && skb->truesize <= PAGE_SIZE) {
		r->skb = skb_get(skb);
		return true;
	}
	copy = alloc_skb(nlh->nlmsg_len, MTAG_GFP | __GFP_NOWARN);
	if (!copy)
		return false;
	/*
	 * netlink_ack() finds the sender's port here, and our end, which is there as long as its
	 * network namespace, which r->file holds.
	 */
	memcpy(copy->cb, skb->cb, sizeof(copy->cb));
	copy->sk = skb->sk;
	r->nlh = skb_put_data(copy, nlh, nlh->nlmsg_len);
	if (pid)
		r->pid = (void *)r->nlh + ((void *)pid - (void *)nlh);
	r->skb = copy;
	return true;
}

static struct mtag_request *request_alloc(struct sk_buff *skb, const struct nlmsghdr *nlh,
					  const struct nlattr *pid, mtag_request_t *run)
{
	struct mtag_request *r = kzalloc(sizeof(*r), MTAG_GFP);

	if (!r)
		return NULL;
	if (!message_keep(r, skb, nlh, pid)) {
		kfree(r);
		return NULL;
	}
	/*
	 * The socket belongs to a program, so it has a file. With that it stays bound: the answer
	 * finds it by its port, which must not be another's by then.
	 */
	r->sk = NETLINK_CB(skb).sk;
	r->file = get_file(r->sk->sk_socket->file);
	r->opener = r->file->f_cred;
	r->portid = NETLINK_CB(skb).portid;
	r->run = run;
	return r;
}

static void answer_request(struct mtag_request *r)
{
	int err = r->run(r);

	/* As the core does. -EINTR: a dump has begun, and sends its own end. */
	if (err != -EINTR && (err || r->nlh->nlmsg_flags & NLM_F_ACK))
		netlink_ack(r->skb, (struct nlmsghdr *)r->nlh, err, &r->extack);
}

static void batch_run(struct mtag_later *later, bool runs)
{
	struct request_batch *b = container_of(later, struct request_batch, later);
	struct mtag_request *r, *next;

	spin_lock(&batches_lock);
	list_del(&b->node);
	spin_unlock(&batches_lock);
	list_for_each_entry_safe(r, next, &b->requests, node) {
		/*
		 * A killed sender hears no answer. A worker of io_uring may end before it comes
		 * here, and has no files then.
		 */
		if (runs && !fatal_signal_pending(current) && !(current->flags & PF_EXITING))
			answer_request(r);
		request_free(r);
		/* Otherwise under RCU. */
		if (runs)
			cond_resched();
	}
	kfree(b);
	module_put(THIS_MODULE);
}

/* Adds @r to @b. Context: batches_lock. */
static int batch_add(struct request_batch *b, struct mtag_request *r)
{
	size_t more = r->skb->truesize;

	lockdep_assert_held(&batches_lock);
	if (b->nr >= BATCH_REQUESTS || (b->nr && b->bytes + more > BATCH_BYTES))
		return -ENOBUFS;
	list_add_tail(&r->node, &b->requests);
	b->nr++;
	b->bytes += more;
	return 0;
}

/* Adds @r to the batch of the current task. Return: -ENOENT if it has none yet; -ENOBUFS. */
static int batch_join(struct mtag_request *r)
{
	struct request_batch *b;
	int err = -ENOENT;

	/*
	 * A task with a batch has a task work pending. Most requests are the first of their system
	 * call.
	 */
	if (!task_work_pending(current))
		return err;
	spin_lock(&batches_lock);
	/* The newest come first: those of tasks that wait long are not looked at. */
	list_for_each_entry(b, &batches, node) {
		if (b->task == current) {
			err = batch_add(b, r);
			break;
		}
	}
	spin_unlock(&batches_lock);
	return err;
}

static int batch_begin(struct mtag_request *r)
{
	struct request_batch *b;

	/*
	 * A request may take long: make rmmod fail at once instead of waiting for it. Once rmmod
	 * has begun, it is too late for that.
	 */
	if (!try_module_get(THIS_MODULE))
		return -EOPNOTSUPP;
	b = kzalloc(sizeof(*b), MTAG_GFP);
	if (!b) {
		module_put(THIS_MODULE);
		return -ENOMEM;
	}
	b->task = current;
	INIT_LIST_HEAD(&b->requests);
	spin_lock(&batches_lock);
	batch_add(b, r);
	list_add(&b->node, &batches);
	spin_unlock(&batches_lock);
	if (mtag_later(current, &b->later, batch_run))
		return 0;
	/* The task is exiting. */
	spin_lock(&batches_lock);
	list_del(&b->node);
	spin_unlock(&batches_lock);
	kfree(b);
	module_put(THIS_MODULE);
	return -EINTR;
}

/**
 * mtag_request() - have a request answered where it may wait
 * @skb:	the message
 * @nlh:	its header
 * @pid:	its attribute proc-pid in @skb, or NULL
 * @run:	answers it; its errors are sent as those of ->doit() are
 *
 * Context: ->doit() or ->start() of the family.
 * Return: -EINTR, which makes the core leave the answer to us; -ENOBUFS if the system call has sent
 * too many; -EOPNOTSUPP to a kernel thread, and if mtag_request_allowed() is false; another error.
 */
int mtag_request(struct sk_buff *skb, const struct nlmsghdr *nlh, const struct nlattr *pid,
		 mtag_request_t *run)
{
	struct mtag_request *r;
	int err;

	/* A kernel thread never returns to user space. */
	if (current->flags & PF_KTHREAD || !mtag_request_allowed())
		return -EOPNOTSUPP;
	if (nlh->nlmsg_len > REQUEST_BYTES)
		return -EMSGSIZE;
	r = request_alloc(skb, nlh, pid, run);
	if (!r)
		return -ENOMEM;
	err = batch_join(r);
	if (err == -ENOENT)
		err = batch_begin(r);
	if (err)
		request_free(r);
	return err ?: -EINTR;
}

/* Fills @t, which the caller must mtag_access_put(), or tells the sender why not. */
int mtag_request_process(struct mtag_target *t, enum mtag_access access, struct mtag_request *r)
{
	int err;

	if (!r->pid) {
		NL_SET_ERR_ATTR_MISS(&r->extack, NULL, MTAG_A_PROC_PID);
		NL_SET_ERR_MSG(&r->extack, "the attribute proc-pid is missing");
		return -EINVAL;
	}
	err = mtag_access_get(t, nla_get_u32(r->pid), access, r->opener);
	return mtag_message_explain(&r->extack, err);
}

/* As mtag_request_process(), for a process that must be tracked. */
int mtag_request_target(struct mtag_target *t, enum mtag_access access, struct mtag_request *r)
{
	int err = mtag_request_process(t, access, r);

	if (!err && !t->space) {
		mtag_access_put(t);
		err = mtag_message_explain(&r->extack, -ENOENT);
	}
	return err;
}
