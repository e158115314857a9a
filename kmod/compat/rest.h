/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What direct.c does in the end, if the hot path was not all; rest.S. These take the arguments of
 * the hooked function, and its caller, from where they were at its entry.
 */
#ifndef MTAG_REST_H
#define MTAG_REST_H

void mtag_rest_new(void);
void mtag_rest_new_full(void);
void mtag_rest_gone(void);
void mtag_rest_file(void);
void mtag_rest_file_full(void);
void mtag_rest_gone_full(void);

#endif /* MTAG_REST_H */
