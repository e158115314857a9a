/* SPDX-License-Identifier: GPL-2.0 */
/* An ELF file of x86-64 whose code can be unwound: its text, and its build-id. */
#ifndef MTAGCTL_UNWIND_IMAGE_H
#define MTAGCTL_UNWIND_IMAGE_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMAGE_TEXTS 16

/* A part of the file that is mapped executable. */
struct text {
	uint64_t address;
	uint64_t offset;
	uint64_t size;
};

/**
 * struct image - an ELF file
 * @elf:	for libelf and libdw
 * @fd:		that they read, or -1
 * @text:	in the order of the file's headers
 * @texts:	how many
 * @id:		build-id
 * @id_size:	its bytes, 0 if it has none
 */
struct image {
	Elf *elf;
	int fd;
	struct text text[IMAGE_TEXTS];
	unsigned int texts;
	uint8_t id[32];
	unsigned int id_size;
};

/*
 * Returns 0 or a negative errno: -ENOEXEC, it is no ELF file of x86-64 with code. @fd must stay until
 * image_close().
 */
int image_open(struct image *image, int fd);
/* Opens the vdso of this process, which is that of all. -ENOENT: there is none. */
int image_open_vdso(struct image *image);
void image_close(struct image *image);

/* Where the code at @address is in the file; false if there is none. */
bool image_offset(const struct image *image, uint64_t address, uint64_t *offset);

#endif
