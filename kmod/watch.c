// SPDX-License-Identifier: GPL-2.0
/*
 * Tells programs when a tag reaches a limit: by an eventfd, and listeners by an event.
 *
 * A watch ends with the last descriptor of its eventfd, so that a program that is killed leaves
 * none behind. Detecting that is done as the memory cgroup does it for its eventfds.
 */
#include <linux/err.h>
#include <linux/eventfd.h>
#include <linux/file.h>
#include <linux/list_sort.h>
#include <linux/llist.h>
#include <linux/pid.h>
#include <linux/poll.h>
#include <linux/rcupdate.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include "account.h"
#include "compat/compat.h"
#include "limit.h"
#include "memory.h"
#include "mtag.h"
#include "path.h"
#include "space.h"
#include "stat.h"
#include "tell.h"
#include "tree.h"
#include "watch.h"

#define WATCHES_MAX	64	/* of a space: each is compared with in its slow path */
#define FOREIGN_MAX	32	/* of them, set by others: they cannot use up the process's own */

/* Protects the lists of limits of all spaces, and the next. */
static DEFINE_MUTEX(watch_lock);
static LIST_HEAD(dead_watches);	/* out of their space's list, and not seen by reap_work() yet */
static LLIST_HEAD(closed);	/* those whose eventfd was closed */

/*
 * Frees watches that were in a list, except those that were replaced. It waits once for all that
 * there are: any user can end many at once, and a wait for each would hold up what waits after it.
 */
static void reap_work(struct work_struct *work);
static DECLARE_WORK(reaper, reap_work);

/**
 * struct watch - a program to be told
 * @limit:	when
 * @space:	whose limit it is; valid while @limit is in its list, and a reference after that
 * @dead:	in dead_watches, or in the reaper's list
 * @ctx:	the eventfd; reference
 * @head:	the eventfd's wait queue
 * @wait:	in @head, to learn that the eventfd was closed
 * @poll:	puts @wait there
 * @closed:	in the list of that name
 * @hung_up:	it is, or has been; by xchg()
 * @foreign:	set by another process; constant
 * @ended:	the space has ended, and the waiter is to be told
 * @tell:	sends the event
 * @pid:	of the process; reference
 * @bytes:	the limit as it was given
 * @charged:	bytes of this structure
 * @path:	of the tag
 */
struct watch {
	struct mtag_limit limit;
	struct mtag_space *space;
	struct list_head dead;
	struct eventfd_ctx *ctx;
	wait_queue_head_t *head;
	wait_queue_entry_t wait;
	poll_table poll;
	struct llist_node closed;
	bool hung_up;
	bool ended;
	bool foreign;
	struct work_struct tell;
	struct pid *pid;
	u64 bytes;
	size_t charged;
	char path[];
};

/* In an interrupt, or in a thread of its own on PREEMPT_RT: no page-table lock is in the way. */
static void watch_signal(struct irq_work *work)
{
	struct watch *w = container_of(work, struct watch, limit.signal);

	mtag_eventfd_signal(w->ctx);
	queue_work(mtag_wq, &w->tell);
}

static void watch_tell(struct work_struct *work)
{
	struct watch *w = container_of(work, struct watch, tell);
	struct task_struct *leader = get_pid_task(w->pid, PIDTYPE_TGID);

	if (!leader)
		return;
	mtag_tell_limit(leader, w->path, w->bytes);
	put_task_struct(leader);
}

static void watch_free(struct watch *w)
{
	eventfd_ctx_put(w->ctx);
	put_pid(w->pid);
	mtag_memory_uncharge(w->charged);
	kfree(w);
}

/* Takes @w out of its space's list, for the reaper. Caller holds watch_lock, and queues that. */
static void watch_take(struct watch *w, bool ended)
{
	lockdep_assert_held(&watch_lock);
	mtag_space_get(w->space);
	mtag_limit_del(&w->limit);
	w->ended = ended;
	list_add(&w->dead, &dead_watches);
}

/* Takes the watches whose eventfd was closed. They stay allocated until the reaper frees them. */
static void take_closed(void)
{
	struct llist_node *list = llist_del_all(&closed);
	struct watch *w, *next;

	if (!list)
		return;
	mutex_lock(&watch_lock);
	llist_for_each_entry_safe(w, next, list, closed)
		if (!hlist_unhashed(&w->limit.node))
			watch_take(w, false);
	mutex_unlock(&watch_lock);
}

/* Releases a dead watch. It is in no list of closed ones, and will not get there. */
static void watch_bury(struct watch *w)
{
	struct mtag_space *s = w->space;

	cancel_work_sync(&w->tell);
	if (w->ended)
		mtag_eventfd_signal(w->ctx);
	watch_free(w);
	mtag_space_put(s);
}

static int by_space(void *unused, const struct list_head *a, const struct list_head *b)
{
	const struct mtag_space *one = list_entry(a, struct watch, dead)->space;
	const struct mtag_space *two = list_entry(b, struct watch, dead)->space;

	return (one > two) - (one < two);
}

/*
 * Near limits of others went uncompared, if the going away of one of @dead cleared their bit. The
 * watches of a space come one after the other, and the spaces wait together. A process whose tags
 * come near a limit and leave it all the time could keep us here: after MTAG_LOOKS_MOST its own
 * events have to do.
 */
static void compare_others(const struct list_head *dead)
{
	const struct mtag_space *last;
	const struct watch *w;
	bool again = true;
	int looks;

	for (looks = 0; again && looks < MTAG_LOOKS_MOST; looks++) {
		again = false;
		last = NULL;
		list_for_each_entry(w, dead, dead) {
			if (w->space != last)
				again |= mtag_account_look_at_limits(w->space, looks);
			last = w->space;
			cond_resched();
		}
		if (again && looks < MTAG_LOOKS)
			synchronize_rcu();
	}
}

static void reap_work(struct work_struct *work)
{
	struct watch *w, *next;
	LIST_HEAD(dead);

	take_closed();
	mutex_lock(&watch_lock);
	list_splice_init(&dead_watches, &dead);
	mutex_unlock(&watch_lock);
	if (list_empty(&dead))
		return;
	synchronize_rcu();
	list_for_each_entry(w, &dead, dead) {
		mtag_limit_gone(w->space, &w->limit);
		/* Waits for watch_woken(). */
		remove_wait_queue(w->head, &w->wait);
		cond_resched();
	}
	list_sort(NULL, &dead, by_space);
	compare_others(&dead);
	/* Some of @dead may have been closed meanwhile: off the list, before they are freed. */
	take_closed();
	list_for_each_entry_safe(w, next, &dead, dead) {
		watch_bury(w);
		cond_resched();
	}
	/* Others may have been closed, too. */
	if (!list_empty_careful(&dead_watches))
		queue_work(mtag_wq, &reaper);
}

/* The eventfd's wait queue is woken, with its lock held: by the last close, or by a signal. */
static int watch_woken(wait_queue_entry_t *wait, unsigned int mode, int flags, void *key)
{
	struct watch *w = container_of(wait, struct watch, wait);

	if (!(key_to_poll(key) & EPOLLHUP) || xchg(&w->hung_up, true))
		return 0;
	llist_add(&w->closed, &closed);
	queue_work(mtag_wq, &reaper);
	return 0;
}

static void watch_queue(struct file *file, wait_queue_head_t *head, poll_table *poll)
{
	struct watch *w = container_of(poll, struct watch, poll);

	w->head = head;
	add_wait_queue(head, &w->wait);
}

static struct watch *watch_alloc(struct mtag_space *s, u32 tag)
{
	char *path = kmalloc(MTAG_PATH_MAX, MTAG_GFP);
	struct watch *w = NULL;
	size_t bytes;
	int len;

	if (!path)
		return ERR_PTR(-ENOMEM);
	len = mtag_path_write(s->tree, tag, path, MTAG_PATH_MAX);
	if (len < 0)
		goto free;
	bytes = struct_size(w, path, len);
	if (mtag_memory_charge(bytes)) {
		len = -ENOMEM;
		goto free;
	}
	w = kzalloc(bytes, MTAG_GFP);
	if (!w) {
		mtag_memory_uncharge(bytes);
		len = -ENOMEM;
		goto free;
	}
	w->charged = bytes;
	memcpy(w->path, path, len);
free:
	kfree(path);
	return w ?: ERR_PTR(len);
}

static struct watch *watch_create(struct mtag_space *s, u32 tag, u64 bytes, struct eventfd_ctx *ctx,
				  struct pid *pid)
{
	struct watch *w = watch_alloc(s, tag);
	u64 most;

	if (IS_ERR(w))
		return w;
	/* An account has 32 bits: what it cannot hold is never reached. Rounding up cannot wrap. */
	most = min_t(u64, bytes, (u64)U32_MAX << PAGE_SHIFT);
	mtag_limit_init(&w->limit, tag, DIV_ROUND_UP_ULL(most, PAGE_SIZE));
	init_irq_work(&w->limit.signal, watch_signal);
	INIT_WORK(&w->tell, watch_tell);
	init_waitqueue_func_entry(&w->wait, watch_woken);
	init_poll_funcptr(&w->poll, watch_queue);
	w->space = s;
	w->ctx = ctx;
	w->pid = get_pid(pid);
	w->foreign = current->mm != READ_ONCE(s->mm);
	w->bytes = bytes;
	return w;
}

/*
 * The watch of @tag that signals @ctx, or NULL. @room: may there be another, set by the process
 * itself or, if @foreign, by another one?
 */
static struct watch *watches_find(struct mtag_space *s, u32 tag, const struct eventfd_ctx *ctx,
				  bool foreign, bool *room)
{
	unsigned int others = 0, strangers = 0;
	struct watch *w, *found = NULL;
	struct mtag_limit *l;

	lockdep_assert_held(&watch_lock);
	hlist_for_each_entry(l, &s->limits, node) {
		w = container_of(l, struct watch, limit);
		if (l->tag == tag && w->ctx == ctx) {
			found = w;
			continue;
		}
		others++;
		strangers += w->foreign;
	}
	*room = others < WATCHES_MAX && (!foreign || strangers < FOREIGN_MAX);
	return found;
}

/*
 * Puts @w, or with NULL nothing, in the place of the watch of @tag that signals @ctx. Return: 0,
 * and the caller must watch_replaced() *@old, unless it is NULL, after a grace period; or an error.
 */
static int watch_exchange(struct mtag_space *s, u32 tag, const struct eventfd_ctx *ctx,
			  struct watch *w, struct watch **old)
{
	bool room;
	int err = 0;

	*old = NULL;
	mutex_lock(&watch_lock);
	/* Pairs with mtag_watch_end(), which comes after the space was unhashed or parked. */
	if (!READ_ONCE(s->mm) || mtag_space_parked(s)) {
		err = -ESRCH;
		goto unlock;
	}
	*old = watches_find(s, tag, ctx, w && w->foreign, &room);
	if (*old)
		mtag_limit_del(&(*old)->limit);
	else if (!w)
		err = -ENOENT;
	else if (!room)
		err = -ENOSPC;
	if (!err && w)
		mtag_limit_add(s, &w->limit);
unlock:
	mutex_unlock(&watch_lock);
	return err;
}

/*
 * Frees a watch of @s that no event sees any longer: the caller will no longer be told of its
 * number. The reaper is not waited for, as others may keep it busy: the caller holds the eventfd
 * open, so the watch is in no list of closed ones. The caller then looks at the limits again.
 */
static void watch_replaced(struct mtag_space *s, struct watch *w)
{
	mtag_limit_gone(s, &w->limit);
	remove_wait_queue(w->head, &w->wait);
	cancel_work_sync(&w->tell);
	watch_free(w);
}

/**
 * mtag_watch_set() - begin, replace or end a watch
 * @s:		space
 * @tag:	id of a tag of the space
 * @bytes:	told when anon + file + shmem of @tag reach them; 0 ends the watch
 * @fd:		an eventfd of the current task
 * @pid:	of the process of @s
 *
 * Context: may sleep.
 * Return: 0; -EBADF or -EINVAL for @fd; -ENOENT if there is no watch to end; -ENOSPC; -ENOMEM;
 * -ESRCH if the space has ended.
 */
int mtag_watch_set(struct mtag_space *s, u32 tag, u64 bytes, int fd, struct pid *pid)
{
	struct file *file = eventfd_fget(fd);
	struct eventfd_ctx *ctx;
	struct watch *w = NULL, *old;
	int err;

	if (IS_ERR(file))
		return PTR_ERR(file);
	ctx = eventfd_ctx_fileget(file);
	if (bytes)
		w = watch_create(s, tag, bytes, ctx, pid);
	if (IS_ERR(w)) {
		err = PTR_ERR(w);
		goto put_ctx;
	}
	if (w)
		vfs_poll(file, &w->poll);
	err = watch_exchange(s, tag, ctx, w, &old);
	if (err && w) {
		remove_wait_queue(w->head, &w->wait);
		watch_free(w);
		fput(file);
		return err;
	}
	/* An event that began before and does not see the limit is in the counters after this. */
	if (w || old)
		synchronize_rcu();
	if (old)
		watch_replaced(s, old);
	mtag_account_check_limits(s);
put_ctx:
	if (!w || IS_ERR(w))
		eventfd_ctx_put(ctx);
	fput(file);
	return err;
}

/* Says in words why mtag_watch_set() failed with @err. */
const char *mtag_watch_why(int err)
{
	switch (err) {
	case -EBADF:
		return "limit-fd is not an open descriptor";
	case -EINVAL:
		return "limit-fd is not an eventfd";
	case -ENOENT:
		return "no such tag, or no limit of it to end";
	case -ENOSPC:
		return "the process has 64 limits already, or 32 that others have set";
	case -ESRCH:
		return "the process has ended, or is no longer tracked";
	default:
		return "out of memory, or mtag's limit is reached (max_memory_kb)";
	}
}

/**
 * mtag_watch_end() - end all watches of a space, and tell the waiters
 * @s:		a space that was unhashed or parked
 *
 * Does not wait for that. Context: may sleep.
 */
void mtag_watch_end(struct mtag_space *s)
{
	struct mtag_limit *l;
	struct hlist_node *next;
	bool any;

	mutex_lock(&watch_lock);
	any = !hlist_empty(&s->limits);
	hlist_for_each_entry_safe(l, next, &s->limits, node)
		watch_take(container_of(l, struct watch, limit), true);
	mutex_unlock(&watch_lock);
	if (any)
		queue_work(mtag_wq, &reaper);
}

/* Waits until the watches that have ended are gone. Context: may sleep. */
void mtag_watch_flush(void)
{
	flush_work(&reaper);
}
