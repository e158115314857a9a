/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tagging threads by their names; naming.c.
 */
#ifndef MTAG_NAMING_H
#define MTAG_NAMING_H

#include "hooked.h"

MTAG_HOOK_FUNC(mtag_naming_rename);

#endif /* MTAG_NAMING_H */
