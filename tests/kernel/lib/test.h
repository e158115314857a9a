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

/*
 * The main() of most tests:
 *
 *	begin_test();			skipped unless root runs it
 *	begin();			if this process itself is to be tracked
 *	a = tag("a");
 *	one_behaviour();
 *	another_behaviour();
 *	return end_test();		every process that ended had all counters at 0; this one adds up
 */
void begin_test(void);
int end_test(void);

/* Attaches this process and registers this thread. All that measures gets its pages before it measures. */
void begin(void);

/* The parts of these, for tests that need something else. */
void need_root(void);
void no_drift(uint64_t drift_before);

#endif
