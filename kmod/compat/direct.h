/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions in assembler that hooked functions call directly; entry.S.
 */
#ifndef MTAG_DIRECT_H
#define MTAG_DIRECT_H

/* C code must not call these. */
void mtag_entry_new_anon(void);
void mtag_entry_remove(void);
void mtag_entry_add_file(void);
void mtag_entry_swap_free(void);

/*
 * What direct.c does in the end, if the hot path was not all. They take the arguments and the
 * caller of the hooked function from where they were at its entry.
 */
void mtag_entry_new_other(void);
void mtag_entry_gone_other(void);
void mtag_entry_peak(void);

#endif /* MTAG_DIRECT_H */
