/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Telling by an eventfd that a process with stacks has mapped a file that has no unwind table;
 * bell.c.
 */
#ifndef MTAG_BELL_H
#define MTAG_BELL_H

#include "state.h"

struct mtag_bell *mtag_bell_get(int fd);
struct mtag_bell *mtag_bell_of(struct mtag_space *s);
void mtag_bell_put(struct mtag_bell *bell);
void mtag_bell_set(struct mtag_space *s, struct mtag_bell *bell);
void mtag_bell_share(struct mtag_space *s, struct mtag_space *from);
void mtag_bell_ring(struct mtag_space *s);

#endif /* MTAG_BELL_H */
