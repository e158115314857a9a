// SPDX-License-Identifier: GPL-2.0
/*
 * Defers work of the module to tasks on their way back to user space.
 *
 * A task may take long to get there, as a system call may wait. So module unload cancels work
 * that has not begun. This needs no reference on the module and writes nothing that CPUs share,
 * however frequent the deferred work is.
 */
#include <linux/percpu.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/static_call.h>
#include <linux/task_work.h>
#include "later.h"
#include "mtag.h"
#include "resolve.h"

/* Works queued to tasks and not finished yet. Only the sum over CPUs is meaningful. */
static DEFINE_PER_CPU(long, mtag_works);

static struct callback_head *cancel_none(struct task_struct *task,
					 bool (*match)(struct callback_head *work, void *data),
					 void *data)
{
	return NULL;
}

/* task_work_cancel_match(), which is not exported. */
DEFINE_STATIC_CALL(mtag_work_cancel, cancel_none);

static void later_run(struct callback_head *work)
{
	struct mtag_later *later = container_of(work, struct mtag_later, work);

	later->run(later, true);
	/* mtag_later_exit() also waits for the instructions that follow. */
	this_cpu_dec(mtag_works);
}

static bool later_queue(struct task_struct *task, struct mtag_later *later,
			void (*run)(struct mtag_later *later, bool runs),
			enum task_work_notify_mode mode)
{
	later->run = run;
	this_cpu_inc(mtag_works);
	init_task_work(&later->work, later_run);
	if (!task_work_add(task, &later->work, mode))
		return true;
	this_cpu_dec(mtag_works);
	return false;
}

/**
 * mtag_later() - have a task run work on its way back to user space
 * @task:	the current task, or one that has not run yet
 * @later:	freed by @run
 * @run:	see struct mtag_later
 *
 * Context: any but interrupts.
 * Return: false if @task is exiting and will not get there: @run is not called.
 */
bool mtag_later(struct task_struct *task, struct mtag_later *later,
		void (*run)(struct mtag_later *later, bool runs))
{
	return later_queue(task, later, run, TWA_RESUME);
}

static bool is_ours(struct callback_head *work, void *unused)
{
	return work->func == later_run;
}

/* Context: RCU. */
static void take_back(struct task_struct *task)
{
	struct callback_head *work;
	struct mtag_later *later;

	while ((work = static_call(mtag_work_cancel)(task, is_ours, NULL))) {
		later = container_of(work, struct mtag_later, work);
		later->run(later, false);
		this_cpu_dec(mtag_works);
	}
}

static void interrupt_run(struct mtag_later *later, bool runs)
{
	kfree(later);
}

/*
 * Interrupts a sleeping task. It may be sleeping in another's task work that precedes ours: works
 * run last in, first out, and once they have begun, ours can no longer be cancelled. An example is
 * the final close of a file that only a mapping still held. Context: RCU.
 */
static void interrupt_sleeper(struct task_struct *task)
{
	struct mtag_later *later;

	if (task->flags & (PF_KTHREAD | PF_EXITING))
		return;
	later = kmalloc(sizeof(*later), GFP_ATOMIC | __GFP_NOWARN);
	if (!later)
		return;
	/* By then the task has been interrupted, so the work can be taken back at once. */
	if (later_queue(task, later, interrupt_run, TWA_SIGNAL))
		take_back(task);
	else
		kfree(later);
}

static void for_all_tasks(void (*call)(struct task_struct *task))
{
	struct task_struct *process, *task;

	rcu_read_lock();
	for_each_process_thread(process, task)
		call(task);
	rcu_read_unlock();
}

static long works_count(void)
{
	long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(mtag_works, cpu));
	return sum;
}

/**
 * mtag_later_init() - find the function that takes works back from tasks
 *
 * Context: module load, after mtag_resolve_init(). May sleep.
 * Return: 0; -ENOENT if this kernel has none, which is logged.
 */
int mtag_later_init(void)
{
	return mtag_resolve_call(mtag_work_cancel, "task_work_cancel_match");
}

/* Cancels pending works and waits for running ones. Context: may sleep. No hook is installed. */
void mtag_later_exit(void)
{
	int ticks;

	for_all_tasks(take_back);
	for (ticks = 1; works_count(); ticks++) {
		schedule_timeout_uninterruptible(1);
		if (ticks % (5 * HZ) == 0)
			for_all_tasks(interrupt_sleeper);
	}
	synchronize_rcu_tasks();
}
