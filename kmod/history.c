// SPDX-License-Identifier: GPL-2.0
/*
 * The ledger of processes that ended: keeps their last numbers until they are read, within a
 * bound. The oldest are dropped first.
 *
 * Processes that were killed and those that exited may each fill the ledger alone, but neither
 * can displace the other from its half: a shell script's thousand children must not make us
 * forget whom the OOM killer killed a minute ago.
 */
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/user_namespace.h>
#include "history.h"
#include "mtag.h"
#include "stat.h"

/* A kept namespace counts against the limits of its user: keep few of those that may be gone. */
#define CONFINED_MOST	512

#define ENTRY_LEAST	512

/* The sorts of entries: killed or not, and whether they hold a namespace. */
enum { KILLED = 1, CONFINED = 2, SORTS = 4 };

/**
 * struct sort - the entries of one sort
 * @list:	by mtag_past.sort, the oldest first
 * @bytes:	of their memory
 * @nr:		how many
 */
struct sort {
	struct list_head list;
	size_t bytes;
	unsigned int nr;
};

#define SORT(_i) { .list = LIST_HEAD_INIT(sorts[_i].list) }

/* All of this, and the lists of each entry. Not taken in interrupts. */
static DEFINE_SPINLOCK(history_lock);
static LIST_HEAD(ledger);
static struct sort sorts[SORTS] = { SORT(0), SORT(1), SORT(2), SORT(3) };
static u64 last_id;
static bool is_open;	/* the module is loaded, and not being unloaded */
static size_t held;	/* what mtag_stat.memory has of @history_kb */

static unsigned int history_kb = 1024;

static size_t bytes_allowed(void)
{
	return is_open ? (size_t)READ_ONCE(history_kb) << 10 : 0;
}

static int sort_of(const struct mtag_past *p)
{
	return (p->status & 0x7f ? KILLED : 0) | (p->pid || p->user_ns != &init_user_ns ?
						  CONFINED : 0);
}

static void past_free(struct mtag_past *p)
{
	put_pid(p->pid);
	put_user_ns(p->user_ns);
	kfree(p);
}

static void past_release(struct kref *ref)
{
	past_free(container_of(ref, struct mtag_past, ref));
}

/* Drops a reference. Context: any but interrupts, where spinlocks may be taken. */
void mtag_history_put(struct mtag_past *p)
{
	if (p)
		kref_put(&p->ref, past_release);
}

/* ---- the lists: all under history_lock ---- */

static void list_in(struct mtag_past *p)
{
	struct sort *sort = &sorts[sort_of(p)];

	lockdep_assert_held(&history_lock);
	p->id = ++last_id;
	p->listed = true;
	list_add_tail(&p->order, &ledger);
	list_add_tail(&p->sort, &sort->list);
	sort->bytes += p->bytes;
	sort->nr++;
	atomic64_inc(&mtag_stat.history);
}

/* Takes @p out of the ledger and into @gone, for put_all(). */
static void list_out(struct mtag_past *p, struct list_head *gone)
{
	struct sort *sort = &sorts[sort_of(p)];

	lockdep_assert_held(&history_lock);
	p->listed = false;
	list_del(&p->order);
	list_move_tail(&p->sort, gone);
	sort->bytes -= p->bytes;
	sort->nr--;
	atomic64_dec(&mtag_stat.history);
}

/* The older of the first entries of two sorts; NULL if there is none. */
static struct mtag_past *oldest_entry(int a, int b)
{
	struct mtag_past *p = list_first_entry_or_null(&sorts[a].list, struct mtag_past, sort);
	struct mtag_past *q = list_first_entry_or_null(&sorts[b].list, struct mtag_past, sort);

	lockdep_assert_held(&history_lock);
	if (!p || !q)
		return p ?: q;
	return p->id < q->id ? p : q;
}

/* Drops the oldest entry of two sorts that has to go: a killed one, if these exceed their half. */
static void drop_oldest(bool killed, int a, int b, struct list_head *gone)
{
	int which = killed ? KILLED : 0;

	list_out(oldest_entry(which | a, which | b), gone);
	atomic64_inc(&mtag_stat.history_dropped);
}

/* Keeps to the limits: more than a limit is more than half of it in one of the two. */
static void trim_entries(struct list_head *gone)
{
	size_t most = bytes_allowed(), killed, exited;

	lockdep_assert_held(&history_lock);
	while (sorts[CONFINED].nr + sorts[CONFINED | KILLED].nr > CONFINED_MOST)
		drop_oldest(sorts[CONFINED | KILLED].nr > CONFINED_MOST / 2, CONFINED, CONFINED,
			    gone);
	for (;;) {
		killed = sorts[KILLED].bytes + sorts[KILLED | CONFINED].bytes;
		exited = sorts[0].bytes + sorts[CONFINED].bytes;
		if (killed + exited <= most)
			break;
		drop_oldest(killed > most / 2, 0, CONFINED, gone);
	}
}

/* ---- what the others call ---- */

static void put_all(struct list_head *gone)
{
	struct mtag_past *p, *next;

	list_for_each_entry_safe(p, next, gone, sort)
		mtag_history_put(p);
}

/* Are ended processes to be remembered? Context: any. */
bool mtag_history_wanted(void)
{
	return READ_ONCE(is_open) && READ_ONCE(history_kb);
}

/* The most bytes that mtag_history_alloc() may be asked for: a quarter of the bound. */
size_t mtag_history_room(void)
{
	size_t most = min_t(size_t, ((size_t)READ_ONCE(history_kb) << 10) / 4, MTAG_PAST_MOST);

	return rounddown_pow_of_two(max_t(size_t, most, ENTRY_LEAST)) - sizeof(struct mtag_past);
}

/* Counts a process that ended and could not be remembered. Context: any. */
void mtag_history_lost(void)
{
	atomic64_inc(&mtag_stat.history_lost);
}

/**
 * mtag_history_alloc() - allocate an entry
 * @room:	bytes for its tags, at most mtag_history_room()
 * @gfp:	allocation flags of the caller's context
 *
 * It is not charged to a memory cgroup: it outlives the process, whose cgroup may be at its limit.
 * Its size is that of the slab, so that the number of entries in the ledger does not tell how long
 * the names of another user's tags are.
 * Return: the entry with zeroed members, for mtag_history_add(); or NULL.
 */
struct mtag_past *mtag_history_alloc(size_t room, gfp_t gfp)
{
	size_t bytes = roundup_pow_of_two(max_t(size_t, sizeof(struct mtag_past) + room,
						ENTRY_LEAST));
	struct mtag_past *p = kzalloc(bytes, gfp);

	if (p) {
		kref_init(&p->ref);
		p->bytes = bytes;
	}
	return p;
}

/* Adds a complete entry, and drops others for it. Context: may take spinlocks. */
void mtag_history_add(struct mtag_past *p)
{
	LIST_HEAD(gone);

	spin_lock(&history_lock);
	list_in(p);
	trim_entries(&gone);
	spin_unlock(&history_lock);
	put_all(&gone);
}

/**
 * mtag_history_next() - go through the ledger, the oldest first
 * @prev:	the previous entry, whose reference is dropped; NULL to begin
 *
 * Return: the next entry with a reference, or NULL at the end.
 */
struct mtag_past *mtag_history_next(struct mtag_past *prev)
{
	struct mtag_past *p, *found = NULL;

	spin_lock(&history_lock);
	/* Go on after @prev, or, if it was dropped, at the first that is younger. */
	p = prev && prev->listed ? prev : list_entry(&ledger, struct mtag_past, order);
	list_for_each_entry_continue(p, &ledger, order) {
		if (!prev || p->id > prev->id) {
			kref_get(&p->ref);
			found = p;
			break;
		}
	}
	spin_unlock(&history_lock);
	mtag_history_put(prev);
	return found;
}

/* Forgets all entries, which are not counted as dropped. Context: may sleep. */
void mtag_history_clear(void)
{
	struct mtag_past *p, *next;
	LIST_HEAD(gone);

	spin_lock(&history_lock);
	list_for_each_entry_safe(p, next, &ledger, order)
		list_out(p, &gone);
	spin_unlock(&history_lock);
	put_all(&gone);
}

/* ---- the parameter; the beginning and the end ---- */

/* The bound is held from the beginning, so that the module's memory tells nothing of others. */
static void hold_bound(void)
{
	LIST_HEAD(gone);
	size_t now;

	spin_lock(&history_lock);
	now = bytes_allowed();
	atomic64_add((s64)now - (s64)held, &mtag_stat.memory);
	held = now;
	trim_entries(&gone);
	spin_unlock(&history_lock);
	put_all(&gone);
}

static int set_history_kb(const char *val, const struct kernel_param *kp)
{
	int ret = param_set_uint_minmax(val, kp, 0, U32_MAX >> 10);

	if (!ret)
		hold_bound();
	return ret;
}

static const struct kernel_param_ops history_kb_ops = {
	.set = set_history_kb,
	.get = param_get_uint,
};

module_param_cb(history_kb, &history_kb_ops, &history_kb, 0644);
__MODULE_PARM_TYPE(history_kb, "uint");
MODULE_PARM_DESC(history_kb, "KiB for the last numbers of processes that ended; 0: none are kept (1024)");

static void set_open(bool now)
{
	spin_lock(&history_lock);
	WRITE_ONCE(is_open, now);
	spin_unlock(&history_lock);
	hold_bound();
}

/* Remembers processes that end from here on. Context: the self-test is over. */
int mtag_history_open(void)
{
	set_open(true);
	return 0;
}

/* Context: no hook is installed, and no reader is left. */
void mtag_history_close(void)
{
	set_open(false);
	mtag_history_clear();
}
