// SPDX-License-Identifier: GPL-2.0
/* The unwind table of a file: linux/mtag_unwind.h says what it is. */
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "unwind/cfi.h"
#include "unwind/ranges.h"
#include "unwind/recipe.h"
#include "unwind/table.h"

/* mov $__NR_rt_sigreturn,%rax; syscall */
static const uint8_t sigreturn[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05};

/* Bytes of the code at which a file is entered. */
#define ENTRY_MOST 128

/* What is made into a table. */
struct draft {
	const struct image *image;
	struct ranges ranges;
};

static int add(void *data, uint64_t start, uint64_t end, const struct mtag_unwind_recipe *recipe)
{
	struct draft *draft = data;
	uint64_t from, last;

	/* Code that was thrown away keeps its entries in some files, and is nowhere. */
	if (!image_offset(draft->image, start, &from) ||
	    !image_offset(draft->image, end - 1, &last) || last - from != end - 1 - start ||
	    from < draft->ranges.end)
		return 0;
	return ranges_add(&draft->ranges, from, last + 1, recipe);
}

/*
 * Not every C library says of its trampoline that it is a signal's frame. The return address to it
 * belongs to the instruction before, wherever that is from.
 */
static int add_trampolines(struct draft *draft)
{
	const struct mtag_unwind_recipe recipe = recipe_plain(MTAG_UNWIND_SIGNAL);
	int err = 0;
	size_t size;
	const uint8_t *file = (const uint8_t *)elf_rawfile(draft->image->elf, &size);

	if (!file)
		return 0;
	for (unsigned int i = 0; i < draft->image->texts && !err; i++) {
		const struct text *text = &draft->image->text[i];
		const uint8_t *at = file + text->offset, *end = at + text->size;

		if (text->offset > size || text->size > size - text->offset)
			continue;
		while (!err &&
		       (at = memmem(at, (size_t)(end - at), sigreturn, sizeof(sigreturn)))) {
			uint64_t offset = (uint64_t)(at - file);

			at += sizeof(sigreturn);
			err = ranges_replace(&draft->ranges, offset ? offset - 1 : 0,
					     offset + sizeof(sigreturn), &recipe);
		}
	}
	return err;
}

/*
 * The code at which a file is entered has no caller, whether or not its CFI says so; that of glibc's loader has none. It
 * is up to the next function that has.
 */
static int add_entry(struct draft *draft)
{
	const struct mtag_unwind_recipe end = recipe_plain(MTAG_UNWIND_END);
	struct ranges *ranges = &draft->ranges;
	uint64_t from, to;
	GElf_Ehdr header;

	if (!gelf_getehdr(draft->image->elf, &header) || !header.e_entry ||
	    !image_offset(draft->image, header.e_entry, &from) ||
	    !ranges_says_nothing(ranges, from, &to))
		return 0;
	if (to - from > ENTRY_MOST)
		to = from + ENTRY_MOST;
	return ranges_replace(ranges, from, to, &end);
}

/* The blocks that the text of a file is in. */
static void span(const struct image *image, uint64_t *first, uint64_t *blocks)
{
	uint64_t from = UINT64_MAX, to = 0;

	for (unsigned int i = 0; i < image->texts; i++) {
		const struct text *text = &image->text[i];

		from = text->offset < from ? text->offset : from;
		to = text->offset + text->size > to ? text->offset + text->size : to;
	}
	*first = from >> MTAG_UNWIND_SHIFT;
	*blocks = ((to - 1) >> MTAG_UNWIND_SHIFT) + 1 - *first;
}

/* Each block begins with a row: that of the range that goes on, unless one begins there. */
static uint32_t write_rows(const struct ranges *ranges, uint64_t first, uint64_t blocks,
			   uint32_t *index, uint32_t *rows)
{
	uint32_t count = 0;
	size_t i = 0;

	for (uint64_t block = 0; block < blocks; block++) {
		uint64_t start = (first + block) << MTAG_UNWIND_SHIFT;

		while (i + 1 < ranges->count && ranges->range[i + 1].offset <= start)
			i++;
		index[block] = count;
		rows[count++] = ranges->range[i].recipe;
		for (; i + 1 < ranges->count &&
		       ranges->range[i + 1].offset < start + MTAG_UNWIND_BLOCK;
		     i++)
			rows[count++] = (uint32_t)(ranges->range[i + 1].offset - start)
						<< MTAG_UNWIND_LOW |
					ranges->range[i + 1].recipe;
	}
	index[blocks] = count;
	return count;
}

static int write_table(const struct draft *draft, struct table *table)
{
	const struct ranges *ranges = &draft->ranges;
	size_t recipes = ranges->recipes * sizeof(*ranges->recipe);
	struct mtag_unwind_header *header;
	uint64_t first, blocks;
	uint32_t *index, *rows;

	span(draft->image, &first, &blocks);
	if (first > UINT32_MAX || blocks > MTAG_UNWIND_BLOCKS_MAX ||
	    ranges->count + blocks > MTAG_UNWIND_ROWS_MAX)
		return -E2BIG;
	header = calloc(1, sizeof(*header) + (blocks + 1) * sizeof(*index) +
				   (ranges->count + blocks) * sizeof(*rows) + recipes);
	if (!header)
		return -ENOMEM;
	*header = (struct mtag_unwind_header){
		.magic = MTAG_UNWIND_MAGIC,
		.version = MTAG_UNWIND_VERSION,
		.first = (uint32_t)first,
		.blocks = (uint32_t)blocks,
		.recipes = ranges->recipes,
		.id_size = draft->image->id_size,
	};
	memcpy(header->id, draft->image->id, header->id_size);
	index = (uint32_t *)(header + 1);
	rows = index + blocks + 1;
	header->rows = write_rows(ranges, first, blocks, index, rows);
	memcpy(rows + header->rows, ranges->recipe, recipes);
	table->data = header;
	table->size = (size_t)((char *)(rows + header->rows) - (char *)header) + recipes;
	return 0;
}

int table_make(const struct image *image, struct table *table)
{
	struct draft draft = {.image = image};
	int err = ranges_init(&draft.ranges);

	if (err)
		return err;
	err = cfi_read(image, add, &draft);
	if (!err)
		err = ranges_finish(&draft.ranges);
	if (!err)
		err = add_entry(&draft);
	if (!err)
		err = add_trampolines(&draft);
	if (!err)
		err = write_table(&draft, table);
	ranges_clear(&draft.ranges);
	return err;
}

bool table_fits(const struct table *table, const struct image *image)
{
	const struct mtag_unwind_header *header = table->data;
	uint64_t first, blocks;

	if (table->size < sizeof(*header) || header->magic != MTAG_UNWIND_MAGIC ||
	    header->version != MTAG_UNWIND_VERSION || header->id_size != image->id_size ||
	    memcmp(header->id, image->id, image->id_size))
		return false;
	span(image, &first, &blocks);
	return header->first == first && header->blocks == blocks &&
	       table->size == sizeof(*header) + (blocks + 1) * sizeof(uint32_t) +
				      (uint64_t)header->rows * sizeof(uint32_t) +
				      (uint64_t)header->recipes * sizeof(struct mtag_unwind_recipe);
}
