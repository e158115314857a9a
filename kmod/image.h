/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Images: the files that processes with stacks have mapped executable; image.c.
 */
#ifndef MTAG_IMAGE_H
#define MTAG_IMAGE_H

#include <linux/gfp_types.h>
#include <linux/types.h>
#include <linux/uidgid.h>
#include <asm/barrier.h>
#include <asm/ibt.h>
#include "rows.h"

struct file;
struct mtag_user;

/* Ids of executable memory that belongs to no file; those of files follow. */
#define MTAG_IMAGE_ANON		0	/* its offsets are addresses */
#define MTAG_IMAGE_VDSO		1
#define MTAG_IMAGE_FIRST	2
#define MTAG_IMAGES_MAX		32768

/**
 * struct mtag_image - a file that is, or was, mapped executable
 * @dev:	device, inode, generation and size tell it from other files
 * @ino:	see @dev
 * @generation:	see @dev
 * @bytes:	see @dev
 * @uid:	whose processes map it: others have an image of their own
 * @id:		its index in the table
 * @next:	id of the next in its chain of the hash, or 0
 * @rows:	its unwind table; without blocks while there is none. Filled once, under
 *		images_lock, the number of blocks last, by smp_store_release()
 * @table:	what @rows refers to, if it is this image's own; images_lock
 * @table_bytes: size of @table; images_lock
 * @path:	its path when it was first mapped, as that process saw it
 *
 * The others are constant once it is in the table.
 */
struct mtag_image {
	dev_t dev;
	u32 generation;
	u64 ino;
	u64 bytes;
	kuid_t uid;
	u16 id;
	u16 next;
	struct mtag_rows rows;
	void *table;
	size_t table_bytes;
	char path[];
};

int __noendbr mtag_image_of(const struct file *file, kuid_t uid, struct mtag_user *user, gfp_t gfp);
const struct mtag_rows *mtag_image_rows(unsigned int id);
int mtag_image_reserve(const struct file *file, size_t bytes, struct mtag_user *user);
void mtag_image_unreserve(size_t bytes, struct mtag_user *user);
int mtag_image_give(const struct file *file, const struct mtag_rows *rows, void *table,
		    size_t bytes);
const char *mtag_image_path(unsigned int id);
void mtag_image_begin(void);
void mtag_image_end(void);

extern unsigned int mtag_image_tables;

/**
 * mtag_image_tables_given() - how many tables have been given
 *
 * Inline, as each first touch with a stack asks. Context: any.
 * Return: a number; a walk that begins later sees them all.
 */
static inline unsigned int mtag_image_tables_given(void)
{
	/* Pairs with mtag_image_give(). */
	return smp_load_acquire(&mtag_image_tables);
}

#endif /* MTAG_IMAGE_H */
