/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions that hooked functions call directly; entry.S. C code must not call them.
 */
#ifndef MTAG_COMPAT_DIRECT_H
#define MTAG_COMPAT_DIRECT_H

void mtag_entry_new_anon(void);
void mtag_entry_remove(void);
void mtag_entry_add_file(void);
void mtag_entry_swap_free(void);
void mtag_entry_zap(void);

#endif /* MTAG_COMPAT_DIRECT_H */
