/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The last numbers of a process; final.c.
 */
#ifndef MTAG_FINAL_H
#define MTAG_FINAL_H

struct mm_struct;
struct mtag_space;

void mtag_final_take(struct mtag_space *s, struct mm_struct *mm);

#endif /* MTAG_FINAL_H */
