// SPDX-License-Identifier: GPL-2.0
/*
 * Sends events to the listeners of the netlink group "events": by a worker, so
 * that events may be raised in atomic context.
 */
#include <linux/llist.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "access.h"
#include "compat/compat.h"
#include "message.h"
#include "mtag.h"
#include "notify.h"
#include "sleep.h"
#include "tell.h"

/**
 * struct event - an event on its way to the listeners
 * @node:	in the list of events to be sent
 * @kind:	a string literal
 * @process:	the process that it is about
 * @bytes:	the limit that was crossed
 * @tag:	path of the tag that crossed it, or ""
 */
struct event {
	struct llist_node node;
	const char *kind;
	struct mtag_process process;
	u64 bytes;
	char tag[];
};

/* Users can raise events faster than they are sent. */
#define EVENTS_MAX	16384

static LLIST_HEAD(events);
static atomic_t waiting;	/* in the list */
static bool missed;	/* an event was dropped: out of memory, or too many waiting */

static int event_put(struct sk_buff *skb, const struct event *e)
{
	void *hdr = mtag_message_begin(skb, 0, 0, 0, MTAG_CMD_EVENT);

	if (!hdr || nla_put_string(skb, MTAG_A_EVENT_KIND, e->kind) ||
	    mtag_message_put_process(skb, &e->process))
		return -EMSGSIZE;
	if (e->bytes && (nla_put_string(skb, MTAG_A_EVENT_TAG, e->tag) ||
			 mtag_message_put_u64(skb, MTAG_A_LIMIT_BYTES, e->bytes)))
		return -EMSGSIZE;
	genlmsg_end(skb, hdr);
	return 0;
}

static void event_send(const struct event *e)
{
	struct sk_buff *skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);

	if (!skb) {
		mtag_message_missed();
	} else if (event_put(skb, e)) {
		nlmsg_free(skb);
		mtag_message_missed();
	} else {
		mtag_message_multicast(skb);
	}
}

/* With room for a path of @len bytes. Context: process context, atomic or not. */
static struct event *event_alloc(size_t len)
{
	struct event *e = NULL;

	if (atomic_inc_return(&waiting) <= EVENTS_MAX && mtag_lock_begin()) {
		e = kmalloc(struct_size(e, tag, len + 1), GFP_ATOMIC | __GFP_NOWARN);
		mtag_lock_end();
	}
	if (!e)
		atomic_dec(&waiting);
	return e;
}

static void event_free(struct event *e)
{
	kfree(e);
	atomic_dec(&waiting);
}

static void events_send(struct work_struct *work)
{
	struct llist_node *list = llist_reverse_order(llist_del_all(&events));
	struct event *e, *next;

	llist_for_each_entry_safe(e, next, list, node) {
		event_send(e);
		event_free(e);
		cond_resched();
	}
	if (xchg(&missed, false))
		mtag_message_missed();
}

/* Not on a per-CPU workqueue: thousands of events would delay the work of others there. */
static DECLARE_WORK(events_work, events_send);

/* Tells the listeners, if any: see mtag_tell(). The pid is that of the initial namespace. */
static void notify_listeners(const struct mtag_news *news)
{
	const char *tag = news->tag ?: "";
	size_t len = strlen(tag);
	struct event *e;

	if (!mtag_message_has_listeners())
		return;
	e = event_alloc(len);
	if (!e) {
		WRITE_ONCE(missed, true);
		queue_work(mtag_system_wq, &events_work);
		return;
	}
	e->kind = news->kind;
	e->bytes = news->bytes;
	memcpy(e->tag, tag, len + 1);
	mtag_access_name(news->leader, &init_pid_ns, &e->process);
	if (llist_add(&e->node, &events))
		queue_work(mtag_system_wq, &events_work);
}

/* Context: the family is registered. Before that, its group ids belong to another family. */
void mtag_notify_open(void)
{
	mtag_tell_to(notify_listeners);
}

/* Context: may sleep; no hook is installed. */
void mtag_notify_flush(void)
{
	mtag_tell_to(NULL);
	/* Any task that saw the listener has queued its event by then. */
	synchronize_rcu();
	flush_work(&events_work);
}
