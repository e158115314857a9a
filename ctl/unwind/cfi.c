// SPDX-License-Identifier: GPL-2.0
/*
 * The call frame information of an ELF file: .eh_frame, range by range. Which functions there are, its
 * entries say; what is so at an address, libdw.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "unwind/cfi.h"
#include "unwind/recipe.h"

/*
 * Bytes of instructions that are interpreted for a file. What is so at an address libdw finds out from the beginning of
 * its function on: for a function of a million rows that would take hours. The largest programs need a tenth.
 */
#define WORK_MOST (1ULL << 31)

/* Addresses of a function, and how many bytes of instructions it has. */
struct function {
	uint64_t start, end, work;
};

/**
 * struct entries - the entries of .eh_frame
 * @ident:	e_ident of the file
 * @data:	contents
 * @address:	of the section
 * @function:	what was found
 * @count:	how many
 * @room:	how many fit
 * @cie:	offset of the CIE that was looked at last
 * @encoding:	of addresses, according to that
 */
struct entries {
	const unsigned char *ident;
	Elf_Data *data;
	uint64_t address;
	struct function *function;
	size_t count, room;
	uint64_t cie;
	unsigned int encoding;
};

static int find_section(struct entries *entries, Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return -ENODATA;
	while ((section = elf_nextscn(elf, section))) {
		const char *name = NULL;

		if (gelf_getshdr(section, &header))
			name = elf_strptr(elf, names, header.sh_name);
		if (name && !strcmp(name, ".eh_frame") && header.sh_type != SHT_NOBITS)
			break;
	}
	entries->data = section ? elf_rawdata(section, NULL) : NULL;
	if (!entries->data || !entries->data->d_buf)
		return -ENODATA;
	entries->address = header.sh_addr;
	entries->ident = (const unsigned char *)elf_getident(elf, NULL);
	return 0;
}

/* Bytes of a value, or 0 if they vary or nobody uses it. */
static unsigned int size_of(unsigned int encoding)
{
	switch (encoding & 0xf) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return 8;
	case DW_EH_PE_udata4:
	case DW_EH_PE_sdata4:
		return 4;
	case DW_EH_PE_udata2:
	case DW_EH_PE_sdata2:
		return 2;
	default:
		return 0;
	}
}

static uint64_t decode(const uint8_t *at, unsigned int encoding)
{
	unsigned int size = size_of(encoding);
	uint64_t value = 0;

	for (unsigned int i = size; i--;)
		value = value << 8 | at[i];
	if (encoding & 8 && size < 8 && value >> (size * 8 - 1))
		value -= 1ULL << (size * 8);
	return value;
}

/* How functions of this CIE say where they begin; DW_EH_PE_omit if it cannot be known. */
static unsigned int encoding_of(const Dwarf_CIE *cie)
{
	const uint8_t *at = cie->augmentation_data, *end = at + cie->augmentation_data_size;
	const char *letter = cie->augmentation;

	if (*letter++ != 'z')
		return DW_EH_PE_absptr;
	for (; *letter; letter++) {
		if (*letter == 'S' || *letter == 'B')
			continue;
		if (at >= end)
			break;
		if (*letter == 'R')
			return *at;
		if (*letter == 'P') {
			if (!size_of(*at))
				break;
			at += size_of(*at);
		} else if (*letter != 'L') {
			break;
		}
		at++;
	}
	return *letter ? DW_EH_PE_omit : DW_EH_PE_absptr;
}

static unsigned int find_encoding(struct entries *entries, uint64_t offset)
{
	Dwarf_CFI_Entry entry;
	Dwarf_Off next;

	if (offset != entries->cie) {
		entries->cie = offset;
		entries->encoding = DW_EH_PE_omit;
		if (!dwarf_next_cfi(entries->ident, entries->data, true, (Dwarf_Off)offset, &next,
				    &entry) &&
		    dwarf_cfi_cie_p(&entry))
			entries->encoding = encoding_of(&entry.cie);
	}
	return entries->encoding;
}

static int add_function(struct entries *entries, const Dwarf_FDE *fde)
{
	unsigned int encoding = find_encoding(entries, fde->CIE_pointer), size = size_of(encoding);
	const uint8_t *base = entries->data->d_buf, *at = fde->start;
	uint64_t start, length;

	if (encoding == DW_EH_PE_omit || !size || fde->end - at < 2 * size ||
	    (encoding & 0xf0 && (encoding & 0xf0) != DW_EH_PE_pcrel))
		return 0;
	start = decode(at, encoding);
	if (encoding & DW_EH_PE_pcrel)
		start += entries->address + (uint64_t)(at - base);
	length = decode(at + size, encoding & 7);
	if (!length || start + length < start)
		return 0;
	if (entries->count == entries->room) {
		size_t room = entries->room * 2 + 1024;
		void *more = realloc(entries->function, room * sizeof(*entries->function));

		if (!more)
			return -ENOMEM;
		entries->function = more;
		entries->room = room;
	}
	entries->function[entries->count++] =
		(struct function){start, start + length, (uint64_t)(fde->end - fde->start)};
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static int read_entries(struct entries *entries)
{
	Dwarf_Off offset = 0, next = 0;
	Dwarf_CFI_Entry entry;
	int found, err = 0;

	/* -1 is an entry that libdw does not understand. */
	while (!err && (found = dwarf_next_cfi(entries->ident, entries->data, true, offset, &next,
					       &entry)) != 1) {
		if (!found && !dwarf_cfi_cie_p(&entry))
			err = add_function(entries, &entry.fde);
		if (next <= offset || next == (Dwarf_Off)-1)
			break;
		offset = next;
	}
	if (entries->count)
		qsort(entries->function, entries->count, sizeof(*entries->function), by_start);
	return err;
}

/* The ranges of a function. */
static int read_function(Dwarf_CFI *cfi, const struct function *function, uint64_t *work,
			 cfi_func *func, void *data)
{
	uint64_t start = function->start, stop = function->end;
	int err = 0;

	while (start < stop && !err) {
		_cleanup_(freep) Dwarf_Frame *frame = NULL;
		struct mtag_unwind_recipe recipe = recipe_plain(MTAG_UNWIND_STOP);
		Dwarf_Addr from, to = stop;
		bool signal;

		*work += function->work;
		if (*work > WORK_MOST)
			return -E2BIG;
		if (!dwarf_cfi_addrframe(cfi, start, &frame)) {
			dwarf_frame_info(frame, &from, &to, &signal);
			recipe = recipe_of(frame, signal);
		}
		if (to <= start || to > stop)
			to = stop;
		err = func(data, start, to, &recipe);
		start = to;
	}
	return err;
}

int cfi_read(const struct image *image, cfi_func *func, void *data)
{
	struct entries entries = {.cie = UINT64_MAX};
	int err = find_section(&entries, image->elf);
	Dwarf_CFI *cfi;
	uint64_t end = 0, work = 0;

	if (err)
		return err;
	cfi = dwarf_getcfi_elf(image->elf);
	if (!cfi)
		return -ENODATA;
	err = read_entries(&entries);
	for (size_t i = 0; i < entries.count && !err; i++) {
		struct function *function = &entries.function[i];

		/* Of two that overlap, the first is believed. */
		if (function->start < end)
			function->start = end;
		if (function->start >= function->end)
			continue;
		end = function->end;
		err = read_function(cfi, function, &work, func, data);
	}
	dwarf_cfi_end(cfi);
	free(entries.function);
	return err;
}
