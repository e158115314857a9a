// SPDX-License-Identifier: GPL-2.0
/*
 * The table of images. It only grows while stacks are kept, since these refer to images by id, and
 * holds no file: a file system can be unmounted meanwhile.
 */
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/limits.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include "compat/compat.h"
#include "image.h"
#include "memory.h"
#include "mtag.h"

#define BLOCK	(PAGE_SIZE / sizeof(struct mtag_image *))
#define CHAINS	256

/* By id, in blocks that are allocated as needed. Changed under images_lock, read without. */
static struct mtag_image **blocks[MTAG_IMAGES_MAX / BLOCK];
static u16 chains[CHAINS];	/* hash by inode: the first id of each chain, or 0; images_lock */
static unsigned int nr_images = MTAG_IMAGE_FIRST;	/* images_lock */
static DEFINE_SPINLOCK(images_lock);

static struct mtag_image *image_at(unsigned int id)
{
	struct mtag_image **block = READ_ONCE(blocks[id / BLOCK]);

	return block ? READ_ONCE(block[id % BLOCK]) : NULL;
}

static size_t size_of(const struct mtag_image *image)
{
	return struct_size(image, path, strlen(image->path) + 1);
}

static u16 *chain_of(u64 ino)
{
	return &chains[hash_64(ino, ilog2(CHAINS))];
}

/* Context: images_lock. */
static int find(const struct mtag_image *like)
{
	struct mtag_image *image;
	u16 id;

	for (id = *chain_of(like->ino); id; id = image->next) {
		image = image_at(id);
		if (image->dev == like->dev && image->ino == like->ino &&
		    image->generation == like->generation && image->bytes == like->bytes)
			return id;
	}
	return -ENOENT;
}

static struct mtag_image *image_alloc(const struct mtag_image *like, const struct file *file,
				      gfp_t gfp)
{
	char *buf = kmalloc(PATH_MAX, gfp), *path;
	struct mtag_image *image = NULL;
	size_t len;

	if (!buf)
		return NULL;
	path = d_path(mtag_file_path(file), buf, PATH_MAX);
	if (IS_ERR(path))
		path = "?";
	len = strlen(path) + 1;
	if (mtag_memory_charge(struct_size(image, path, len)))
		goto free;
	image = kmalloc(struct_size(image, path, len), gfp);
	if (image) {
		*image = *like;
		memcpy(image->path, path, len);
	} else {
		mtag_memory_uncharge(struct_size(image, path, len));
	}
free:
	kfree(buf);
	return image;
}

static void image_free(struct mtag_image *image)
{
	if (!image)
		return;
	mtag_memory_uncharge(size_of(image));
	kfree(image);
}

static struct mtag_image **block_alloc(gfp_t gfp)
{
	struct mtag_image **block;

	if (mtag_memory_charge(PAGE_SIZE))
		return NULL;
	block = kzalloc(PAGE_SIZE, gfp);
	if (!block)
		mtag_memory_uncharge(PAGE_SIZE);
	return block;
}

static void block_free(struct mtag_image **block)
{
	if (!block)
		return;
	mtag_memory_uncharge(PAGE_SIZE);
	kfree(block);
}

/*
 * Adds *@image, using *@block if it needs one; takes those that it uses from the caller.
 * Context: images_lock.
 */
static int add(struct mtag_image **image, struct mtag_image ***block)
{
	unsigned int id = nr_images;
	u16 *chain = chain_of((*image)->ino);

	if (id == MTAG_IMAGES_MAX)
		return -ENOSPC;
	if (!blocks[id / BLOCK]) {
		if (!*block)
			return -ENOMEM;
		WRITE_ONCE(blocks[id / BLOCK], *block);
		*block = NULL;
	}
	(*image)->id = id;
	(*image)->next = *chain;
	/* Pairs with the address dependency of image_at(). */
	smp_store_release(&blocks[id / BLOCK][id % BLOCK], *image);
	*image = NULL;
	*chain = id;
	nr_images++;
	return id;
}

/**
 * mtag_image_of() - the image of a file
 * @file:	mapped executable
 * @gfp:	allocation flags of the caller's context
 *
 * Context: may take spinlocks; stacks are kept.
 * Return: its id; -ENOMEM; -ENOSPC if there are too many.
 */
int mtag_image_of(const struct file *file, gfp_t gfp)
{
	const struct inode *inode = file_inode(file);
	struct mtag_image like = {
		.dev = inode->i_sb->s_dev,
		.ino = inode->i_ino,
		.generation = inode->i_generation,
		.bytes = i_size_read(inode),
	};
	struct mtag_image **block = NULL, *image;
	unsigned int next;
	int id;

	spin_lock(&images_lock);
	id = find(&like);
	spin_unlock(&images_lock);
	if (id >= 0)
		return id;
	image = image_alloc(&like, file, gfp);
	if (!image)
		return -ENOMEM;
	next = READ_ONCE(nr_images);
	if (next < MTAG_IMAGES_MAX && !READ_ONCE(blocks[next / BLOCK]))
		block = block_alloc(gfp);
	spin_lock(&images_lock);
	/* Another task may have been faster. */
	id = find(&like);
	if (id < 0)
		id = add(&image, &block);
	spin_unlock(&images_lock);
	image_free(image);
	block_free(block);
	return id;
}

/**
 * mtag_image_path() - the path of an image, or a name in brackets
 * @id:		id
 *
 * Context: stacks are kept.
 */
const char *mtag_image_path(unsigned int id)
{
	const struct mtag_image *image;

	if (id == MTAG_IMAGE_ANON)
		return "[anon]";
	if (id == MTAG_IMAGE_VDSO)
		return "[vdso]";
	image = id < MTAG_IMAGES_MAX ? image_at(id) : NULL;
	return image ? image->path : "?";
}

/* Forgets all images. Context: no stacks are kept; may sleep. */
void mtag_image_end(void)
{
	unsigned int id;

	for (id = MTAG_IMAGE_FIRST; id < nr_images; id++)
		image_free(image_at(id));
	for (id = 0; id < ARRAY_SIZE(blocks); id++) {
		block_free(blocks[id]);
		blocks[id] = NULL;
	}
	memset(chains, 0, sizeof(chains));
	nr_images = MTAG_IMAGE_FIRST;
}
