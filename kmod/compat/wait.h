/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How to wait for whoever holds the lock of one mapping, which kernels before 6.4 do not have.
 */
#ifndef MTAG_COMPAT_WAIT_H
#define MTAG_COMPAT_WAIT_H

#include <linux/mm.h>
#include <linux/userfaultfd_k.h>
#include "compat.h"

/*
 * Waits for whoever has locked this mapping alone, as a page fault does, and UFFDIO_MOVE and
 * MADV_DONTNEED on newer kernels. Caller holds mmap_lock for writing. Return: 0; -EINTR if killed.
 */
static inline int __must_check mtag_vma_wait(struct vm_area_struct *vma)
{
#if MTAG_SINCE(6, 19)
	return vma_start_write_killable(vma);
#elif MTAG_SINCE(6, 15) && defined(CONFIG_PER_VMA_LOCK)
	/*
	 * vma_start_write(), which cannot be killed here. Who comes from now on finds the mapping
	 * locked, until mmap_lock is dropped or downgraded; those who hold it are waited for.
	 */
	WRITE_ONCE(vma->vm_lock_seq, vma->vm_mm->mm_lock_seq.sequence);
	/* As vma_start_read() counts itself first, and then looks at vm_lock_seq. */
	smp_mb();
	while (refcount_read(&vma->vm_refcnt) > 1) {
		if (fatal_signal_pending(current))
			return -EINTR;
		schedule_timeout_killable(1);
	}
	/* What they did comes before what the caller does. */
	smp_mb();
	return 0;
#elif MTAG_SINCE(6, 12) && defined(CONFIG_PER_VMA_LOCK)
	int ret = down_write_killable(&vma->vm_lock->lock);

	if (!ret)
		up_write(&vma->vm_lock->lock);
	return ret;
#else
	return 0;
#endif
}

/* Kernels before 6.8 have no UFFDIO_MOVE. */
#define MTAG_MOVES_BY_UFFD MTAG_SINCE(6, 8)

/* Might UFFDIO_MOVE move pages to this mapping? */
static inline bool mtag_vma_may_receive(struct vm_area_struct *vma)
{
	return MTAG_MOVES_BY_UFFD && userfaultfd_armed(vma);
}

/*
 * Like mtag_vma_wait(), but also blocks VMA locks on this mapping until the caller drops or
 * downgrades mmap_lock.
 */
static inline int __must_check mtag_vma_lock(struct vm_area_struct *vma)
{
	int ret = mtag_vma_wait(vma);

#if MTAG_SINCE(6, 12) && !MTAG_SINCE(6, 15)
	if (!ret)
		vma_start_write(vma);
#endif
	return ret;
}

/*
 * May MADV_DONTNEED cut page tables off here, and tell later of the pages that they had? These are
 * dirty ones of a file.
 */
static inline bool mtag_vma_may_be_cut(const struct vm_area_struct *vma)
{
	return MTAG_CUTS_TABLES && vma->vm_file && (vma->vm_flags & VM_SHARED) &&
	       ALIGN(vma->vm_start, PMD_SIZE) < ALIGN_DOWN(vma->vm_end, PMD_SIZE);
}

#endif /* MTAG_COMPAT_WAIT_H */
