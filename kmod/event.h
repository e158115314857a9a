/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hooks of calls that change the address space; event.c.
 */
#ifndef MTAG_EVENT_H
#define MTAG_EVENT_H

#include <linux/mm_types.h>
#include "hooked.h"

void mtag_event_grown(unsigned long addr, unsigned long end);
void mtag_event_moved(struct vm_area_struct *new_vma, unsigned long from, unsigned long to,
		      unsigned long len);
MTAG_HOOK_FUNC(mtag_event_mmap);
MTAG_HOOK_FUNC(mtag_event_mapped);
MTAG_HOOK_FUNC(mtag_event_munmap);
MTAG_HOOK_FUNC(mtag_event_mremap);
MTAG_HOOK_FUNC(mtag_event_brk);
MTAG_HOOK_FUNC(mtag_event_brk_grow);
MTAG_HOOK_FUNC(mtag_event_shmdt);

#endif /* MTAG_EVENT_H */
