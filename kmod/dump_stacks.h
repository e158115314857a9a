/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Dumps of stacks; dump_stacks.c.
 */
#ifndef MTAG_DUMP_STACKS_H
#define MTAG_DUMP_STACKS_H

#include "request.h"

int mtag_dump_stacks(struct mtag_request *r);

#endif /* MTAG_DUMP_STACKS_H */
