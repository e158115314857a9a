# SPDX-License-Identifier: GPL-2.0
# mtag knows pages' events by these functions, which the compiler inlines in so small a kernel.
mm/khugepaged.c	s/^static \(.*\bcollapse_huge_page(\)/static noinline \1/
mm/memory.c	s/^static \(.*\bdo_anonymous_page(\)/static noinline \1/
mm/memory.c	s/^static \(.*\bdo_wp_page(\)/static noinline \1/
mm/swapfile.c	s/^static \(.*\bunuse_pte_range(\)/static noinline \1/
mm/ksm.c	s/^static \(.*\btry_to_merge_one_page(\)/static noinline \1/
mm/vma.c	s/^static \(.*\b__mmap_region(\)/static noinline \1/
