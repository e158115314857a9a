// SPDX-License-Identifier: GPL-2.0
/*
 * Takes the user stack of the thread that touches a page: under the page-table lock, where a page
 * of the stack that is not present cannot be had.
 *
 * Programs touch many pages from one place, so each CPU remembers the last stack that it has taken:
 * the thread's registers, and each return address with its place. If all are still the same, so is
 * the stack.
 */
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include "hooked.h"
#include "image.h"
#include "memory.h"
#include "mtag.h"
#include "stack.h"
#include "stackset.h"
#include "take.h"
#include "text.h"
#include "thread.h"
#include "touched.h"
#include "unwind.h"
#include "userword.h"

/**
 * struct taken - the stack that a CPU has taken last
 * @task:	whose it was; only compared
 * @serial:	of its executable mappings
 * @tables:	unwind tables that there were
 * @ip:		its instruction pointer
 * @sp:		its stack pointer
 * @bp:		its frame pointer
 * @bx:		the other register by which a stack may be walked
 * @exact:	it was at @ip, not in a system call that returns there
 * @stack:	its id
 * @tag:	by which it was the last to touch something; none at first
 * @pages:	counter of what @tag has touched beneath it, in the space that has @serial
 * @random:	state of the random numbers of this CPU; never 0
 * @nr:		number of frames
 * @frames:	as the walk has found them
 * @places:	likewise
 * @cache:	what walks have found, of @serial and @tables
 *
 * Used with preemption disabled.
 */
struct taken {
	const struct task_struct *task;
	u64 serial;
	unsigned int tables;
	unsigned long ip;
	unsigned long sp;
	unsigned long bp;
	unsigned long bx;
	bool exact;
	u32 stack;
	u32 tag;
	atomic64_t *pages;
	u32 random;
	unsigned int nr;
	u64 frames[MTAG_STACK_DEPTH];
	struct mtag_unwind_place places[MTAG_STACK_DEPTH];
	struct mtag_unwind_cache cache;
};

#define NO_TAG	U32_MAX

static struct taken __percpu *taken;

/* Is the return address of each frame of @t where it was? */
static __always_inline bool return_addresses_match(const struct taken *t)
{
	const struct mtag_unwind_place *place = &t->places[1], *end = &t->places[t->nr];
	u64 ip;

	if (t->nr < 2)
		return true;
	if (!mtag_userword_begin())
		return false;
	do {
		if (unlikely(!mtag_userword_reread(place->at, &ip) || ip != place->ip))
			break;
	} while (++place < end);
	mtag_userword_end();
	return place >= end;
}

/* orig_ax holds the number of a system call; for a fault it is negative. */
static bool is_fault(const struct pt_regs *regs)
{
	return (long)regs->orig_ax < 0;
}

static __always_inline bool is_same_taken(const struct taken *t, const struct mtag_text *text,
					  const struct pt_regs *regs)
{
	return t->task == current && t->serial == text->serial &&
	       t->tables == mtag_image_tables_given() && t->ip == regs->ip && t->sp == regs->sp &&
	       t->bp == regs->bp && t->bx == regs->bx && t->exact == is_fault(regs) &&
	       return_addresses_match(t);
}

/*
 * The id of a stack that was taken for the process, whose pages may be beneath it from now on. What
 * a CPU remembers was taken for the same process. Context: before a page gets it.
 */
static u32 own_stack(struct mtag_touched *touched, const u64 *frames, unsigned int nr,
		     enum mtag_stack_why why)
{
	u32 stack = mtag_stack_intern(frames, nr, why, READ_ONCE(touched->user));

	mtag_stackset_add(touched->own, stack);
	return stack;
}

/*
 * Walks the stack, and makes @t say so. Return: its id. In line, as is_same_taken(): a call costs a
 * first touch 20 instructions.
 */
static __always_inline u32 walk_stack(struct taken *t, const struct mtag_text *text,
				      const struct pt_regs *regs, struct mtag_touched *touched)
{
	const struct mtag_unwind_maps maps = { text->maps, text->nr, &t->cache };
	unsigned int tables = mtag_image_tables_given();
	enum mtag_stack_why why;

	/* No text has the serial 0. */
	if (t->serial != text->serial || t->tables != tables)
		t->cache.generation++;
	t->task = current;
	t->serial = text->serial;
	t->tables = tables;
	t->ip = regs->ip;
	t->sp = regs->sp;
	t->bp = regs->bp;
	t->bx = regs->bx;
	t->exact = is_fault(regs);
	t->nr = mtag_unwind((const unsigned long *)regs, &maps, t->frames, t->places,
			    MTAG_STACK_DEPTH, &why);
	/* The innermost frame is the address to which the system call returns. */
	if (!t->exact)
		t->frames[0] &= ~MTAG_FRAME_EXACT;
	t->stack = own_stack(touched, t->frames, t->nr, why);
	/* The cached counter belongs to the previous stack. */
	t->tag = NO_TAG;
	return t->stack;
}

/* Finds the counter of @tag beneath the stack of @t. */
static void find_counter(struct mtag_touched *touched, struct taken *t, u32 tag)
{
	t->tag = tag;
	if (likely(t->stack != MTAG_LEAF_NONE)) {
		t->pages = mtag_touched_counter(touched, tag, t->stack);
	} else {
		t->pages = &touched->uncounted;
		mtag_touched_lost(touched);
	}
	/* There may be room next time. */
	if (t->pages == &touched->uncounted)
		t->task = NULL;
}

/* The stack of a first touch of @nr pages by @tag, which are counted. */
static u32 stack_of(struct mtag_touched *touched, struct taken *t, const struct mtag_text *text,
		    const struct pt_regs *regs, u32 tag, int nr)
{
	if (!is_same_taken(t, text, regs))
		walk_stack(t, text, regs, touched);
	if (t->tag != tag)
		find_counter(touched, t, tag);
	atomic64_add(nr, t->pages);
	return t->stack;
}

/* Is this first touch one of the sample? Each is with the same chance, whatever was before. */
static bool is_sampled(const struct mtag_space *s, struct taken *t)
{
	unsigned int one_in = READ_ONCE(s->stacks.one_in);

	if (one_in <= 1)
		return true;
	/* Marsaglia's xorshift. */
	t->random ^= t->random << 13;
	t->random ^= t->random >> 17;
	t->random ^= t->random << 5;
	return !((u64)t->random * one_in >> 32);
}

/*
 * Does a thread of the process touch its own memory? Others touch it by ptrace or as khugepaged,
 * exec before the new program has begun.
 */
static __always_inline bool by_process(const struct mm_struct *mm)
{
	return current->mm == mm && !(current->flags & (PF_KTHREAD | PF_IO_WORKER)) &&
	       READ_ONCE(mm->start_code) && task_pt_regs(current)->ip;
}

static bool can_walk(const struct mtag_text *text, const struct pt_regs *regs)
{
	return text && user_64bit_mode((struct pt_regs *)regs);
}

/* The stack without frames that stands for one that cannot be walked. */
static u32 without_walk(struct mtag_touched *touched, const struct mtag_text *text)
{
	return own_stack(touched, NULL, 0, text ? MTAG_STACK_NO_TABLE : MTAG_STACK_NO_EXEC);
}

/**
 * mtag_take() - take the stack of a first touch, and count it
 * @s:		space with stacks
 * @mm:		its mm
 * @tag:	of the touch
 * @nr:		pages that @tag gets by it
 *
 * Context: page-table lock, RCU.
 * Return: what the pages are given.
 */
struct mtag_leaf __noendbr mtag_take(struct mtag_space *s, const struct mm_struct *mm, u32 tag,
				     int nr)
{
	struct mtag_leaf leaf = { .stack = MTAG_LEAF_KERNEL, .born = mtag_leaf_now() };
	const struct pt_regs *regs = task_pt_regs(current);
	struct mtag_touched *touched = s->stacks.touched;
	const struct mtag_text *text;
	struct taken *t;

	if (!by_process(mm)) {
		mtag_touched_add(touched, tag, leaf.stack, nr);
		return leaf;
	}
	mtag_cpu_hold();
	text = rcu_dereference_raw(s->stacks.text);
	t = this_cpu_ptr(taken);
	if (is_sampled(s, t)) {
		if (likely(can_walk(text, regs))) {
			leaf.stack = stack_of(touched, t, text, regs, tag, nr);
			goto release_cpu;
		}
		leaf.stack = without_walk(touched, text);
		if (leaf.stack == MTAG_LEAF_NONE)
			mtag_touched_lost(touched);
	} else {
		leaf.stack = MTAG_LEAF_UNSAMPLED;
	}
	mtag_touched_add(touched, tag, leaf.stack, nr);
release_cpu:
	mtag_cpu_release();
	return leaf;
}

/**
 * mtag_take_call() - take the stack of the system call of the current thread
 * @s:		space of its process, with stacks
 *
 * It is counted nowhere, and never left out of the sample.
 * Context: any but interrupts; no lock of the space is needed.
 * Return: its id; MTAG_LEAF_NONE if there is no room for it, or stacks are no longer taken.
 */
u32 __noendbr mtag_take_call(struct mtag_space *s)
{
	const struct pt_regs *regs = task_pt_regs(current);
	u32 stack = MTAG_LEAF_NONE;
	const struct mtag_text *text;
	struct taken *t;

	rcu_read_lock();
	preempt_disable();
	/* Spaces go before the hooks, and what hooks need once no task can be in one any longer. */
	if (by_process(READ_ONCE(s->mm))) {
		text = rcu_dereference(s->stacks.text);
		t = this_cpu_ptr(taken);
		if (!can_walk(text, regs))
			stack = without_walk(s->stacks.touched, text);
		else if (is_same_taken(t, text, regs))
			stack = t->stack;
		else
			stack = walk_stack(t, text, regs, s->stacks.touched);
		/* There may be room next time. */
		if (stack == MTAG_LEAF_NONE)
			t->task = NULL;
	}
	preempt_enable();
	rcu_read_unlock();
	return stack;
}

/**
 * mtag_take_pages() - give pages of a folio the stack that touches it first, and count that
 * @s:		space with stacks
 * @mm:		its mm
 * @page:	the first page of the folio
 * @done:	pages of the folio that have the stack already, by other tags
 * @nr:		pages after them that @tag gets
 * @tag:	of the touch
 *
 * Context: page-table lock, RCU.
 */
void __noendbr mtag_take_pages(struct mtag_space *s, const struct mm_struct *mm,
			       const struct page *page, int done, int nr, u32 tag)
{
	struct mtag_leaf leaf;

	if (done) {
		leaf = mtag_leaf_get(page);
		mtag_touched_add(s->stacks.touched, tag, leaf.stack, nr);
	} else {
		leaf = mtag_take(s, mm, tag, nr);
	}
	mtag_leaf_set(page + done, nr, leaf);
}

/**
 * mtag_take_begin() - allocate what each CPU needs
 *
 * Context: may sleep; serialized by the caller, who owes mtag_take_end(), even after an error.
 * Return: 0 or -ENOMEM.
 */
int mtag_take_begin(void)
{
	int cpu;

	if (mtag_memory_charge(sizeof(struct taken) * num_possible_cpus()))
		return -ENOMEM;
	taken = alloc_percpu(struct taken);
	if (!taken) {
		mtag_memory_uncharge(sizeof(struct taken) * num_possible_cpus());
		return -ENOMEM;
	}
	for_each_possible_cpu(cpu)
		per_cpu_ptr(taken, cpu)->random = get_random_u32() | 1;
	return 0;
}

/* Context: no hook is in, or no space has had MTAG_SLOW_STACKS since mtag_take_begin(). */
void mtag_take_end(void)
{
	if (!taken)
		return;
	free_percpu(taken);
	taken = NULL;
	mtag_memory_uncharge(sizeof(struct taken) * num_possible_cpus());
}
