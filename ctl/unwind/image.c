// SPDX-License-Identifier: GPL-2.0
/* An ELF file of x86-64 whose code can be unwound: its text, and its build-id. */
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <gelf.h>
#include <string.h>
#include <sys/auxv.h>

#include "unwind/image.h"

static int read_texts(struct image *image)
{
	size_t count;

	if (elf_getphdrnum(image->elf, &count))
		return -ENOEXEC;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr phdr;

		if (!gelf_getphdr(image->elf, (int)i, &phdr))
			return -ENOEXEC;
		if (phdr.p_type != PT_LOAD || !(phdr.p_flags & PF_X) || !phdr.p_filesz)
			continue;
		if (phdr.p_offset + phdr.p_filesz < phdr.p_offset ||
		    phdr.p_vaddr + phdr.p_filesz < phdr.p_vaddr || image->texts == IMAGE_TEXTS)
			return -ENOEXEC;
		image->text[image->texts++] =
			(struct text){phdr.p_vaddr, phdr.p_offset, phdr.p_filesz};
	}
	return image->texts ? 0 : -ENOEXEC;
}

static void read_id(struct image *image)
{
	const void *id;
	ssize_t size = dwelf_elf_gnu_build_id(image->elf, &id);

	if (size <= 0 || (size_t)size > sizeof(image->id))
		return;
	memcpy(image->id, id, (size_t)size);
	image->id_size = (unsigned int)size;
}

/* Takes @elf, which may be NULL. */
static int look(struct image *image, Elf *elf)
{
	GElf_Ehdr header;
	int err = -ENOEXEC;

	*image = (struct image){.elf = elf};
	if (elf && elf_kind(elf) == ELF_K_ELF && gelf_getclass(elf) == ELFCLASS64 &&
	    gelf_getehdr(elf, &header) && header.e_machine == EM_X86_64)
		err = read_texts(image);
	if (err)
		image_close(image);
	else
		read_id(image);
	return err;
}

int image_open(struct image *image, int fd)
{
	elf_version(EV_CURRENT);
	/* Not mapped: its owner may cut it off meanwhile. For that libelf never frees its notes, some 100 bytes. */
	return look(image, elf_begin(fd, ELF_C_READ, NULL));
}

int image_open_memory(struct image *image, void *data, size_t size)
{
	elf_version(EV_CURRENT);
	return look(image, elf_memory(data, size));
}

int image_open_vdso(struct image *image)
{
	char *start = (char *)getauxval(AT_SYSINFO_EHDR);
	Elf64_Ehdr header;

	if (!start)
		return -ENOENT;
	memcpy(&header, start, sizeof(header));
	/* The kernel's build puts the table of sections at the end. */
	return image_open_memory(image, start,
				 header.e_shoff + header.e_shnum * (size_t)header.e_shentsize);
}

void image_close(struct image *image)
{
	elf_end(image->elf);
	image->elf = NULL;
}

bool image_offset(const struct image *image, uint64_t address, uint64_t *offset)
{
	for (unsigned int i = 0; i < image->texts; i++) {
		const struct text *text = &image->text[i];

		if (address - text->address < text->size) {
			*offset = address - text->address + text->offset;
			return true;
		}
	}
	return false;
}
