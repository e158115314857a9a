/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ends of spaces; end.c.
 */
#ifndef MTAG_END_H
#define MTAG_END_H

#include <linux/workqueue.h>

struct mm_struct;
struct mtag_space;

void mtag_end_early(struct mm_struct *mm);
void mtag_end_mm(struct mm_struct *mm);
void mtag_end_prove(bool on);
void mtag_end_reap(void);
void mtag_end_space(struct mtag_space *s);
void mtag_end_retire(void);
void mtag_end_flush(void);
extern struct delayed_work mtag_end_linger_work;
void mtag_end_linger(void);

#endif /* MTAG_END_H */
