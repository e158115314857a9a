/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whose page tables a task zaps; zap.c.
 */
#ifndef MTAG_ZAP_H
#define MTAG_ZAP_H

#include <linux/types.h>
#include <asm/ibt.h>

struct mm_struct;

bool __noendbr mtag_zap_begin(struct mm_struct *mm);
void __noendbr mtag_zap_end(void);
struct mm_struct *mtag_zap_mm(void);

#endif /* MTAG_ZAP_H */
