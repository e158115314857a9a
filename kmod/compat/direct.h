/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What hooked functions call directly, and what that calls: entry.S. None of it may be called by C.
 */
#ifndef MTAG_DIRECT_H
#define MTAG_DIRECT_H

void mtag_entry_swap_free(void);

#endif /* MTAG_DIRECT_H */
