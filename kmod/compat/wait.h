/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How to wait for whoever holds the lock of one mapping, which kernels before 6.4 do not have.
 */
#ifndef MTAG_COMPAT_WAIT_H
#define MTAG_COMPAT_WAIT_H

#include <linux/mm.h>
#include "compat.h"

/*
 * Waits for whoever has locked this mapping alone, as a page fault does, and UFFDIO_MOVE and
 * MADV_DONTNEED on newer kernels. Caller holds mmap_lock for writing. Return: 0; -EINTR if killed.
 */
static inline int __must_check mtag_vma_wait(struct vm_area_struct *vma)
{
#if MTAG_SINCE(7, 0)
	return vma_start_write_killable(vma);
#elif MTAG_SINCE(6, 12) && defined(CONFIG_PER_VMA_LOCK)
	int ret = down_write_killable(&vma->vm_lock->lock);

	if (!ret)
		up_write(&vma->vm_lock->lock);
	return ret;
#else
	return 0;
#endif
}

#endif /* MTAG_COMPAT_WAIT_H */
