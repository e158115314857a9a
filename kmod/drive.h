/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The process that is driven at load; drive.c.
 */
#ifndef MTAG_DRIVE_H
#define MTAG_DRIVE_H

int mtag_drive_run(void);

#endif /* MTAG_DRIVE_H */
