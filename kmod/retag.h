/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Giving an address range to a tag; retag.c.
 */
#ifndef MTAG_RETAG_H
#define MTAG_RETAG_H

#include "state.h"

int mtag_retag(struct mtag_space *s, unsigned long addr, unsigned long len, u32 tag,
	       u32 flags, u64 *moved, u64 *kept);

#endif /* MTAG_RETAG_H */
