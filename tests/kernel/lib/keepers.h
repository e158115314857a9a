/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whoever keeps an mm after its last process has ended, and how to have it let go: a test that waits for
 * what mtag knows of the ended to be gone would otherwise wait for a CPU to have something to do. And who
 * needs that: a child for which there is no room.
 */
#ifndef MTAG_TESTS_KEEPERS_H
#define MTAG_TESTS_KEEPERS_H

#include "test.h"

#define PARAMETER(name) "/sys/module/mtag/parameters/" name

/* A CPU that runs a kernel thread keeps the mm that it had: has each CPU run this process instead. */
void visit_cpus(void);

/* Waits until nothing is tracked and no hook is in: then all that was kept of processes is freed. */
bool idle(void);

/* A child that is one too many, and so is not tracked. Who ends meanwhile would make room for it: wait before. */
pid_t stray(void);

/* Between two scans it keeps the mm that it has come to. */
void khugepaged_goes_on(void);

#endif
