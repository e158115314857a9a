/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Unwind tables from user space; shelf.c.
 */
#ifndef MTAG_SHELF_H
#define MTAG_SHELF_H

#include <linux/types.h>

int mtag_shelf_add(int fd, const void __user *table, u64 bytes);

#endif /* MTAG_SHELF_H */
