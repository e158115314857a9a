// SPDX-License-Identifier: GPL-2.0
/*
 * Current tags: which word a thread keeps its tag in, what it inherited, and
 * whose memory a task is zapping.
 *
 * A word lies in a page of the process that is pinned, so the kernel reads it
 * through its own mapping, without a user access. A fork copies pinned pages;
 * the child's copy is pinned in turn.
 */
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "thread.h"

/**
 * struct mtag_pin - a pinned page of a space that has words in it
 * @node:	in space->pins; thread_lock
 * @page:	anonymous, pinned for long
 * @refs:	threads with a word here; thread_lock
 * @rcu:	waits until no hook reads a word
 * @work:	unpins, which may sleep
 */
struct mtag_pin {
	struct list_head node;
	struct page *page;
	unsigned int refs;
	struct rcu_head rcu;
	struct work_struct work;
};

/**
 * struct mtag_thread - what is kept per task, when there is something to keep
 * @node:	in the hash by task; RCU, changed under thread_lock
 * @task:	the key; no reference, as its end is told
 * @space:	in which @word and @inherited mean something; NULL when that is gone
 * @word:	the tag, in a pinned page or @inherited
 * @user:	where the thread knows its word
 * @pin:	of @word, or NULL
 * @inherited:	the tag of a thread that has no word
 * @zap:	the mm whose page tables the task is zapping
 * @rcu:	frees it
 */
struct mtag_thread {
	struct hlist_node node;
	struct task_struct *task;
	struct mtag_space *space;
	const u32 *word;
	unsigned long user;
	struct mtag_pin *pin;
	u32 inherited;
	struct mm_struct *zap;
	struct rcu_head rcu;
};

#define HASH_BITS 12
static struct hlist_head threads[1 << HASH_BITS];
static atomic_t forgotten;
static DEFINE_RAW_SPINLOCK(thread_lock);	/* threads, pins, and all in them */

static struct hlist_head *bucket_of(const struct task_struct *task)
{
	return &threads[hash_ptr((void *)task, HASH_BITS)];
}

static struct mtag_thread *find(const struct task_struct *task)
{
	struct mtag_thread *t;

	hlist_for_each_entry_rcu(t, bucket_of(task), node, true)
		if (t->task == task)
			return t;
	return NULL;
}

/* CPUs forget what they know of @task. Context: thread_lock or the task is current or dead. */
static void forget(const struct task_struct *task)
{
	int cpu;

	atomic_inc(&forgotten);
	/* Pairs with mtag_thread_tag(): it sees the count, or this what it wrote. */
	smp_mb__after_atomic();
	for_each_possible_cpu(cpu)
		cmpxchg(&per_cpu(mtag_cpu, cpu).task, (struct task_struct *)task, NULL);
}

static void unpin_work(struct work_struct *work)
{
	struct mtag_pin *pin = container_of(work, struct mtag_pin, work);

	unpin_user_page(pin->page);
	kfree(pin);
}

static void unpin_rcu(struct rcu_head *rcu)
{
	struct mtag_pin *pin = container_of(rcu, struct mtag_pin, rcu);

	INIT_WORK(&pin->work, unpin_work);
	queue_work(mtag_wq, &pin->work);
}

/* Context: thread_lock. */
static void pin_put(struct mtag_pin *pin)
{
	if (--pin->refs)
		return;
	list_del(&pin->node);
	/* A hook on another CPU may be reading a word. */
	call_rcu(&pin->rcu, unpin_rcu);
}

/* Context: thread_lock. */
static void detach(struct mtag_thread *t)
{
	struct mtag_pin *pin = t->pin;

	t->space = NULL;
	t->word = &t->inherited;
	t->pin = NULL;
	t->user = 0;
	forget(t->task);
	if (pin)
		pin_put(pin);
}

/* The task's record, made if need be. Context: thread_lock. */
static struct mtag_thread *get(struct task_struct *task)
{
	struct mtag_thread *t = find(task);

	if (t)
		return t;
	t = kzalloc(sizeof(*t), GFP_NOWAIT | __GFP_NOWARN);
	if (!t)
		return NULL;
	t->task = task;
	t->word = &t->inherited;
	hlist_add_head_rcu(&t->node, bucket_of(task));
	return t;
}

/**
 * mtag_thread_tag() - the current tag of the running thread for @s
 * @s:		space
 *
 * That of the process when the thread has none, and when the thread is not of
 * that process: a debugger, a monitor or a kernel thread never lends its tag.
 * Context: preemption disabled.
 */
u32 mtag_thread_tag(struct mtag_space *s)
{
	struct mtag_cpu *cpu = this_cpu_ptr(&mtag_cpu);
	struct mtag_thread *t;
	int seq;
	u32 tag;

	if (cpu->task != current || cpu->space != s) {
		if (!current->mm || current->mm != READ_ONCE(s->mm))
			return READ_ONCE(s->default_tag);
		WRITE_ONCE(cpu->task, NULL);
		cpu->space = s;
		seq = atomic_read(&forgotten);
		smp_rmb();	/* pairs with forget(): counted after it changed the record */
		t = find(current);
		cpu->word = t && READ_ONCE(t->space) == s ? READ_ONCE(t->word) : &s->default_tag;
		/* Pairs with forget(): last, so that no half of it can be used. */
		WRITE_ONCE(cpu->task, current);
		/* What forget() came too early for is good for this time only. */
		smp_mb();
		if (unlikely(atomic_read(&forgotten) != seq))
			WRITE_ONCE(cpu->task, NULL);
	}
	tag = READ_ONCE(*cpu->word);
	if (unlikely(tag >= READ_ONCE(rcu_dereference_raw(s->accounts)->nr_tags))) {
		atomic64_inc(&mtag_stat.bad_word);
		return MTAG_ID_UNTAGGED;
	}
	return tag;
}

/* The same outside a page event. */
u32 mtag_thread_current(struct mtag_space *s)
{
	u32 tag;

	preempt_disable();
	tag = mtag_thread_tag(s);
	preempt_enable();
	return tag;
}

/* Context: thread_lock. */
static struct mtag_pin *pin_find(struct mtag_space *s, const struct page *page)
{
	struct mtag_pin *pin;

	list_for_each_entry(pin, &s->pins, node)
		if (pin->page == page)
			return pin;
	return NULL;
}

/* Pins the page of a word of the current process. Context: may sleep. */
static struct mtag_pin *pin_make(unsigned long word)
{
	struct mtag_pin *pin = kzalloc(sizeof(*pin), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!pin)
		return ERR_PTR(-ENOMEM);
	ret = pin_user_pages_fast(word & PAGE_MASK, 1, FOLL_WRITE | FOLL_LONGTERM, &pin->page);
	if (ret != 1) {
		kfree(pin);
		return ERR_PTR(ret < 0 ? ret : -EFAULT);
	}
	/*
	 * A file's page must not be held for long, nor be written behind its
	 * back; of a huge page all would be held for the sake of one.
	 */
	if (!PageAnon(pin->page) || PageCompound(pin->page)) {
		unpin_user_page(pin->page);
		kfree(pin);
		return ERR_PTR(-EINVAL);
	}
	return pin;
}

static void pin_discard(struct mtag_pin *pin)
{
	if (pin) {
		unpin_user_page(pin->page);
		kfree(pin);
	}
}

/* Context: thread_lock. Uses @pin up, or finds that the page is pinned already. */
static void attach(struct mtag_thread *t, struct mtag_space *s, struct mtag_pin **pin,
		   unsigned long word)
{
	struct mtag_pin *old = pin_find(s, (*pin)->page), *mine = old ?: *pin;

	if (!old) {
		list_add(&mine->node, &s->pins);
		*pin = NULL;
	}
	mine->refs++;
	detach(t);
	s->has_threads = true;
	t->space = s;
	t->pin = mine;
	t->user = word;
	t->word = page_address(mine->page) + offset_in_page(word);
	forget(t->task);
}

static int unregister(struct mtag_space *s, u32 *tag)
{
	struct mtag_thread *t;

	raw_spin_lock(&thread_lock);
	t = find(current);
	if (t && t->space == s)
		detach(t);
	raw_spin_unlock(&thread_lock);
	*tag = mtag_thread_current(s);
	return 0;
}

/**
 * mtag_thread_register() - the current thread keeps its tag at @word
 * @s:		space of the current process
 * @word:	user address; 0: it has no tag of its own any more
 * @tag:	the tag it has now, stored in the word as well
 *
 * Return: 0; -EINVAL, -EFAULT, -ENOMEM.
 */
int mtag_thread_register(struct mtag_space *s, unsigned long word, u32 *tag)
{
	struct mtag_thread *t;
	struct mtag_pin *pin;
	int ret = -ENOMEM;

	if (!word)
		return unregister(s, tag);
	if (word % sizeof(u32))
		return -EINVAL;
	if (!access_ok((void __user *)word, sizeof(u32)))
		return -EFAULT;
	pin = pin_make(word);
	if (IS_ERR(pin))
		return PTR_ERR(pin);
	*tag = mtag_thread_current(s);
	*(u32 *)(page_address(pin->page) + offset_in_page(word)) = *tag;
	raw_spin_lock(&thread_lock);
	/* It may have been untracked meanwhile, which comes for the pins next. */
	if (READ_ONCE(s->mm) != current->mm || READ_ONCE(s->slow) & MTAG_SLOW_PARKED) {
		t = NULL;
		ret = -ESRCH;
	} else {
		t = get(current);
	}
	if (t) {
		attach(t, s, &pin, word);
		ret = 0;
	}
	raw_spin_unlock(&thread_lock);
	pin_discard(pin);
	return ret;
}

/**
 * mtag_thread_set() - @task, which has no word, has @tag from now on
 * @s:		space of the process of @task
 * @task:	a thread
 * @tag:	id, with an account in @s
 *
 * Context: any.
 * Return: 0; -EBUSY if it has a word; -ENOMEM.
 */
int mtag_thread_set(struct mtag_space *s, struct task_struct *task, u32 tag)
{
	struct mtag_thread *t;
	int ret = 0;

	raw_spin_lock(&thread_lock);
	/* Not for one that has gone: another task may get its address. */
	if (READ_ONCE(task->flags) & PF_EXITING || READ_ONCE(s->mm) != task->mm) {
		raw_spin_unlock(&thread_lock);
		return 0;
	}
	t = get(task);
	if (!t) {
		ret = -ENOMEM;
	} else if (t->space == s && t->pin) {
		ret = -EBUSY;
	} else {
		WRITE_ONCE(t->inherited, tag);
		WRITE_ONCE(t->space, s);
		s->has_threads = true;
		forget(task);
	}
	raw_spin_unlock(&thread_lock);
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

	child->fork_tag = mtag_thread_current(parent);
	rcu_read_lock();
	t = find(current);
	if (t && READ_ONCE(t->space) == parent && READ_ONCE(t->pin))
		child->fork_user = READ_ONCE(t->user);
	rcu_read_unlock();
}

struct first_return {
	struct callback_head work;
	unsigned long user;
};

/* The forked child's own copy of the word takes over before it runs. */
static void first_return(struct callback_head *work)
{
	struct first_return *f = container_of(work, struct first_return, work);
	struct mtag_space *s = current->mm ? mtag_space_get_mm(current->mm) : NULL;
	u32 tag;

	/* The page may not have been forked: then the child has no word until it says so. */
	if (s && mtag_thread_register(s, f->user, &tag) == -ENOMEM)
		atomic64_inc(&mtag_stat.lost);
	if (s)
		mtag_space_put(s);
	kfree(f);
	mtag_life_later_done();
}

/* As mtag_thread_fork() prepared it. Context: thread_lock. */
static void begin_forked(struct mtag_thread *t, struct mtag_space *s)
{
	struct first_return *f;

	t->inherited = s->fork_tag;
	t->space = s;
	s->has_threads = true;
	if (!s->fork_user)
		return;
	f = kmalloc(sizeof(*f), GFP_NOWAIT | __GFP_NOWARN);
	if (!f) {
		atomic64_inc(&mtag_stat.lost);
		return;
	}
	f->user = s->fork_user;
	if (!mtag_life_later(t->task, &f->work, first_return))
		kfree(f);
}

/* A new thread: its creator's tag; a vfork child also has the creator's word. */
static void begin_thread(struct mtag_thread *t, struct mtag_space *s, bool shares_word, u32 tag)
{
	struct mtag_thread *creator = find(current);

	if (shares_word && creator && creator->space == s && creator->pin) {
		creator->pin->refs++;
		t->pin = creator->pin;
		t->user = creator->user;
		t->word = creator->word;
	} else {
		t->inherited = tag;
	}
	t->space = s;
	s->has_threads = true;
}

/**
 * mtag_thread_start() - @child is about to run in @s, created by the current thread
 * @s:		space of @child
 * @child:	has not run yet; a thread, a vfork child or a forked process
 *
 * Context: preemption disabled.
 */
void mtag_thread_start(struct mtag_space *s, struct task_struct *child)
{
	bool same_mm = child->mm == current->mm;
	bool vforked = same_mm && child->tgid != current->tgid, needed;
	u32 tag = same_mm ? mtag_thread_tag(s) : s->fork_tag;
	struct mtag_thread *t;

	raw_spin_lock(&thread_lock);
	/* Who has the process's default tag needs no record. */
	needed = tag != s->default_tag || (same_mm ? vforked : !!s->fork_user);
	t = needed ? get(child) : NULL;
	/* A CPU may remember another task that was at the same address. */
	if (t)
		forget(child);
	if (t && same_mm)
		begin_thread(t, s, vforked, tag);
	else if (t)
		begin_forked(t, s);
	else if (needed)
		atomic64_inc(&mtag_stat.lost);
	raw_spin_unlock(&thread_lock);
}

/* @task is exiting or has started another program. Context: any. */
void mtag_thread_end(struct task_struct *task)
{
	struct mtag_thread *t;

	if (hlist_empty(bucket_of(task)))
		return;
	raw_spin_lock(&thread_lock);
	t = find(task);
	if (t) {
		detach(t);
		hlist_del_rcu(&t->node);
		kfree_rcu(t, rcu);
	}
	raw_spin_unlock(&thread_lock);
}

/* No thread has a word or tag of @s any more. Context: may sleep. */
void mtag_thread_end_space(struct mtag_space *s)
{
	struct mtag_thread *t;
	int i;

	raw_spin_lock(&thread_lock);
	for (i = 0; s->has_threads && i < ARRAY_SIZE(threads); i++)
		hlist_for_each_entry(t, &threads[i], node)
			if (t->space == s)
				detach(t);
	raw_spin_unlock(&thread_lock);
}

/* The current task zaps page tables of @mm from here on. */
void mtag_thread_zap(struct mm_struct *mm)
{
	struct mtag_thread *t;

	rcu_read_lock();
	t = find(current);
	if (!t) {
		raw_spin_lock(&thread_lock);
		t = get(current);
		raw_spin_unlock(&thread_lock);
	}
	/* Nobody but the task itself ends its record. */
	if (t)
		t->zap = mm;
	rcu_read_unlock();
}

/* The mm that the current task zaps, NULL if that is not known. */
struct mm_struct *mtag_thread_zapped(void)
{
	struct mtag_thread *t = find(current);

	return t ? t->zap : NULL;
}

/* Context: no hook is in and no space left. */
void mtag_thread_exit(void)
{
	struct mtag_thread *t;
	struct hlist_node *next;
	int i;

	raw_spin_lock(&thread_lock);
	for (i = 0; i < ARRAY_SIZE(threads); i++) {
		hlist_for_each_entry_safe(t, next, &threads[i], node) {
			detach(t);
			hlist_del_rcu(&t->node);
			kfree_rcu(t, rcu);
		}
	}
	raw_spin_unlock(&thread_lock);
	/* The callbacks queue work, and the work must be done. */
	rcu_barrier();
	flush_workqueue(mtag_wq);
}
