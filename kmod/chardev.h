/* SPDX-License-Identifier: GPL-2.0 */
/*
 * /dev/mtag; chardev.c.
 */
#ifndef MTAG_CHARDEV_H
#define MTAG_CHARDEV_H

int mtag_chardev_init(void);
void mtag_chardev_exit(void);

#endif /* MTAG_CHARDEV_H */
