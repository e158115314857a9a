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
#include <linux/rbtree.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "thread.h"

/**
 * struct mtag_pin - a pinned page of a space that has words in it
 * @node:	in space->pins, by @page; thread_lock
 * @page:	anonymous, pinned for long
 * @refs:	threads with a word here; thread_lock
 * @free:	unpins, which may sleep, once no hook reads a word any more
 */
struct mtag_pin {
	struct rb_node node;
	struct page *page;
	unsigned int refs;
	struct rcu_work free;
};

/**
 * struct mtag_thread - what is kept per task, when there is something to keep
 * @node:	in the hash by task; RCU, changed under thread_lock
 * @task:	the key; no reference, as its end is told
 * @space:	in which @word and @inherited mean something; NULL when that is gone
 * @of_space:	in space->threads while there is a @space; thread_lock
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
	struct list_head of_space;
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
/* Of threads, pins, and all in them; nothing is allocated or freed under it. */
static DEFINE_RAW_SPINLOCK(thread_lock);

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

static struct mtag_thread *thread_alloc(struct task_struct *task, gfp_t gfp)
{
	struct mtag_thread *t;

	if (mtag_charge_memory(sizeof(*t)))
		return NULL;
	t = kzalloc(sizeof(*t), gfp);
	if (!t) {
		mtag_uncharge_memory(sizeof(*t));
		return NULL;
	}
	t->task = task;
	t->word = &t->inherited;
	INIT_LIST_HEAD(&t->of_space);
	return t;
}

static void thread_free(struct mtag_thread *t)
{
	if (t) {
		mtag_uncharge_memory(sizeof(*t));
		kfree_rcu(t, rcu);
	}
}

/* The record of the task of *@spare: that it has, or *@spare itself. Context: thread_lock. */
static struct mtag_thread *get(struct mtag_thread **spare)
{
	struct mtag_thread *t = find((*spare)->task);

	if (!t) {
		t = *spare;
		*spare = NULL;
		hlist_add_head_rcu(&t->node, bucket_of(t->task));
	}
	return t;
}

/*
 * No record may enter a space behind mtag_thread_end_space(), which comes after
 * what this looks at has changed. Context: thread_lock.
 */
static bool ending(const struct mtag_space *s)
{
	return !READ_ONCE(s->mm) || READ_ONCE(s->slow) & MTAG_SLOW_PARKED;
}

/* The word or tag of @t means something in @s from here on. Context: thread_lock. */
static void enter(struct mtag_thread *t, struct mtag_space *s)
{
	list_move(&t->of_space, &s->threads);
	WRITE_ONCE(t->space, s);
}

/*
 * The word or tag of @t means nothing any more. Context: thread_lock; the
 * caller calls released() with what this returns, once it has unlocked.
 */
static struct mtag_pin *leave(struct mtag_thread *t)
{
	struct mtag_space *s = t->space;
	struct mtag_pin *pin = t->pin;

	list_del_init(&t->of_space);
	WRITE_ONCE(t->space, NULL);
	WRITE_ONCE(t->word, &t->inherited);
	WRITE_ONCE(t->pin, NULL);
	t->user = 0;
	if (!pin || --pin->refs)
		return NULL;
	rb_erase(&pin->node, &s->pins);
	return pin;
}

/* CPUs forget what they know of @task, whose record has changed. */
static void forget(const struct task_struct *task)
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
static void released(const struct task_struct *task, struct mtag_pin *pin)
{
	forget(task);
	/* A hook on another CPU may still be reading a word. */
	if (pin)
		queue_rcu_work(mtag_wq, &pin->free);
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
	smp_rmb();	/* pairs with forget(): counted after it changed the record */
	t = find(current);
	word = t && READ_ONCE(t->space) == s ? READ_ONCE(t->word) : &s->default_tag;
	cpu->word = word;
	/* Pairs with forget(): last, so that no half of it can be used. */
	WRITE_ONCE(cpu->task, current);
	/* What forget() came too early for is good for this time only. */
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
	u32 tag;

	/* A page-table lock alone does not keep others off this CPU on PREEMPT_RT. */
	preempt_disable();
	cpu = this_cpu_ptr(&mtag_cpu);
	if (cpu->task == current && cpu->space == s)
		tag = READ_ONCE(*cpu->word);
	else
		tag = READ_ONCE(*find_word(cpu, s));
	if (unlikely(tag >= READ_ONCE(rcu_dereference_raw(s->accounts)->nr_tags))) {
		atomic64_inc(&mtag_stat.bad_word);
		tag = MTAG_ID_UNTAGGED;
	}
	preempt_enable();
	return tag;
}

static size_t pin_bytes(void)
{
	return sizeof(struct mtag_pin) + PAGE_SIZE;
}

static void pin_free(struct mtag_pin *pin)
{
	unpin_user_page(pin->page);
	kfree(pin);
	mtag_uncharge_memory(pin_bytes());
}

static void pin_free_work(struct work_struct *work)
{
	pin_free(container_of(to_rcu_work(work), struct mtag_pin, free));
}

/*
 * Pins the page of a word. A file's page must not be held for long, nor be
 * written behind its back; of a huge page all would be held for the sake of one.
 */
static int pin_page(unsigned long word, struct page **page)
{
	int ret = pin_user_pages_fast(word & PAGE_MASK, 1, FOLL_WRITE | FOLL_LONGTERM, page);

	if (ret != 1)
		return ret < 0 ? ret : -EFAULT;
	if (PageAnon(*page) && !PageCompound(*page))
		return 0;
	unpin_user_page(*page);
	return -EINVAL;
}

/* Pins the page of a word of the current process. Context: may sleep. */
static struct mtag_pin *pin_make(unsigned long word)
{
	struct mtag_pin *pin;
	int ret = -ENOMEM;

	if (mtag_charge_memory(pin_bytes()))
		return ERR_PTR(ret);
	pin = kzalloc(sizeof(*pin), GFP_KERNEL_ACCOUNT);
	if (!pin)
		goto uncharge;
	INIT_RCU_WORK(&pin->free, pin_free_work);
	ret = pin_page(word, &pin->page);
	if (!ret)
		return pin;
	kfree(pin);
uncharge:
	mtag_uncharge_memory(pin_bytes());
	return ERR_PTR(ret);
}

static int pin_compare(struct rb_node *node, const struct rb_node *other)
{
	const struct page *a = rb_entry(node, struct mtag_pin, node)->page;
	const struct page *b = rb_entry(other, struct mtag_pin, node)->page;

	return a < b ? -1 : a > b;
}

/* The pin of the page of *@pin: that it has in @s, or *@pin itself. Context: thread_lock. */
static struct mtag_pin *pin_get(struct mtag_space *s, struct mtag_pin **pin)
{
	struct rb_node *old = rb_find_add(&(*pin)->node, &s->pins, pin_compare);
	struct mtag_pin *mine = *pin;

	if (old)
		mine = rb_entry(old, struct mtag_pin, node);
	else
		*pin = NULL;
	mine->refs++;
	return mine;
}

/* The current thread's tag is at @word from here on; uses up *@spare and *@pin if need be. */
static int attach(struct mtag_space *s, struct mtag_thread **spare, struct mtag_pin **pin,
		  unsigned long word)
{
	struct mtag_pin *mine, *unused;
	struct mtag_thread *t;

	raw_spin_lock(&thread_lock);
	if (ending(s) || READ_ONCE(s->mm) != current->mm) {
		raw_spin_unlock(&thread_lock);
		return -ESRCH;
	}
	t = get(spare);
	mine = pin_get(s, pin);
	unused = leave(t);
	t->pin = mine;
	t->user = word;
	t->word = page_address(mine->page) + offset_in_page(word);
	enter(t, s);
	raw_spin_unlock(&thread_lock);
	released(current, unused);
	return 0;
}

static int unregister(struct mtag_space *s, u32 *tag)
{
	struct mtag_pin *unused = NULL;
	struct mtag_thread *t;

	raw_spin_lock(&thread_lock);
	t = find(current);
	if (t && t->space == s)
		unused = leave(t);
	raw_spin_unlock(&thread_lock);
	released(current, unused);
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
 * Return: 0; -EINVAL, -EFAULT, -ENOMEM; -ESRCH if it has just been untracked.
 */
int mtag_thread_register(struct mtag_space *s, unsigned long word, u32 *tag)
{
	struct mtag_thread *spare;
	struct mtag_pin *pin;
	int ret;

	if (!word)
		return unregister(s, tag);
	if (word % sizeof(u32))
		return -EINVAL;
	if (!access_ok((void __user *)word, sizeof(u32)))
		return -EFAULT;
	pin = pin_make(word);
	if (IS_ERR(pin))
		return PTR_ERR(pin);
	ret = -ENOMEM;
	spare = thread_alloc(current, GFP_KERNEL_ACCOUNT);
	if (spare) {
		*tag = mtag_thread_tag(s);
		*(u32 *)(page_address(pin->page) + offset_in_page(word)) = *tag;
		ret = attach(s, &spare, &pin, word);
	}
	thread_free(spare);
	if (pin)
		pin_free(pin);
	return ret;
}

/* Context: thread_lock. */
static int set_tag(struct mtag_space *s, struct mtag_thread **spare, u32 tag)
{
	struct task_struct *task = (*spare)->task;
	struct mtag_thread *t;

	if (ending(s) || READ_ONCE(s->mm) != READ_ONCE(task->mm))
		return 0;
	t = get(spare);
	/* Pairs with mtag_thread_end(): that sees the record, or this what it is about. */
	smp_mb();
	if (READ_ONCE(task->flags) & PF_EXITING) {
		/* Another task may get its address. */
		if (!*spare) {
			hlist_del_rcu(&t->node);
			*spare = t;
		}
		return 0;
	}
	if (t->pin)
		return -EBUSY;
	WRITE_ONCE(t->inherited, tag);
	enter(t, s);
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
	struct mtag_thread *spare = thread_alloc(task, GFP_KERNEL_ACCOUNT);
	int ret;

	if (!spare)
		return -ENOMEM;
	raw_spin_lock(&thread_lock);
	ret = set_tag(s, &spare, tag);
	raw_spin_unlock(&thread_lock);
	forget(task);
	thread_free(spare);
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

	child->fork_tag = mtag_thread_tag(parent);
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

/* Has the forked @child register its copy of the word at @user. */
static void register_later(struct task_struct *child, unsigned long user, gfp_t gfp)
{
	struct first_return *f = gfp ? kmalloc(sizeof(*f), gfp) : NULL;

	if (!f) {
		atomic64_inc(&mtag_stat.lost);
		return;
	}
	f->user = user;
	if (!mtag_life_later(child, &f->work, first_return))
		kfree(f);
}

/* The creator's word, which a vfork child shares; false if it has none. Context: thread_lock. */
static bool share_word(struct mtag_thread *t, struct mtag_space *s)
{
	struct mtag_thread *creator = find(current);

	if (!creator || creator->space != s || !creator->pin)
		return false;
	creator->pin->refs++;
	t->pin = creator->pin;
	t->user = creator->user;
	t->word = creator->word;
	return true;
}

/* @child's record, by *@spare. */
static void begin(struct mtag_space *s, struct task_struct *child, struct mtag_thread **spare,
		  bool vforked, u32 tag)
{
	struct mtag_pin *unused = NULL;
	struct mtag_thread *t;

	raw_spin_lock(&thread_lock);
	if (!ending(s)) {
		t = get(spare);
		unused = leave(t);
		if (!vforked || !share_word(t, s))
			t->inherited = tag;
		enter(t, s);
	}
	raw_spin_unlock(&thread_lock);
	/* A CPU may remember another task that was at the same address. */
	released(child, unused);
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
	u32 tag = same_mm ? mtag_thread_tag(s) : s->fork_tag;
	struct mtag_thread *spare;

	/* Who has the process's default tag needs no record. */
	if (tag == READ_ONCE(s->default_tag) && !(same_mm ? vforked : !!s->fork_user))
		return;
	spare = gfp ? thread_alloc(child, gfp) : NULL;
	if (!spare) {
		atomic64_inc(&s->lost);
		atomic64_inc(&mtag_stat.lost);
		return;
	}
	begin(s, child, &spare, vforked, tag);
	thread_free(spare);
	if (!same_mm && s->fork_user)
		register_later(child, s->fork_user, gfp);
}

/* @task is exiting or has started another program. Context: any but interrupts. */
void mtag_thread_end(struct task_struct *task)
{
	struct mtag_pin *unused = NULL;
	struct mtag_thread *t;

	/* Pairs with set_tag(): this sees the record, or that what @task is about. */
	smp_mb();
	if (hlist_empty(bucket_of(task)))
		return;
	raw_spin_lock(&thread_lock);
	t = find(task);
	if (t) {
		unused = leave(t);
		hlist_del_rcu(&t->node);
	}
	raw_spin_unlock(&thread_lock);
	if (t)
		released(task, unused);
	thread_free(t);
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
		raw_spin_lock(&thread_lock);
		t = list_first_entry_or_null(&s->threads, struct mtag_thread, of_space);
		if (t) {
			task = t->task;
			unused = leave(t);
		}
		raw_spin_unlock(&thread_lock);
		/* The task may have ended by now: it is only compared. */
		if (t)
			released(task, unused);
		cond_resched();
	} while (t);
}

/**
 * mtag_thread_zap() - the current task zaps page tables of @mm from here on
 * @mm:		only compared
 *
 * Context: any but interrupts. If nothing can be allocated nobody will know:
 * see mtag_thread_zapped().
 */
void mtag_thread_zap(struct mm_struct *mm)
{
	struct mtag_thread *t, *spare;

	rcu_read_lock();
	t = find(current);
	if (t)
		t->zap = mm;
	rcu_read_unlock();
	if (t || !mtag_hook_may_lock())
		return;
	spare = thread_alloc(current, GFP_NOWAIT | __GFP_NOWARN);
	if (!spare)
		return;
	raw_spin_lock(&thread_lock);
	get(&spare)->zap = mm;
	raw_spin_unlock(&thread_lock);
	thread_free(spare);
}

/* The mm that the current task zaps, NULL if that is not known. Context: RCU. */
struct mm_struct *mtag_thread_zapped(void)
{
	struct mtag_thread *t = find(current);

	return t ? t->zap : NULL;
}

/* Context: may sleep; no hook is in and no space left. */
void mtag_thread_exit(void)
{
	struct mtag_thread *t;
	int i;

	/* Nobody makes a record any more. */
	for (i = 0; i < ARRAY_SIZE(threads); i++) {
		while (!hlist_empty(&threads[i])) {
			t = hlist_entry(threads[i].first, struct mtag_thread, node);
			mtag_thread_end(t->task);
		}
		cond_resched();
	}
	/* The callbacks queue work, and the work must be done. */
	rcu_barrier();
	flush_workqueue(mtag_wq);
}
