// SPDX-License-Identifier: GPL-2.0
/*
 * Records whose page tables a task zaps: the function that frees swap entries is not told.
 */
#include <linux/sched.h>
#include <linux/slab.h>
#include "memory.h"
#include "mtag.h"
#include "record.h"
#include "sleep.h"
#include "zap.h"

/**
 * mtag_zap_begin() - note that the current task zaps page tables of @mm from here on
 * @mm:		only compared; NULL: an mm whose swap is not counted
 *
 * Only a task that zaps an mm whose swap is counted gets a record for it. The task keeps the
 * record until mtag_thread_end() or mtag_zap_end().
 * Context: any but interrupts.
 * Return: false if this cannot be noted: mtag_zap_mm() will not tell.
 */
bool __noendbr mtag_zap_begin(struct mm_struct *mm)
{
	struct mtag_thread *t, *spare;
	bool made;

	rcu_read_lock();
	t = mtag_record_find(current);
	if (t)
		WRITE_ONCE(t->zap, mm);
	rcu_read_unlock();
	if (t || !mm)
		return true;
	if (!mtag_lock_begin())
		return false;
	/*
	 * Zapping frees memory: use the reserves, and observe neither mtag's limit nor that of
	 * a memory cgroup. Only the number of tasks limits these records.
	 */
	mtag_memory_charge_unlimited(sizeof(*spare));
	spare = mtag_record_new(current, GFP_ATOMIC | __GFP_NOWARN);
	made = spare;
	if (made) {
		raw_spin_lock(&mtag_record_lock);
		mtag_record_get(&spare)->zap = mm;
		raw_spin_unlock(&mtag_record_lock);
		mtag_record_free(spare);
	}
	mtag_lock_end();
	return made;
}

/*
 * The current task has zapped all of an mm, perhaps of another process: drops its record if it is
 * kept for nothing else. Context: any but interrupts.
 */
void __noendbr mtag_zap_end(void)
{
	struct mtag_thread *t;

	if (!mtag_record_may_have(current))
		return;
	raw_spin_lock(&mtag_record_lock);
	t = mtag_record_find(current);
	if (t && t->space)
		t = NULL;
	if (t)
		mtag_record_del(t);
	raw_spin_unlock(&mtag_record_lock);
	mtag_record_free(t);
}

/* The mm that the current task zaps, or NULL if its swap is not counted. Context: RCU. */
struct mm_struct *mtag_zap_mm(void)
{
	struct mtag_thread *t = mtag_record_find(current);

	return t ? READ_ONCE(t->zap) : NULL;
}
