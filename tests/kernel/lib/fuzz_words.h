/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For the fuzzer of the ioctls: the word that a thread keeps its tag in, in pages of all kinds, that then are
 * unmapped, moved, copied or reclaimed; and what is counted under whatever it holds.
 */
#ifndef MTAG_TESTS_FUZZ_WORDS_H
#define MTAG_TESTS_FUZZ_WORDS_H

#include "fuzz_tree.h"

void try_thread(void);
void mangle_slot(void);

/* Pages that no range concerns are touched under whatever is in the word. */
void try_touch(void);

void words_begin(void);

#endif
