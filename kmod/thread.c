// SPDX-License-Identifier: GPL-2.0
/*
 * Current tags: which word a thread keeps its tag in, what it inherited, and
 * whose memory a task is zapping. Where that is kept is record.c's, the pages of
 * the words are pin.c's.
 */
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include "account.h"
#include "later.h"
#include "mtag.h"
#include "pin.h"
#include "record.h"
#include "space.h"
#include "stat.h"
#include "state.h"
#include "thread.h"

DEFINE_PER_CPU(struct mtag_cpu, mtag_cpu);

static atomic_t forgotten;

/*
 * No record may enter a space behind mtag_thread_end_space(), which comes after
 * what this looks at has changed. Context: mtag_record_lock.
 */
static bool space_ending(const struct mtag_space *s)
{
	return !READ_ONCE(s->mm) || mtag_space_parked(s);
}

/* The word or tag of @t means something in @s from here on. Context: mtag_record_lock. */
static void word_enter(struct mtag_thread *t, struct mtag_space *s)
{
	list_move(&t->of_space, &s->threads);
	WRITE_ONCE(t->space, s);
}

/*
 * The word or tag of @t means nothing any more. Context: mtag_record_lock; the
 * caller calls word_released() with what this returns, once it has unlocked.
 */
static struct mtag_pin *word_leave(struct mtag_thread *t)
{
	struct mtag_space *s = t->space;
	struct mtag_pin *pin = t->pin;

	list_del_init(&t->of_space);
	WRITE_ONCE(t->space, NULL);
	WRITE_ONCE(t->word, &t->inherited);
	WRITE_ONCE(t->pin, NULL);
	t->user = 0;
	return pin ? mtag_pin_put(s, pin) : NULL;
}

/* CPUs forget what they know of @task, whose record has changed. */
static void cpus_forget(const struct task_struct *task)
{
	struct task_struct **known;
	int cpu;

	atomic_inc(&forgotten);
	/* Pairs with mtag_thread_tag(): it sees the count, or this what it wrote. */
	smp_mb__after_atomic();
	for_each_possible_cpu(cpu) {
		known = &per_cpu(mtag_cpu, cpu).task;
		if (READ_ONCE(*known) == task)
			cmpxchg(known, (struct task_struct *)task, NULL);
	}
}

/* The record of @task has changed, and @pin, if not NULL, is without use. */
static void word_released(const struct task_struct *task, struct mtag_pin *pin)
{
	cpus_forget(task);
	if (pin)
		mtag_pin_unpin(pin);
}

/* What mtag_thread_tag() finds out once for each task that a CPU runs. Preemption is disabled. */
static const u32 *find_word(struct mtag_cpu *cpu, struct mtag_space *s)
{
	struct mtag_thread *t;
	const u32 *word;
	int seq;

	if (!current->mm || current->mm != READ_ONCE(s->mm))
		return &s->default_tag;
	WRITE_ONCE(cpu->task, NULL);
	cpu->space = s;
	seq = atomic_read(&forgotten);
	smp_rmb();	/* pairs with cpus_forget(): counted after it changed the record */
	t = mtag_record_find(current);
	word = t && READ_ONCE(t->space) == s ? READ_ONCE(t->word) : &s->default_tag;
	cpu->word = word;
	/* Pairs with cpus_forget(): last, so that no half of it can be used. */
	WRITE_ONCE(cpu->task, current);
	/* What cpus_forget() came too early for is good for this time only. */
	smp_mb();
	if (unlikely(atomic_read(&forgotten) != seq))
		WRITE_ONCE(cpu->task, NULL);
	return word;
}

/**
 * mtag_thread_tag() - the current tag of the running thread for @s
 * @s:		space
 *
 * That of the process when the thread has none, and when the thread is not of
 * that process: a debugger, a monitor or a kernel thread never lends its tag.
 * Context: any but interrupts.
 */
u32 mtag_thread_tag(struct mtag_space *s)
{
	struct mtag_cpu *cpu;
	u32 tag, nr_tags;

	/* A page-table lock alone does not keep others off this CPU on PREEMPT_RT. */
	preempt_disable();
	cpu = this_cpu_ptr(&mtag_cpu);
	if (cpu->task == current && cpu->space == s)
		tag = READ_ONCE(*cpu->word);
	else
		tag = READ_ONCE(*find_word(cpu, s));
	nr_tags = READ_ONCE(rcu_dereference_raw(s->accounts)->nr_tags);
	if (unlikely(tag >= nr_tags || tag == MTAG_ID_KSM)) {
		atomic64_inc(&mtag_stat.bad_word);
		tag = MTAG_ID_UNTAGGED;
	}
	/* The word is the user's. */
	tag = array_index_nospec(tag, nr_tags);
	preempt_enable();
	return tag;
}

/* The current thread's tag is at @word from here on; uses up *@spare and *@pin if need be. */
static int word_attach(struct mtag_space *s, struct mtag_thread **spare, struct mtag_pin **pin,
		       unsigned long word)
{
	struct mtag_pin *mine, *unused;
	struct mtag_thread *t;

	raw_spin_lock(&mtag_record_lock);
	if (space_ending(s) || READ_ONCE(s->mm) != current->mm) {
		raw_spin_unlock(&mtag_record_lock);
		return -ESRCH;
	}
	mine = mtag_pin_get(s, pin);
	if (!mine) {
		raw_spin_unlock(&mtag_record_lock);
		return -EAGAIN;
	}
	t = mtag_record_get(spare);
	unused = word_leave(t);
	t->pin = mine;
	t->user = word;
	t->word = mtag_pin_word(mine, word);
	word_enter(t, s);
	raw_spin_unlock(&mtag_record_lock);
	word_released(current, unused);
	return 0;
}

static int word_detach(struct mtag_space *s, u32 *tag)
{
	struct mtag_pin *unused = NULL;
	struct mtag_thread *t;

	raw_spin_lock(&mtag_record_lock);
	t = mtag_record_find(current);
	if (t && t->space == s)
		unused = word_leave(t);
	raw_spin_unlock(&mtag_record_lock);
	word_released(current, unused);
	*tag = mtag_thread_tag(s);
	return 0;
}

/**
 * mtag_thread_register() - the current thread keeps its tag at @word
 * @s:		space of the current process
 * @word:	user address; 0: it has no tag of its own any more
 * @tag:	the tag it has now, stored in the word as well
 *
 * Context: may sleep.
 * Return: 0; -EINVAL, -EFAULT; -ENOMEM, also at RLIMIT_MEMLOCK; -ESRCH if it
 * has just been untracked.
 */
int mtag_thread_register(struct mtag_space *s, unsigned long word, u32 *tag)
{
	struct mtag_thread *spare;
	struct mtag_pin *pin;
	int ret;

	if (!word)
		return word_detach(s, tag);
	if (word % sizeof(u32))
		return -EINVAL;
	if (!access_ok((void __user *)word, sizeof(u32)))
		return -EFAULT;
	pin = mtag_pin_make(word);
	if (IS_ERR(pin))
		return PTR_ERR(pin);
	ret = -ENOMEM;
	spare = mtag_record_alloc(current, MTAG_GFP);
	if (spare) {
		*tag = mtag_thread_tag(s);
		*mtag_pin_word(pin, word) = *tag;
		ret = word_attach(s, &spare, &pin, word);
		/* No other thread has that page yet. */
		if (ret == -EAGAIN)
			ret = mtag_pin_count(pin, s) ?: word_attach(s, &spare, &pin, word);
	}
	mtag_record_free(spare);
	if (pin)
		mtag_pin_free(pin);
	return ret;
}

/* Context: mtag_record_lock. */
static int set_tag(struct mtag_space *s, struct mtag_thread **spare, u32 tag)
{
	struct task_struct *task = (*spare)->task;
	struct mtag_thread *t;

	if (space_ending(s) || READ_ONCE(s->mm) != READ_ONCE(task->mm))
		return 0;
	t = mtag_record_get(spare);
	/* Pairs with mtag_thread_end(): that sees the record, or this what it is about. */
	smp_mb();
	if (READ_ONCE(task->flags) & PF_EXITING) {
		/* Another task may get its address. */
		if (!*spare) {
			mtag_record_del(t);
			*spare = t;
		}
		return 0;
	}
	if (t->pin)
		return -EBUSY;
	WRITE_ONCE(t->inherited, tag);
	word_enter(t, s);
	return 0;
}

/**
 * mtag_thread_set() - @task, which has no word, has @tag from now on
 * @s:		space of the process of @task
 * @task:	a thread; the caller has a reference
 * @tag:	id, with an account in @s
 *
 * Context: may sleep.
 * Return: 0, also if it is exiting; -EBUSY if it has a word; -ENOMEM.
 */
int mtag_thread_set(struct mtag_space *s, struct task_struct *task, u32 tag)
{
	struct mtag_thread *spare = mtag_record_alloc(task, MTAG_GFP);
	int ret;

	if (!spare)
		return -ENOMEM;
	raw_spin_lock(&mtag_record_lock);
	ret = set_tag(s, &spare, tag);
	raw_spin_unlock(&mtag_record_lock);
	cpus_forget(task);
	mtag_record_free(spare);
	return ret;
}

/**
 * mtag_thread_fork() - the current thread forks @parent; its child will run in @child
 * @parent:	space
 * @child:	space, new; keeps the tag and the word for mtag_thread_start()
 *
 * Context: any.
 */
void mtag_thread_fork(struct mtag_space *parent, struct mtag_space *child)
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

/* The forked child's own copy of the word takes over before it runs. */
static void first_return(struct mtag_later *later, bool runs)
{
	struct first_return *f = container_of(later, struct first_return, later);
	struct mtag_space *s = runs && current->mm ? mtag_space_lookup(current->mm) : NULL;
	int ret;
	u32 tag;

	if (s) {
		ret = mtag_thread_register(s, f->user, &tag);
		/*
		 * The page may not have been forked: then the child has no word yet. One that
		 * is killed before it has run needs none.
		 */
		if (ret && ret != -EFAULT && ret != -EINVAL && ret != -ESRCH &&
		    !fatal_signal_pending(current))
			mtag_space_lost(s, 1);
		mtag_space_put(s);
	}
	kfree(f);
}

/* Has the forked @child register its copy of its parent's word. */
static void register_later(struct mtag_space *s, struct task_struct *child, gfp_t gfp)
{
	struct first_return *f = gfp ? kmalloc(sizeof(*f), gfp) : NULL;

	if (!f) {
		mtag_space_lost(s, 1);
		return;
	}
	f->user = s->fork.user;
	if (!mtag_later(child, &f->later, first_return))
		kfree(f);
}

/* The creator's word, which a vfork child shares; false if it has none. Under mtag_record_lock. */
static bool share_word(struct mtag_thread *t, struct mtag_space *s)
{
	struct mtag_thread *creator = mtag_record_find(current);

	if (!creator || creator->space != s || !creator->pin)
		return false;
	t->pin = mtag_pin_share(creator->pin);
	t->user = creator->user;
	t->word = creator->word;
	return true;
}

/* @child's record, by *@spare. */
static void record_child(struct mtag_space *s, struct task_struct *child,
			 struct mtag_thread **spare, bool vforked, u32 tag)
{
	struct mtag_pin *unused = NULL;
	struct mtag_thread *t;

	raw_spin_lock(&mtag_record_lock);
	if (!space_ending(s)) {
		t = mtag_record_get(spare);
		unused = word_leave(t);
		if (!vforked || !share_word(t, s))
			t->inherited = tag;
		word_enter(t, s);
	}
	raw_spin_unlock(&mtag_record_lock);
	/* A CPU may remember another task that was at the same address. */
	word_released(child, unused);
}

/**
 * mtag_thread_start() - @child is about to run in @s, created by the current thread
 * @s:		space of @child
 * @child:	has not run yet; a thread, a vfork child or a forked process
 * @gfp:	as the caller may allocate; 0: not at all
 *
 * Context: as @gfp says; @s stays.
 */
void mtag_thread_start(struct mtag_space *s, struct task_struct *child, gfp_t gfp)
{
	bool same_mm = child->mm == current->mm;
	bool vforked = same_mm && child->tgid != current->tgid;
	u32 tag = same_mm ? mtag_thread_tag(s) : s->fork.tag;
	struct mtag_thread *spare;

	/* Who has the process's default tag needs no record. */
	if (tag == READ_ONCE(s->default_tag) && !(same_mm ? vforked : !!s->fork.user))
		return;
	spare = gfp ? mtag_record_alloc(child, gfp) : NULL;
	if (!spare) {
		mtag_space_lost(s, 1);
		return;
	}
	record_child(s, child, &spare, vforked, tag);
	mtag_record_free(spare);
	if (!same_mm && s->fork.user)
		register_later(s, child, gfp);
}

/* @task is exiting or has started another program. Context: any but interrupts. */
void mtag_thread_end(struct task_struct *task)
{
	struct mtag_pin *unused = NULL;
	struct mtag_thread *t;
	bool had_word = false;

	/* Pairs with set_tag(): this sees the record, or that what @task is about. */
	smp_mb();
	if (!mtag_record_may_have(task))
		return;
	raw_spin_lock(&mtag_record_lock);
	t = mtag_record_find(task);
	if (t) {
		/* Else no CPU knows a word of it. */
		had_word = t->space;
		unused = word_leave(t);
		mtag_record_del(t);
	}
	raw_spin_unlock(&mtag_record_lock);
	if (had_word)
		word_released(task, unused);
	mtag_record_free(t);
}

/**
 * mtag_thread_end_space() - no thread has a word or tag of @s any more
 * @s:		space that is hashed no more, or parked
 *
 * Context: may sleep.
 */
void mtag_thread_end_space(struct mtag_space *s)
{
	struct mtag_pin *unused = NULL;
	struct task_struct *task = NULL;
	struct mtag_thread *t;

	do {
		/* One by one: others want the lock, too. */
		raw_spin_lock(&mtag_record_lock);
		t = list_first_entry_or_null(&s->threads, struct mtag_thread, of_space);
		if (t) {
			task = t->task;
			unused = word_leave(t);
		}
		raw_spin_unlock(&mtag_record_lock);
		/* The task may have ended by now: it is only compared. */
		if (t)
			word_released(task, unused);
		cond_resched();
	} while (t);
}

/* Context: may sleep; no hook is in and no space left. */
void mtag_thread_exit(void)
{
	/* Nobody makes a record any more. */
	mtag_record_each(mtag_thread_end);
	/* The callbacks queue work, and the work must be done. */
	rcu_barrier();
	flush_workqueue(mtag_wq);
}
