/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Folios of the size under test, collapsed: to huge pages, on demand and by khugepaged, and by
 * khugepaged from pages to folios of this size.
 */
#ifndef MTAG_TESTS_MTHP_COLLAPSE_H
#define MTAG_TESTS_MTHP_COLLAPSE_H

#include "mthp.h"

void advised(void);
void no_khugepaged(void);
void khugepaged(void);

/* Kernels of our days collapse to folios of other sizes, too. */
void khugepaged_to_folios(void);

#endif
