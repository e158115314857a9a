/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Dumps of processes and tags; dump.c.
 */
#ifndef MTAG_DUMP_H
#define MTAG_DUMP_H

struct mtag_request;

int mtag_dump_procs(struct mtag_request *r);
int mtag_dump_tags(struct mtag_request *r);
int mtag_dump_shares(struct mtag_request *r);

#endif /* MTAG_DUMP_H */
