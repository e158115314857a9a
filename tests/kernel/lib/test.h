/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a test begins and ends; what includes this has all that most tests need.
 *
 * The rule of every measurement: the tag under test is current only while its pages are touched; what
 * reads the truth runs untagged, and reads it again afterwards, so that nothing moved meanwhile.
 */
#ifndef MTAG_TESTS_TEST_H
#define MTAG_TESTS_TEST_H

#include "ctl.h"
#include "files.h"
#include "memory.h"
#include "process.h"
#include "swap.h"
#include "tap.h"
#include "told.h"
#include "truth.h"

/* Attached, this thread registered, and all that measures has its pages. */
void begin(void);

/* At the end of a test, as root: the spaces that ended were all at 0. */
void no_drift(uint64_t drift_before);

void need_root(void);

#endif
