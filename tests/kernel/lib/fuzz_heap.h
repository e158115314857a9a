/* SPDX-License-Identifier: GPL-2.0 */
/* For the fuzzer of the ioctls: the area of a heap view, and owners by address. */
#ifndef MTAG_TESTS_FUZZ_HEAP_H
#define MTAG_TESTS_FUZZ_HEAP_H

void try_heap(void);
void try_heap_read(void);
void try_owners(void);

#endif
