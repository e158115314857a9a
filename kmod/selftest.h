/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The proof, at load, that the hooks see what they must; selftest.c.
 */
#ifndef MTAG_SELFTEST_H
#define MTAG_SELFTEST_H

int mtag_selftest(void);

#endif /* MTAG_SELFTEST_H */
