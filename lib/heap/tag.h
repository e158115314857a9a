/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MTAG_LIB_HEAP_TAG_H
#define MTAG_LIB_HEAP_TAG_H

#include <stdint.h>

/* The current tag of the calling thread: by its word, else as the module says. Keeps errno. */
uint32_t mtag__tag_ask(void);

#endif
