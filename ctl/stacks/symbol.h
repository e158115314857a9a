/* SPDX-License-Identifier: GPL-2.0 */
/* Addresses in files into functions, with those inlined there, and lines. */
#ifndef MTAGCTL_STACKS_SYMBOL_H
#define MTAGCTL_STACKS_SYMBOL_H

#include "stacks/trace.h"

#define SYMBOL_INLINES_MOST 16 /* functions of one address; what is inlined deeper is left out */

/**
 * struct symbol - a function at an address
 * @function:	demangled
 * @file:	its source, NULL if it is unknown
 * @line:	where in it, 0 if that is unknown
 * @inlined:	into the one behind it
 * @lasting:	from debug information of a file with a build-id that only we and root can have written: it will be found
 *		whenever it is looked for
 */
struct symbol {
	char *function;
	char *file;
	unsigned int line;
	bool inlined, lasting;
};

struct symbols;

/* For the images of process @pid, whose files are looked up in its root. NULL without memory. */
struct symbols *symbols_open(pid_t pid);
void symbols_close(struct symbols *symbols);
static inline void symbols_closep(struct symbols **symbols)
{
	symbols_close(*symbols);
}

/* The build-id of an image's file, as object_build_id(). */
size_t symbols_build_id(struct symbols *symbols, const struct trace_image *image,
			uint8_t id[TRACE_BUILD_ID_MOST]);

/*
 * Can only root and we have written the file of an image? Nothing in the file is looked at for that,
 * so that whoever asks may leave it alone.
 */
bool symbols_trusts(struct symbols *symbols, const struct trace_image *image);

/*
 * The address of a place in an image's file, as its headers count them and what knows its functions will: of @exact,
 * or of the call before it. 0 if the file cannot say.
 */
uint64_t symbols_address(struct symbols *symbols, const struct trace_image *image, uint64_t offset,
			 bool exact);

/*
 * The functions at @offset of an image, the innermost first. @exact: it is an instruction, not a return address.
 * Returns how many there are, none for a file that is stripped, gone, or not the one that was mapped.
 */
size_t symbols_find(struct symbols *symbols, const struct trace_image *image, uint64_t offset,
		    bool exact, struct symbol found[SYMBOL_INLINES_MOST]);

#endif
