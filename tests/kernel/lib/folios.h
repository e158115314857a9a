/* SPDX-License-Identifier: GPL-2.0 */
/* Sizes of large folios: lists them, and selects the one that private memory is made of. */
#ifndef MTAG_TESTS_FOLIOS_H
#define MTAG_TESTS_FOLIOS_H

#include "tap.h"

#define THP "/sys/kernel/mm/transparent_hugepage/"

/* Stores the sizes that private memory may have, in bytes, ascending; returns how many. */
size_t folio_sizes(size_t *size, size_t max);

/* Makes private memory of folios of that size from now on, where they fit; 0: of small pages. */
void use_folios(size_t size);

uint64_t folio_stat(size_t size, const char *name);

/* Restores the default: huge pages by the general setting, no other sizes. */
void folios_end(void);

#endif
