/* SPDX-License-Identifier: GPL-2.0 */
/* For the fuzzer of the ioctls: stacks and unwind tables, and pages that are touched by code that has one. */
#ifndef MTAG_TESTS_FUZZ_STACKS_H
#define MTAG_TESTS_FUZZ_STACKS_H

#include "fuzz_args.h"

void try_stacks(void);
void try_unwind(void);

/* Touches pages by code whose unwind tables were handed in. */
void run_code(void);

/* Begins a round. */
void stacks_begin(bool is_root);

#endif
