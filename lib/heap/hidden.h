/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For variables that others refer to: at a known distance, not by way of a table. */
#ifndef MTAG_LIB_HEAP_HIDDEN_H
#define MTAG_LIB_HEAP_HIDDEN_H

#define MTAG__HIDDEN __attribute__((visibility("hidden")))

#endif
