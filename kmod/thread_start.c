// SPDX-License-Identifier: GPL-2.0
/*
 * The tags that new threads and processes begin with: their own, or those of whoever creates them.
 */
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include "later.h"
#include "mtag.h"
#include "pin.h"
#include "record.h"
#include "space.h"
#include "state.h"
#include "thread.h"
#include "thread_start.h"

/**
 * mtag_thread_start_fork() - note what a forked child inherits from the current thread
 * @parent:	space of the current process
 * @child:	new space of the child; keeps the tag and the word for mtag_thread_start()
 *
 * Context: any.
 */
void mtag_thread_start_fork(struct mtag_space *parent, struct mtag_space *child)
{
	struct mtag_thread *t;

	child->fork.tag = mtag_thread_tag(parent);
	rcu_read_lock();
	t = mtag_record_find(current);
	if (t && READ_ONCE(t->space) == parent && READ_ONCE(t->pin))
		child->fork.user = READ_ONCE(t->user);
	rcu_read_unlock();
}

struct first_return {
	struct mtag_later later;
	unsigned long user;
};

/* Runs in the forked child before it returns to user space: its own copy of the word takes over. */
static void first_return(struct mtag_later *later, bool runs)
{
	struct first_return *f = container_of(later, struct first_return, later);
	struct mtag_space *s = runs ? mtag_space_mine() : NULL;
	int ret;
	u32 tag;

	if (s) {
		ret = mtag_thread_register(s, f->user, &tag);
		/*
		 * The fork may not have copied the page: then the child has no word yet. A child
		 * that is killed before it has run needs none.
		 */
		if (ret && ret != -EFAULT && ret != -EINVAL && ret != -ESRCH &&
		    !fatal_signal_pending(current))
			mtag_space_add_lost(s, 1);
		mtag_space_put(s);
	}
	kfree(f);
}

/* Makes the forked @child register its copy of its parent's word. */
static void register_later(struct mtag_space *s, struct task_struct *child, gfp_t gfp)
{
	struct first_return *f = gfp ? kmalloc(sizeof(*f), gfp) : NULL;

	if (!f) {
		mtag_space_add_lost(s, 1);
		return;
	}
	f->user = s->fork.user;
	if (!mtag_later(child, &f->later, first_return))
		kfree(f);
}

/*
 * Shares the word of the current thread with its vfork child; false if it has none.
 * Context: mtag_record_lock.
 */
static bool share_word(struct mtag_thread *t, struct mtag_space *s)
{
	struct mtag_thread *creator = mtag_record_find(current);

	lockdep_assert_held(&mtag_record_lock);
	if (!creator || creator->space != s || !creator->pin)
		return false;
	t->pin = mtag_pin_share(creator->pin);
	WRITE_ONCE(t->user, creator->user);
	t->word = creator->word;
	return true;
}

/* Sets up the record of @child, unless the space is ending. May use up *@spare. */
static bool record_child(struct mtag_space *s, struct task_struct *child,
			 struct mtag_thread **spare, bool vforked, u32 tag, u32 own)
{
	struct mtag_pin *unused = NULL;
	struct mtag_thread *t;
	bool stays;

	raw_spin_lock(&mtag_record_lock);
	stays = !mtag_thread_is_closed(s);
	if (stays) {
		t = mtag_record_get(spare);
		unused = mtag_thread_leave(t);
		if (!vforked || !share_word(t, s))
			t->inherited = tag;
		t->own = own;
		mtag_thread_enter(t, s);
	}
	raw_spin_unlock(&mtag_record_lock);
	/* A CPU may have cached another task that had the same address. */
	mtag_thread_released(child, unused);
	return stays;
}

/**
 * mtag_thread_start() - set up the tag of a task that the current thread has created
 * @s:		space of @child
 * @child:	has not run yet; a thread, a vfork child or a forked process
 * @own:	tag that was made for it alone; 0: it inherits one
 * @gfp:	allocation flags of the caller's context; 0: do not allocate
 *
 * Context: as @gfp says; @s stays.
 * Return: does the record of @child have @own? If not, nobody else says that this tag has ended.
 */
bool mtag_thread_start(struct mtag_space *s, struct task_struct *child, u32 own, gfp_t gfp)
{
	bool same_mm = child->mm == current->mm;
	bool vforked = same_mm && child->tgid != current->tgid;
	u32 tag = own ?: same_mm ? mtag_thread_tag(s) : s->fork.tag;
	struct mtag_thread *spare;
	bool recorded;

	/* A child with the process's default tag, and no word to take over, needs no record. */
	if (tag == READ_ONCE(s->default_tag) && !(same_mm ? vforked : !!s->fork.user))
		return false;
	spare = gfp ? mtag_record_alloc(child, gfp) : NULL;
	if (!spare) {
		mtag_space_add_lost(s, 1);
		return false;
	}
	recorded = record_child(s, child, &spare, vforked, tag, own);
	mtag_record_free(spare);
	if (!same_mm && s->fork.user)
		register_later(s, child, gfp);
	return recorded;
}
