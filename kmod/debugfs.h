/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The files in debugfs; debugfs.c.
 */
#ifndef MTAG_DEBUGFS_H
#define MTAG_DEBUGFS_H

int mtag_debugfs_init(void);
void mtag_debugfs_exit(void);

#endif /* MTAG_DEBUGFS_H */
