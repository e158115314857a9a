// SPDX-License-Identifier: GPL-2.0
/*
 * Takes the last numbers of a process: while its last thread exits, and its pages are still there.
 *
 * No walk is made, and nothing is waited for: an exit that the OOM killer waits for must not wait
 * for us. What a walk would repair is marked as inexact.
 */
#include <linux/bitops.h>
#include <linux/cred.h>
#include <linux/math.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/user_namespace.h>
#include "account.h"
#include "compat/compat.h"
#include "final.h"
#include "history.h"
#include "mtag.h"
#include "path.h"
#include "sleep.h"
#include "space.h"
#include "state.h"
#include "tree.h"
#include "walk.h"

#define DIGIT_BITS	6
#define DIGITS		BIT(DIGIT_BITS)
#define PEAK_BITS	36	/* of the pages of any process; a multiple of DIGIT_BITS */
#define LITTLE_ROOM	(PAGE_SIZE - sizeof(struct mtag_past))

static const char hidden[] = "[hidden]";

/* ---- one tag ---- */

/* Reads the numbers of @tag; false if it owns nothing, and no peak was noticed. */
static bool tag_read(struct mtag_space *s, u32 tag, struct mtag_last *last)
{
	struct mtag_sum sum;
	int i;

	rcu_read_lock();
	mtag_account_read(rcu_dereference(s->accounts), tag, &sum);
	rcu_read_unlock();
	for (i = 0; i < MTAG_KINDS; i++)
		last->nr[i] = sum.nr[i];
	last->peak = min_t(u64, sum.peak, (1ULL << PEAK_BITS) - 1);
	return last->peak || last->nr[MTAG_SWAP];
}

static kuid_t euid(void)
{
	return task_cred_xxx(current->group_leader, euid);
}

/* The process may have another user's tag: by a number that it was told or made up. */
static bool is_hidden(struct mtag_space *s, u32 tag)
{
	return !mtag_tree_sees(s, tag, euid());
}

/**
 * struct parent - the tag above the last one that was measured, as many have the same
 * @id:		of that tag
 * @bytes:	of its path with a slash; 0 if @id is MTAG_ID_UNTAGGED
 */
struct parent {
	u32 id;
	int bytes;
};

/* The size of the path of @tag, or of what is written in its place. */
static int path_bytes(struct mtag_space *s, u32 tag, struct parent *parent)
{
	const struct mtag_node *node;
	int bytes = -ENOENT;

	rcu_read_lock();
	node = mtag_tree_node(s->tree, tag);
	if (node && !mtag_tree_sees_node(s, node, euid())) {
		bytes = sizeof(hidden);
	} else if (node) {
		if (node->parent != parent->id) {
			parent->id = node->parent;
			parent->bytes = parent->id == MTAG_ID_UNTAGGED ? 0 :
				       mtag_path_write(s->tree, parent->id, NULL, 0);
		}
		bytes = parent->bytes + node->len + 1;
	}
	rcu_read_unlock();
	return bytes < 0 ? mtag_path_write(s->tree, tag, NULL, 0) : bytes;
}

static size_t tag_bytes(struct mtag_space *s, u32 tag, struct parent *parent)
{
	return mtag_past_tag_bytes(path_bytes(s, tag, parent));
}

static void last_add(struct mtag_last *sum, const struct mtag_last *last)
{
	int i;

	for (i = 0; i < MTAG_KINDS; i++)
		sum->nr[i] += last->nr[i];
	sum->peak = max(sum->peak, last->peak);
}

/* ---- which tags ---- */

/**
 * struct weight - the memory of tags whose peaks have the same leading digits
 * @sum:	bytes of them all
 * @bytes:	by the next digit of the peak
 * @highest:	of their peaks
 */
struct weight {
	size_t sum;
	size_t bytes[DIGITS];
	u64 highest;
};

/* Weighs the tags whose peak has the digits of @cut above the one at @shift. */
static void weigh_tags(struct mtag_space *s, u64 cut, int shift, struct weight *w, bool sleeps)
{
	u32 tag, nr_tags = mtag_account_tags(s);
	struct parent parent = {};
	struct mtag_last last;
	size_t size;

	memset(w, 0, sizeof(*w));
	for (tag = MTAG_ID_UNTAGGED; tag < nr_tags; tag++) {
		if (sleeps)
			cond_resched();
		if (!tag_read(s, tag, &last) ||
		    (last.peak ^ cut) >> (shift + DIGIT_BITS))
			continue;
		size = tag_bytes(s, tag, &parent);
		w->bytes[last.peak >> shift & (DIGITS - 1)] += size;
		w->sum += size;
		w->highest = max(w->highest, last.peak);
	}
}

/**
 * struct choice - which tags are kept: those of the highest peaks
 * @room:	bytes that they take
 * @above:	bytes of those with a higher peak than @cut: all of them are kept
 * @cut:	of those with this peak some are kept, and of others none
 */
struct choice {
	size_t room;
	size_t above;
	u64 cut;
};

/* Chooses for at most @c->room bytes. */
static void choose_tags(struct mtag_space *s, struct choice *c, bool sleeps)
{
	int digit, shift = PEAK_BITS - DIGIT_BITS;
	size_t left = c->room;
	struct weight w;

	c->above = 0;
	c->cut = 0;
	weigh_tags(s, 0, shift, &w, sleeps);
	if (w.sum <= c->room) {
		c->room = w.sum;
		return;
	}
	/* Each digit takes a look at all tags: begin with the first that is not 0 everywhere. */
	shift = roundup(fls64(w.highest | 1), DIGIT_BITS);
	/* Digit by digit: at which one do those above it still fit? */
	while (shift) {
		shift -= DIGIT_BITS;
		weigh_tags(s, c->cut, shift, &w, sleeps);
		for (digit = DIGITS - 1; digit > 0 && w.bytes[digit] <= left; digit--)
			left -= w.bytes[digit];
		c->cut |= (u64)digit << shift;
	}
	c->above = c->room - left;
}

/* ---- the entry ---- */

/* Returns false if there is no room: a relative may have renamed the tag since it was measured. */
static bool past_put_tag(struct mtag_past *p, struct mtag_space *s, u32 tag,
			 const struct mtag_last *last)
{
	size_t room = p->bytes - sizeof(*p) - p->used;
	struct mtag_past_tag *t = (void *)p->tags + p->used;
	bool hides = is_hidden(s, tag);
	int size = sizeof(hidden);

	if (!hides)
		size = mtag_path_write(s->tree, tag, t->path, room - sizeof(*t));
	if (size < 0 || mtag_past_tag_bytes(size) > room)
		return false;
	if (hides)
		memcpy(t->path, hidden, sizeof(hidden));
	t->last = *last;
	t->id = tag;
	t->size = size;
	p->used += mtag_past_tag_bytes(size);
	p->nr_tags++;
	return true;
}

/* Adds the chosen tags, and sums up the others. Numbers may have changed since the choice. */
static void past_put_tags(struct mtag_past *p, struct mtag_space *s, const struct choice *c,
			  bool sleeps)
{
	size_t size, above = c->above, room = p->bytes - sizeof(*p);
	u32 tag, nr_tags = mtag_account_tags(s);
	struct parent parent = {};
	struct mtag_last last;

	for (tag = MTAG_ID_UNTAGGED; tag < nr_tags; tag++) {
		if (sleeps)
			cond_resched();
		if (!tag_read(s, tag, &last))
			continue;
		last_add(&p->total, &last);
		size = tag_bytes(s, tag, &parent);
		/* Room for those above the cut is kept until they come. */
		if (last.peak > c->cut)
			above -= min(above, size);
		if (last.peak < c->cut || p->used + above + size > room ||
		    !past_put_tag(p, s, tag, &last)) {
			last_add(&p->others, &last);
			p->nr_others++;
		}
	}
}

/* As wait(2) will give it: see wait_task_zombie() of the kernel. */
static u32 wait_status(void)
{
	const struct signal_struct *sig = current->signal;

	return sig->flags & SIGNAL_GROUP_EXIT ? sig->group_exit_code :
						current->group_leader->exit_code;
}

/*
 * Whose process it is: the rules of ptrace_may_access(), with what they will be applied to. Each
 * thread has credentials of its own. /proc/PID/smaps is judged by those of the thread group leader,
 * no matter which thread ends last; even if it has ended itself, it keeps them until all have.
 * @mm's user namespace alone decides where the process is not dumpable: it is that of the
 * credentials, or one above it.
 */
static void put_access(struct mtag_past *p, struct mm_struct *mm)
{
	const struct cred *cred = get_task_cred(current->group_leader);
	struct user_namespace *ns;
	bool dumpable;

	ns = mtag_leaving_user_ns(mm, &dumpable);
	p->uid = INVALID_UID;
	p->gid = INVALID_GID;
	p->caps = cred->cap_permitted;
	p->user_ns = get_user_ns(dumpable ? cred->user_ns : ns);
	if (dumpable && uid_eq(cred->uid, cred->euid) && uid_eq(cred->uid, cred->suid) &&
	    gid_eq(cred->gid, cred->egid) && gid_eq(cred->gid, cred->sgid)) {
		p->uid = cred->uid;
		p->gid = cred->gid;
	}
	put_user_ns(ns);
	put_cred(cred);
}

static void put_process(struct mtag_past *p, struct mtag_space *s, struct mm_struct *mm)
{
	struct pid *pid = task_tgid(current);

	p->ended = ktime_get_real_ns();
	p->ran = ktime_get_boottime_ns() - current->group_leader->start_boottime;
	p->nr = pid->numbers[0].nr;
	p->pid = pid->level ? get_pid(pid) : NULL;
	strscpy_pad(p->comm, current->group_leader->comm, sizeof(p->comm));
	p->status = wait_status();
	p->oom = READ_ONCE(s->oom) && (p->status & 0x7f) == SIGKILL;
	p->reaped = mtag_mm_reaped(mm);
	p->inexact = mtag_space_wrong(s) || !READ_ONCE(s->live) ||
		     atomic_read(&s->migration.charged) || atomic_read(&s->migration.uncharged);
	p->lost = atomic64_read(&s->lost);
	p->overflow = atomic64_read(&s->overflow);
	p->repairs = atomic64_read(&s->repairs);
	put_access(p, mm);
}

/* Allocates an entry, and chooses the tags for it. If there is no room for all, a page will do. */
static struct mtag_past *alloc_past(struct mtag_space *s, struct choice *c, gfp_t gfp, bool sleeps)
{
	struct mtag_past *p;

	c->room = mtag_history_room();
	choose_tags(s, c, sleeps);
	p = mtag_history_alloc(c->room, gfp);
	if (p || c->room <= LITTLE_ROOM)
		return p;
	c->room = LITTLE_ROOM;
	choose_tags(s, c, sleeps);
	return mtag_history_alloc(c->room, gfp);
}

static bool take_past(struct mtag_space *s, struct mm_struct *mm, gfp_t gfp, bool sleeps)
{
	struct choice c;
	struct mtag_past *p = alloc_past(s, &c, gfp, sleeps);

	if (!p)
		return false;
	put_process(p, s, mm);
	past_put_tags(p, s, &c, sleeps);
	/* The OOM reaper unmaps pages without updating the kernel's high-water mark. */
	p->total.peak = max3(p->total.peak, (u64)READ_ONCE(mm->hiwater_rss),
			     p->total.nr[MTAG_ANON] + p->total.nr[MTAG_FILE] +
				     p->total.nr[MTAG_SHMEM]);
	mtag_history_add(p);
	return true;
}

/**
 * mtag_final_take() - remember the process of a space, which ends
 * @s:		the space
 * @mm:		its mm, which the current task, the last of its process, leaves
 *
 * Out of memory, the process is counted as lost to the ledger. A task that the OOM killer has
 * chosen may use reserves.
 * Context: hook of an exiting task.
 */
void mtag_final_take(struct mtag_space *s, struct mm_struct *mm)
{
	bool sleeps;

	if (!mtag_history_wanted())
		return;
	sleeps = mtag_sleep_begin();
	if (sleeps)
		mtag_walk_verify();
	if ((IS_ENABLED(CONFIG_PREEMPT_RT) && !sleeps) ||
	    !take_past(s, mm, (sleeps ? GFP_KERNEL | __GFP_NORETRY : GFP_NOWAIT) | __GFP_NOWARN,
		       sleeps))
		mtag_history_lost();
	if (sleeps)
		mtag_sleep_end();
}
