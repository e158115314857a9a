/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Moves of pages by userfaultfd; uffd.c.
 */
#ifndef MTAG_UFFD_H
#define MTAG_UFFD_H

#include "hooked.h"

MTAG_HOOK_FUNC(mtag_uffd_ioctl);

#endif /* MTAG_UFFD_H */
