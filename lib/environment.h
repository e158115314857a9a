/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the environment asks for: snapshots without code. */
#ifndef MTAG_LIB_ENVIRONMENT_H
#define MTAG_LIB_ENVIRONMENT_H

/* The process is tracked from now on. May be called in a signal handler. */
void mtag__environment_attached(void);

#endif
