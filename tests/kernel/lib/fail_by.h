/* SPDX-License-Identifier: GPL-2.0 */
/* Tags that come by themselves, of threads and of mappings, while allocations fail. */
#ifndef MTAG_TESTS_FAIL_BY_H
#define MTAG_TESTS_FAIL_BY_H

/* A thread begins and gets a name; each has a tag. */
void by_tid(void);

/* Mappings of several kinds are made; each has a tag. */
void by_map(void);

#endif
