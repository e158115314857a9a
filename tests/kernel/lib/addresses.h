/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds addresses of the kernel, as numbers or as text, in what users can read.
 */
#ifndef MTAG_TESTS_ADDRESSES_H
#define MTAG_TESTS_ADDRESSES_H

#include "test.h"

bool has_address(const char *text, size_t len);
void clean_text(const char *path);
void clean_log(void);

#endif
