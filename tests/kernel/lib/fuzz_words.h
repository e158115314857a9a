/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For the fuzzer of the ioctls: the word that a thread keeps its tag in, in pages of all kinds that are then unmapped,
 * moved, copied or reclaimed; and the check that pages go to the tag in the word.
 */
#ifndef MTAG_TESTS_FUZZ_WORDS_H
#define MTAG_TESTS_FUZZ_WORDS_H

#include "fuzz_tree.h"

void try_thread(void);
void mangle_slot(void);

/* Touches pages outside all ranges under the tag in the word, and checks what that tag got. */
void try_touch(void);

void words_begin(void);

#endif
