// SPDX-License-Identifier: GPL-2.0
/*
 * Current tags of threads: the word that a thread keeps its tag in, or the tag
 * that it inherited. record.c keeps the records, pin.c the pages of the words.
 */
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include "account.h"
#include "mtag.h"
#include "pin.h"
#include "record.h"
#include "space.h"
#include "stat.h"
#include "state.h"
#include "thread.h"
#include "word.h"

DEFINE_PER_CPU(struct mtag_cpu, mtag_cpu);
static atomic_t forgotten;

/*
 * True if @s is ending: no record may enter a space after mtag_thread_end_space(), which runs once
 * the fields checked here have changed. Context: mtag_record_lock.
 */
bool mtag_thread_is_closed(const struct mtag_space *s)
{
	lockdep_assert_held(&mtag_record_lock);
	return !READ_ONCE(s->mm) || mtag_space_parked(s);
}

/* Makes the word or tag of @t valid in @s. Context: mtag_record_lock. */
void mtag_thread_enter(struct mtag_thread *t, struct mtag_space *s)
{
	lockdep_assert_held(&mtag_record_lock);
	/* In front, as mtag_record_uses() has not seen it with this tag. */
	t->looked = 0;
	list_move(&t->of_space, &s->threads);
	WRITE_ONCE(t->space, s);
}

/*
 * Makes the word or tag of @t invalid. Context: mtag_record_lock; the caller
 * passes the returned pin to mtag_thread_released() after it has unlocked.
 */
struct mtag_pin *mtag_thread_leave(struct mtag_thread *t)
{
	struct mtag_space *s = t->space;
	struct mtag_pin *pin = t->pin;

	lockdep_assert_held(&mtag_record_lock);
	list_del_init(&t->of_space);
	WRITE_ONCE(t->space, NULL);
	WRITE_ONCE(t->word, &t->inherited);
	WRITE_ONCE(t->pin, NULL);
	WRITE_ONCE(t->own, 0);
	WRITE_ONCE(t->user, 0);
	return pin ? mtag_pin_put(s, pin) : NULL;
}

/* Makes all CPUs forget the cached word of @task, whose record has changed. */
static void cpus_forget(const struct task_struct *task)
{
	struct task_struct **known;
	int cpu;

	atomic_inc(&forgotten);
	/* Pairs with find_word(): it sees the count, or this sees what it wrote. */
	smp_mb__after_atomic();
	for_each_possible_cpu(cpu) {
		known = &per_cpu(mtag_cpu, cpu).task;
		if (READ_ONCE(*known) == task)
			cmpxchg(known, (struct task_struct *)task, NULL);
	}
}

/* The record of @task has changed, and @pin, if not NULL, is unused. */
void mtag_thread_released(const struct task_struct *task, struct mtag_pin *pin)
{
	cpus_forget(task);
	if (pin)
		mtag_pin_unpin(pin);
}

/*
 * The slow path of mtag_thread_tag(): finds the word of the current task for @s, and caches it in
 * @cpu unless the task is of another process. Context: preemption disabled.
 */
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
	smp_rmb();	/* pairs with cpus_forget(), which counts after the record changed */
	t = mtag_record_find(current);
	word = t && READ_ONCE(t->space) == s ? READ_ONCE(t->word) : &s->default_tag;
	cpu->word = word;
	/* Pairs with cpus_forget(). Written last: nothing half-written can be used. */
	WRITE_ONCE(cpu->task, current);
	/* If cpus_forget() came too early to see this, the word is good for this time only. */
	smp_mb();
	if (unlikely(atomic_read(&forgotten) != seq))
		WRITE_ONCE(cpu->task, NULL);
	return word;
}

/**
 * mtag_thread_tag() - the current tag of the running thread for @s
 * @s:		space
 *
 * Falls back to the tag of the process if the thread has none, or is not of that
 * process: a debugger, a monitor or a kernel thread never lends its tag.
 * Context: any but interrupts.
 */
u32 __noendbr mtag_thread_tag(struct mtag_space *s)
{
	struct mtag_cpu *cpu;
	u32 tag, nr_tags;

	/* On PREEMPT_RT a page-table lock does not disable preemption. */
	preempt_disable();
	cpu = this_cpu_ptr(&mtag_cpu);
	if (cpu->task == current && cpu->space == s)
		tag = mtag_word_read(cpu->word);
	else
		tag = mtag_word_read(find_word(cpu, s));
	nr_tags = mtag_accounts_nr(rcu_dereference_raw(s->accounts));
	if (unlikely(tag >= nr_tags || tag == MTAG_ID_KSM)) {
		atomic64_inc(&mtag_stat.bad_word);
		tag = MTAG_ID_UNTAGGED;
	}
	/* User space controls the word. */
	tag = array_index_nospec(tag, nr_tags);
	preempt_enable();
	return tag;
}

/* The user address of the current thread's word in @s, or 0. Context: any but interrupts. */
unsigned long mtag_thread_word(struct mtag_space *s)
{
	struct mtag_thread *t;
	unsigned long word;

	raw_spin_lock(&mtag_record_lock);
	t = mtag_record_find(current);
	word = t && t->space == s && t->pin ? t->user : 0;
	raw_spin_unlock(&mtag_record_lock);
	return word;
}

/* Has the current thread keep its tag at @word. May use up *@spare and *@pin. */
static int word_attach(struct mtag_space *s, struct mtag_thread **spare, struct mtag_pin **pin,
		       unsigned long word)
{
	struct mtag_pin *mine, *unused;
	struct mtag_thread *t;

	raw_spin_lock(&mtag_record_lock);
	if (mtag_thread_is_closed(s) || READ_ONCE(s->mm) != current->mm) {
		raw_spin_unlock(&mtag_record_lock);
		return -ESRCH;
	}
	mine = mtag_pin_get(s, pin);
	if (!mine) {
		raw_spin_unlock(&mtag_record_lock);
		return -EAGAIN;
	}
	t = mtag_record_get(spare);
	unused = mtag_thread_leave(t);
	t->pin = mine;
	WRITE_ONCE(t->user, word);
	t->word = mtag_pin_word(mine, word);
	mtag_thread_enter(t, s);
	raw_spin_unlock(&mtag_record_lock);
	mtag_thread_released(current, unused);
	return 0;
}

static int word_detach(struct mtag_space *s, u32 *tag)
{
	struct mtag_pin *unused = NULL;
	struct mtag_thread *t;

	raw_spin_lock(&mtag_record_lock);
	t = mtag_record_find(current);
	if (t && t->space == s)
		unused = mtag_thread_leave(t);
	raw_spin_unlock(&mtag_record_lock);
	mtag_thread_released(current, unused);
	*tag = mtag_thread_tag(s);
	return 0;
}

/**
 * mtag_thread_register() - have the current thread keep its tag at @word
 * @s:		space of the current process
 * @word:	user address; 0: the thread gives up its own tag
 * @tag:	filled with its current tag, which is stored in the word as well
 *
 * Context: may sleep.
 * Return: 0; -EINVAL, -EFAULT; -ENOMEM, also at RLIMIT_MEMLOCK; -ESRCH if the
 * process has just been untracked.
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
		/* No other thread has a word in that page yet: count the pin. */
		if (ret == -EAGAIN)
			ret = mtag_pin_count(pin, s) ?: word_attach(s, &spare, &pin, word);
	}
	mtag_record_free(spare);
	if (pin)
		mtag_pin_free(pin);
	return ret;
}

/* Context: mtag_record_lock. */
static int set_tag(struct mtag_space *s, struct mtag_thread **spare, u32 tag, bool own)
{
	struct task_struct *task = (*spare)->task;
	struct mtag_thread *t;
	u32 was;

	lockdep_assert_held(&mtag_record_lock);
	if (mtag_thread_is_closed(s) || READ_ONCE(s->mm) != READ_ONCE(task->mm))
		return -ESRCH;
	t = mtag_record_get(spare);
	/* Pairs with mtag_thread_end(): it sees the record, or this sees PF_EXITING. */
	smp_mb();
	if (READ_ONCE(task->flags) & PF_EXITING) {
		/* Drop the record: another task may get the same address. */
		if (!*spare) {
			mtag_record_del(t);
			*spare = t;
		}
		return -ESRCH;
	}
	if (t->pin)
		return -EBUSY;
	was = t->space == s ? t->own : 0;
	WRITE_ONCE(t->inherited, tag);
	WRITE_ONCE(t->own, own ? tag : 0);
	mtag_thread_enter(t, s);
	return was;
}

/**
 * mtag_thread_set() - set the tag of @task, which has no word
 * @s:		space of the process of @task
 * @task:	a thread; the caller has a reference
 * @tag:	id, with an account in @s
 * @own:	the tag was made for this thread alone
 *
 * Context: may sleep.
 * Return: the tag that was made for it alone before, or 0; -ESRCH if @task is exiting or has left
 * @s; -EBUSY if it has a word; -ENOMEM.
 */
int mtag_thread_set(struct mtag_space *s, struct task_struct *task, u32 tag, bool own)
{
	struct mtag_thread *spare = mtag_record_alloc(task, MTAG_GFP);
	int ret;

	if (!spare)
		return -ENOMEM;
	raw_spin_lock(&mtag_record_lock);
	ret = set_tag(s, &spare, tag, own);
	raw_spin_unlock(&mtag_record_lock);
	cpus_forget(task);
	mtag_record_free(spare);
	return ret;
}

/*
 * Drops the record of @task, which exits or has started another program.
 * Context: any but interrupts.
 */
void mtag_thread_end(struct task_struct *task)
{
	struct mtag_pin *unused = NULL;
	struct mtag_thread *t;
	bool had_word = false;

	/* Pairs with set_tag(): this sees the record, or set_tag() sees PF_EXITING. */
	smp_mb();
	if (!mtag_record_may_have(task))
		return;
	raw_spin_lock(&mtag_record_lock);
	t = mtag_record_find(task);
	if (t) {
		/* Without a space, no CPU has cached a word of it. */
		had_word = t->space;
		unused = mtag_thread_leave(t);
		mtag_record_del(t);
	}
	raw_spin_unlock(&mtag_record_lock);
	if (had_word)
		mtag_thread_released(task, unused);
	mtag_record_free(t);
}

/**
 * mtag_thread_end_space() - take the words and tags in @s from all threads
 * @s:		space that is unhashed or parked
 * @ended:	called with each tag that was made for one of them alone
 *
 * A thread whose memory has ended may still be on its way out: whoever takes the tag from it, this
 * or the hook at its end, says that the tag has ended.
 * Context: may sleep.
 */
void mtag_thread_end_space(struct mtag_space *s, void (*ended)(struct mtag_space *s, u32 own))
{
	struct mtag_pin *unused = NULL;
	struct task_struct *task = NULL;
	struct mtag_thread *t;
	u32 own = 0;

	do {
		/* One at a time: others need the lock too. */
		raw_spin_lock(&mtag_record_lock);
		t = list_first_entry_or_null(&s->threads, struct mtag_thread, of_space);
		if (t) {
			task = t->task;
			own = t->own;
			unused = mtag_thread_leave(t);
		}
		raw_spin_unlock(&mtag_record_lock);
		/* The task may have ended by now: it is only compared. */
		if (t)
			mtag_thread_released(task, unused);
		if (t && own)
			ended(s, own);
		cond_resched();
	} while (t);
}

/* Context: may sleep; no hook is in, and no space is left. */
void mtag_thread_exit(void)
{
	/* No record is added from here on. */
	mtag_record_each(mtag_thread_end);
	/* RCU callbacks queue work, which must be done. */
	rcu_barrier();
	flush_workqueue(mtag_wq);
}
