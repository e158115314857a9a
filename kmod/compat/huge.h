/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The size of a huge page where the kernel has none: before 6.8 it then has no number of their
 * pages either, and mtag still wants one that no folio has.
 */
#ifndef MTAG_COMPAT_HUGE_H
#define MTAG_COMPAT_HUGE_H

#include <linux/huge_mm.h>
#include <linux/version.h>

#if KERNEL_VERSION(6, 8, 0) > LINUX_VERSION_CODE && !defined(CONFIG_TRANSPARENT_HUGEPAGE)
#undef HPAGE_PMD_SHIFT
#undef HPAGE_PMD_MASK
#define HPAGE_PMD_SHIFT		PMD_SHIFT
#define HPAGE_PMD_MASK		PMD_MASK
#endif

#endif /* MTAG_COMPAT_HUGE_H */
