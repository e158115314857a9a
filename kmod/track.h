/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Start and stop of tracking, and of the hooks; track.c.
 */
#ifndef MTAG_TRACK_H
#define MTAG_TRACK_H

struct mm_struct;

int mtag_track_start(struct mm_struct *mm);
int mtag_track_stop(struct mm_struct *mm);
int mtag_track_init(void);
void mtag_track_close(void);
void mtag_track_exit(void);

#endif /* MTAG_TRACK_H */
