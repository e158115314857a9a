/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The request to take stacks; start_stacks.c.
 */
#ifndef MTAG_START_STACKS_H
#define MTAG_START_STACKS_H

struct mtag_request;

int mtag_start_stacks(struct mtag_request *r);

#endif /* MTAG_START_STACKS_H */
