/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Programs that are told when a tag reaches its limit; watch.c.
 */
#ifndef MTAG_WATCH_H
#define MTAG_WATCH_H

#include <linux/types.h>
#include "state.h"

struct pid;

int mtag_watch_set(struct mtag_space *s, u32 tag, u64 bytes, int fd, struct pid *pid);
const char *mtag_watch_why(int err);
void mtag_watch_end(struct mtag_space *s);
void mtag_watch_flush(void);

#endif /* MTAG_WATCH_H */
