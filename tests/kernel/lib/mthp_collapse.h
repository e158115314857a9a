/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Collapses folios of the size under test to huge pages, on demand and by khugepaged, and lets khugepaged collapse
 * pages to folios of this size.
 */
#ifndef MTAG_TESTS_MTHP_COLLAPSE_H
#define MTAG_TESTS_MTHP_COLLAPSE_H

#include "mthp.h"

void advised(void);
void khugepaged(void);

/* Newer kernels also collapse to folios of other sizes. */
void khugepaged_to_folios(void);

#endif
