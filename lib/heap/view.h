/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MTAG_LIB_HEAP_VIEW_H
#define MTAG_LIB_HEAP_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "hidden.h"

#include "area.h"
#include "table.h"

/**
 * struct mtag__view - the area of this process
 * @head: its begin; NULL: there is none
 * @mode: 0: nothing is counted, or enum mtag_heap_mode
 * @period: the mean distance of samples
 * @cells: those of slot 0
 * @table: the samples
 */
struct mtag__view {
	struct mtag_heap_head *head;
	uint32_t mode;
	uint64_t period;
	struct mtag_heap_cell *cells;
	struct mtag__table table;
};

extern struct mtag__view mtag__view MTAG__HIDDEN;

/* What the environment asks for; 0: nothing. */
uint32_t mtag__view_wanted(uint64_t *period);

/*
 * Makes the area, for @wanted, and as @mode what can be. Returns false if there is no memory.
 * Nothing is registered yet.
 */
bool mtag__view_make(uint32_t wanted, uint32_t mode, uint64_t period, const char *reason,
		     const char *allocator);

/* Before the cells of slots but the first are used, up to @last. Returns false if there is no memory. */
bool mtag__view_open_slots(uint32_t first, uint32_t last);

/* Registers the area with the module, which then tracks this process; gives it a tag of its own. */
void mtag__view_register(void *filter, uint64_t bytes);

/* The nanoseconds of the area's clock. Keeps errno. */
uint64_t mtag__view_now(void);

#endif
