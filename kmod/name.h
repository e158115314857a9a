/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of tags; name.c.
 */
#ifndef MTAG_NAME_H
#define MTAG_NAME_H

#include <linux/types.h>

int mtag_name_check(const char *name, size_t len);
size_t mtag_name_component(char *name);

#endif /* MTAG_NAME_H */
