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
#include <linux/uaccess.h>
#include "memory.h"
#include "mtag.h"
#include "stack.h"
#include "stat.h"
#include "take.h"
#include "text.h"
#include "thread.h"

/**
 * struct taken - the stack that a CPU has taken last
 * @task:	whose it was; only compared
 * @serial:	of its executable mappings
 * @ip:		its instruction pointer
 * @sp:		its stack pointer
 * @fp:		its frame pointer
 * @exact:	@ip is the instruction that touches, not the one behind a call of the system
 * @nr:		number of frames
 * @why:	why there are no more
 * @stack:	its id
 * @random:	state of the random numbers of this CPU; never 0
 * @frames:	as in struct mtag_stack
 * @at:		where the return address of each frame is, for frames after the first
 * @ips:	the return address
 *
 * Used with preemption disabled.
 */
struct taken {
	const struct task_struct *task;
	u64 serial;
	unsigned long ip;
	unsigned long sp;
	unsigned long fp;
	bool exact;
	u16 nr;
	u16 why;
	u32 stack;
	u32 random;
	u64 frames[MTAG_STACK_DEPTH];
	unsigned long at[MTAG_STACK_DEPTH];
	unsigned long ips[MTAG_STACK_DEPTH];
};

static struct taken __percpu *taken;

/* The frame at @ip, or 0 if that is not executable memory that can be told from other. */
static u64 frame_of(const struct mtag_text *text, unsigned long ip, bool exact)
{
	const struct mtag_map *map = mtag_text_find(text, exact ? ip : ip - 1);
	u64 offset;

	if (!map)
		return 0;
	offset = map->offset + (ip - map->start);
	if (offset > MTAG_FRAME_OFFSET)
		return 0;
	return (u64)map->image << MTAG_FRAME_IMAGE | (exact ? MTAG_FRAME_EXACT : 0) | offset;
}

/* Reads two words of the current task. Return: false if their page is not present. */
static bool read_pair(unsigned long addr, unsigned long *first, unsigned long *second)
{
	const unsigned long __user *from = (const unsigned long __user *)addr;

	if (!user_access_begin(from, 2 * sizeof(*from)))
		return false;
	unsafe_get_user(*first, from, absent);
	unsafe_get_user(*second, from + 1, absent);
	user_access_end();
	return true;
absent:
	user_access_end();
	return false;
}

/*
 * Walks by frame pointers from t->ip, t->sp and t->fp on. One counts only if it lies above the
 * frame and its return address is in executable memory.
 */
static void walk(struct taken *t, const struct mtag_text *text)
{
	unsigned long sp = t->sp, fp = t->fp, next, ip;

	t->nr = 0;
	t->why = MTAG_STACK_NO_EXEC;
	t->frames[0] = frame_of(text, t->ip, t->exact);
	if (!t->frames[0])
		return;
	for (t->nr = 1; fp; t->nr++) {
		t->why = MTAG_STACK_DEEP;
		if (t->nr == MTAG_STACK_DEPTH)
			return;
		t->why = MTAG_STACK_NO_TABLE;
		if (fp < sp || fp % sizeof(fp))
			return;
		t->why = MTAG_STACK_ABSENT;
		if (!read_pair(fp, &next, &ip))
			return;
		t->why = MTAG_STACK_NO_EXEC;
		t->frames[t->nr] = frame_of(text, ip, false);
		if (!t->frames[t->nr])
			return;
		t->at[t->nr] = fp + sizeof(fp);
		t->ips[t->nr] = ip;
		sp = fp + 2 * sizeof(fp);
		fp = next;
	}
	t->why = MTAG_STACK_COMPLETE;
}

/* Are the return addresses of @t where they were? */
static bool is_there(const struct taken *t)
{
	unsigned long ip;
	unsigned int i;

	if (t->nr < 2)
		return true;
	/* The stack's own addresses ascend, but not one that lies between two signals' stacks. */
	if (!user_access_begin((const void __user *)t->at[1], sizeof(ip)))
		return false;
	for (i = 1; i < t->nr; i++) {
		unsafe_get_user(ip, (const unsigned long __user *)t->at[i], changed);
		if (ip != t->ips[i])
			goto changed;
	}
	user_access_end();
	return true;
changed:
	user_access_end();
	return false;
}

static u32 stack_of(struct mtag_space *s, struct taken *t, const struct mtag_text *text,
		    const struct pt_regs *regs)
{
	/* The number of a call of the system is there; not so for a fault. */
	bool exact = (long)regs->orig_ax < 0, same;

	pagefault_disable();
	same = t->task == current && t->serial == text->serial && t->ip == regs->ip &&
	       t->sp == regs->sp && t->fp == regs->bp && t->exact == exact && is_there(t);
	if (!same) {
		t->task = current;
		t->serial = text->serial;
		t->ip = regs->ip;
		t->sp = regs->sp;
		t->fp = regs->bp;
		t->exact = exact;
		walk(t, text);
	}
	pagefault_enable();
	if (!same)
		t->stack = mtag_stack_intern(t->frames, t->nr, t->why);
	if (t->stack == MTAG_LEAF_NONE) {
		/* There may be room next time. */
		t->task = NULL;
		atomic64_inc(&s->stacks.lost);
		atomic64_inc(&mtag_stat.stack_lost);
	}
	return t->stack;
}

/* Is this first touch one of the sample? Each is with the same chance, whatever was before. */
static bool is_sampled(struct mtag_space *s, struct taken *t)
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
static bool by_process(const struct mm_struct *mm)
{
	return current->mm == mm && !(current->flags & (PF_KTHREAD | PF_IO_WORKER)) &&
	       READ_ONCE(mm->start_code) && task_pt_regs(current)->ip;
}

/**
 * mtag_take() - take the stack of a first touch
 * @s:		space with stacks
 * @mm:		its mm
 *
 * Context: page-table lock, RCU.
 * Return: what the page is given.
 */
struct mtag_leaf mtag_take(struct mtag_space *s, const struct mm_struct *mm)
{
	struct mtag_leaf leaf = { .stack = MTAG_LEAF_KERNEL, .born = mtag_leaf_now() };
	const struct pt_regs *regs = task_pt_regs(current);
	const struct mtag_text *text;
	struct taken *t;

	if (!by_process(mm))
		return leaf;
	mtag_cpu_hold();
	text = rcu_dereference_raw(s->stacks.text);
	t = this_cpu_ptr(taken);
	if (!is_sampled(s, t))
		leaf.stack = MTAG_LEAF_UNSAMPLED;
	else if (!text || !user_64bit_mode((struct pt_regs *)regs))
		leaf.stack = mtag_stack_intern(NULL, 0, text ? MTAG_STACK_NO_TABLE :
							       MTAG_STACK_NO_EXEC);
	else
		leaf.stack = stack_of(s, t, text, regs);
	mtag_cpu_release();
	return leaf;
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

/* Context: no hook is in. */
void mtag_take_end(void)
{
	if (!taken)
		return;
	free_percpu(taken);
	taken = NULL;
	mtag_memory_uncharge(sizeof(struct taken) * num_possible_cpus());
}
