/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The self-test at load: do the hooks see every page? selftest.c.
 */
#ifndef MTAG_SELFTEST_H
#define MTAG_SELFTEST_H

int mtag_selftest(void);

#endif /* MTAG_SELFTEST_H */
