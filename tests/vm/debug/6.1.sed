# SPDX-License-Identifier: GPL-2.0
# This restriction was dropped in 6.2: frame pointers will do.
lib/Kconfig.debug	/^config FAULT_INJECTION_STACKTRACE_FILTER/,/^config ARCH/{/depends on !X86_64/d}
# mtag knows pages' events by these functions, which the compiler inlines in so small a kernel.
mm/khugepaged.c	s/^static \(.*\bcollapse_huge_page(\)/static noinline \1/
kernel/events/uprobes.c	s/^static \(.*\b__replace_page(\)/static noinline \1/
