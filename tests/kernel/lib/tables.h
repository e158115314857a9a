/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Unwind tables that lie, and files of code that touches pages with any registers: what user space may do to those who
 * walk its stack.
 */
#ifndef MTAG_TESTS_TABLES_H
#define MTAG_TESTS_TABLES_H

#include "fuzz.h"
#include "uapi/linux/mtag_unwind.h"

#define TABLE_ROOM 8192

/* A table's bytes. */
struct table {
	size_t bytes;
	union {
		struct mtag_unwind_header header;
		uint32_t words[TABLE_ROOM / 4];
	};
};

/* A recipe that the module should take, but whose words are arbitrary. */
struct mtag_unwind_recipe some_recipe(struct random *r);

/* A valid table of random rows, from the start of the file on. */
void some_table(struct random *r, struct table *t);

/* Changes something that may make it invalid. */
void mangle_table(struct random *r, struct table *t);

/* By linux/mtag_unwind.h alone. */
bool is_table(const struct table *t);

/* Hands it in: 0 or -errno. */
int table_give(int fd, const void *table, uint64_t bytes);

/* ---- code ---- */

/* A new file of @pages; each begins with code that fits touch_as(). */
int code_file(size_t pages);

struct wild {
	uint64_t sp, bp, bx;
};

/* Writes to @page by the code at @code while the registers are @w. No signal may come meanwhile. */
void touch_as(const void *code, void *page, const struct wild *w);

#endif
