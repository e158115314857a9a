/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's own memory, by /proc/kallsyms and /proc/kcore: what the module keeps where nothing shows it. */
#ifndef MTAG_TESTS_KCORE_H
#define MTAG_TESTS_KCORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The address of @name, of the module mtag or of the kernel itself; 0: there is no such symbol. */
uint64_t symbol(const char *name, bool of_mtag);

/* Reads kernel memory at @addr; false: there is none. */
bool kernel_read(uint64_t addr, void *buffer, size_t len);
uint64_t kernel_word(uint64_t addr);

#endif
