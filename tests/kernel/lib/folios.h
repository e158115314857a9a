/* SPDX-License-Identifier: GPL-2.0 */
/* Sizes of large folios: which there are, and which private memory is made of. */
#ifndef MTAG_TESTS_FOLIOS_H
#define MTAG_TESTS_FOLIOS_H

#include "tap.h"

#define THP "/sys/kernel/mm/transparent_hugepage/"

/* Those that private memory may have, in bytes, ascending; how many. */
size_t folio_sizes(size_t *size, size_t max);

/* From now on private memory is made of folios of that size, where they fit; 0: of small pages. */
void use_folios(size_t size);

uint64_t folio_stat(size_t size, const char *name);

/* As it was: huge pages by the general setting, no other sizes. */
void folios_end(void);

#endif
