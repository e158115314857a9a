// SPDX-License-Identifier: GPL-2.0
/* An ELF file of x86-64 whose code can be unwound: its text, and its build-id. */
#include <elf.h>
#include <errno.h>
#include <gelf.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unwind/image.h"

#define NOTES_MOST 16
#define NOTE_MOST  65536 /* bytes */

/* A file is @size bytes: what its headers claim beyond that is not executed. */
static int read_texts(struct image *image, uint64_t size)
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
		    phdr.p_offset + phdr.p_filesz > size ||
		    phdr.p_vaddr + phdr.p_filesz < phdr.p_vaddr || image->texts == IMAGE_TEXTS)
			return -ENOEXEC;
		image->text[image->texts++] =
			(struct text){phdr.p_vaddr, phdr.p_offset, phdr.p_filesz};
	}
	return image->texts ? 0 : -ENOEXEC;
}

/* Takes the build-id if it is among these notes. */
static bool find_id(struct image *image, Elf_Data *notes)
{
	size_t at = 0, next, name, text;
	GElf_Nhdr note;

	while (notes && (next = gelf_getnote(notes, at, &note, &name, &text)) > 0) {
		const char *bytes = notes->d_buf;

		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    !memcmp(bytes + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) &&
		    note.n_descsz <= sizeof(image->id)) {
			memcpy(image->id, bytes + text, note.n_descsz);
			image->id_size = note.n_descsz;
			return true;
		}
		at = next;
	}
	return false;
}

/* Likewise among those at @offset. */
static bool find_id_at(struct image *image, uint64_t offset, uint64_t size, uint64_t align)
{
	Elf_Type type = align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR;

	return size <= NOTE_MOST &&
	       find_id(image, elf_getdata_rawchunk(image->elf, (int64_t)offset, size, type));
}

/*
 * Not dwelf_elf_gnu_build_id(): that reads all notes of a file, which whoever made it may have as many and as large as
 * the file can be.
 */
static void read_id(struct image *image)
{
	unsigned int notes = 0;
	Elf_Scn *section = NULL;
	GElf_Phdr phdr;
	GElf_Shdr shdr;
	size_t count;

	if (elf_getphdrnum(image->elf, &count))
		return;
	for (size_t i = 0; i < count && notes < NOTES_MOST; i++) {
		if (!gelf_getphdr(image->elf, (int)i, &phdr) || phdr.p_type != PT_NOTE)
			continue;
		notes++;
		if (find_id_at(image, phdr.p_offset, phdr.p_filesz, phdr.p_align))
			return;
	}
	/* Go's linker puts it in a section alone. */
	while ((section = elf_nextscn(image->elf, section)) && notes < 2 * NOTES_MOST) {
		if (!gelf_getshdr(section, &shdr) || shdr.sh_type != SHT_NOTE)
			continue;
		notes++;
		if (find_id_at(image, shdr.sh_offset, shdr.sh_size, shdr.sh_addralign))
			return;
	}
}

/* Its headers say what libelf allocates: there are not more than fit into two bytes. */
static bool is_bounded(int fd)
{
	Elf64_Ehdr header;

	return pread(fd, &header, sizeof(header), 0) == sizeof(header) &&
	       header.e_phnum != PN_XNUM && (header.e_shnum || !header.e_shoff);
}

/* Takes @elf of @size bytes, which may be NULL. */
static int look(struct image *image, Elf *elf, int fd, uint64_t size)
{
	GElf_Ehdr header;
	int err = -ENOEXEC;

	*image = (struct image){.elf = elf, .fd = fd};
	if (elf && elf_kind(elf) == ELF_K_ELF && gelf_getclass(elf) == ELFCLASS64 &&
	    gelf_getehdr(elf, &header) && header.e_machine == EM_X86_64)
		err = read_texts(image, size);
	if (err)
		image_close(image);
	else
		read_id(image);
	return err;
}

int image_open(struct image *image, int fd)
{
	struct stat st;

	if (!is_bounded(fd) || fstat(fd, &st)) {
		*image = (struct image){.fd = -1};
		return -ENOEXEC;
	}
	elf_version(EV_CURRENT);
	/* Not mapped: its owner may cut it off meanwhile. For that libelf never frees its notes, some 100 bytes. */
	return look(image, elf_begin(fd, ELF_C_READ, NULL), fd, (uint64_t)st.st_size);
}

static int open_memory(struct image *image, void *data, size_t size)
{
	elf_version(EV_CURRENT);
	return look(image, elf_memory(data, size), -1, size);
}

int image_open_vdso(struct image *image)
{
	char *start = (char *)getauxval(AT_SYSINFO_EHDR);
	Elf64_Ehdr header;

	if (!start)
		return -ENOENT;
	memcpy(&header, start, sizeof(header));
	/* The kernel's build puts the table of sections at the end. */
	return open_memory(image, start,
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
