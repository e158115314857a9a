/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What keeps an mm after its last process has ended, and how to make it let go: a test that waits until mtag has
 * forgotten ended processes would otherwise wait until an idle CPU gets something to do. Also a child beyond the
 * limit of processes, which depends on that.
 */
#ifndef MTAG_TESTS_KEEPERS_H
#define MTAG_TESTS_KEEPERS_H

#include "test.h"

#define PARAMETER(name) "/sys/module/mtag/parameters/" name

/* Sets a parameter of the module. */
void set_limit(const char *name, uint64_t value);

/* A CPU that runs a kernel thread keeps the mm that it had before. Makes each CPU run this process instead. */
void visit_cpus(void);

/* Waits until nothing is tracked and no hook is in: all records of processes have been freed then. */
bool idle(void);

/*
 * Forks a child beyond the limit of processes, which is therefore not tracked. A process that ends meanwhile
 * would make room for it: wait for all of them before.
 */
pid_t stray(void);

/* khugepaged keeps the mm that it has come to between two scans. */
void khugepaged_goes_on(void);

#endif
