// SPDX-License-Identifier: GPL-2.0
/*
 * The table of images. It only grows while stacks are kept, since these refer to images by id, and
 * holds no file: a file system can be unmounted meanwhile.
 */
#include <linux/cred.h>
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include "compat/compat.h"
#include "image.h"
#include "memory.h"
#include "mtag.h"
#include "stat.h"
#include "user.h"

#define BLOCK	(PAGE_SIZE / sizeof(struct mtag_image *))
#define CHAINS	4096

/* By id, in blocks that are allocated as needed. Changed under images_lock, read without. */
static struct mtag_image **blocks[MTAG_IMAGES_MAX / BLOCK];
static u16 chains[CHAINS];	/* hash: the first id of each chain, or 0; images_lock */
static siphash_key_t secret;	/* of the hash, so that no user can choose a chain; constant */
static unsigned int nr_images = MTAG_IMAGE_FIRST;	/* images_lock */
static DEFINE_SPINLOCK(images_lock);	/* protects changes of the table, and what names it */

unsigned int mtag_image_tables;	/* unwind tables ever given; images_lock */
static size_t table_bytes;	/* of all unwind tables, and reserved; images_lock */
static struct mtag_image vdso;	/* not in the table: only its rows and what they refer to */

static struct mtag_image *image_at(unsigned int id)
{
	struct mtag_image **block = READ_ONCE(blocks[id / BLOCK]);

	return block ? READ_ONCE(block[id % BLOCK]) : NULL;
}

static size_t size_of(const struct mtag_image *image)
{
	return struct_size(image, path, strlen(image->path) + 1);
}

/* Where the image of a file for @uid is. */
static u16 *chain_of(const struct mtag_image *file, kuid_t uid)
{
	u64 hash = siphash_4u64((u64)file->dev << 32 | file->generation, file->ino, file->bytes,
				__kuid_val(uid), &secret);

	return &chains[hash % CHAINS];
}

static bool is_same_file(const struct mtag_image *a, const struct mtag_image *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->generation == b->generation &&
	       a->bytes == b->bytes;
}

/* The image of the same file for @uid. Context: images_lock. */
static int find_of(const struct mtag_image *file, kuid_t uid)
{
	struct mtag_image *image;
	u16 id;

	lockdep_assert_held(&images_lock);
	for (id = *chain_of(file, uid); id; id = image->next) {
		image = image_at(id);
		if (is_same_file(image, file) && uid_eq(image->uid, uid))
			return id;
	}
	return -ENOENT;
}

/* Context: images_lock. */
static int find_image(const struct mtag_image *like)
{
	return find_of(like, like->uid);
}

/* What identifies the image of @file for @uid. Context: may sleep. */
static struct mtag_image image_like(const struct file *file, kuid_t uid)
{
	/* What is mapped of a file on overlayfs is the file beneath. */
	const struct inode *inode = d_real_inode(file->f_path.dentry);

	return (struct mtag_image){
		.dev = inode->i_sb->s_dev,
		.ino = inode->i_ino,
		.generation = inode->i_generation,
		.bytes = i_size_read(inode),
		.uid = uid,
	};
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

static void table_free(struct mtag_image *image)
{
	mtag_memory_free(image->table, image->table_bytes);
}

static void image_free(struct mtag_image *image)
{
	if (!image)
		return;
	table_free(image);
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

/* Publishes rows before the number of blocks, which lookups read first. Context: images_lock. */
static void publish_rows(struct mtag_rows *to, const struct mtag_rows *from)
{
	lockdep_assert_held(&images_lock);
	to->index = from->index;
	to->rows = from->rows;
	to->recipes = from->recipes;
	to->first = from->first;
	/* Pairs with mtag_rows_find(). */
	smp_store_release(&to->blocks, from->blocks);
}

/* Root's table of a file is good for everybody. Context: images_lock. */
static void take_roots_rows(struct mtag_image *image)
{
	int id = find_of(image, GLOBAL_ROOT_UID);

	lockdep_assert_held(&images_lock);
	if (id >= 0 && image_at(id)->rows.blocks)
		publish_rows(&image->rows, &image_at(id)->rows);
}

/*
 * Adds *@image, using *@block if it needs one; takes those that it uses from the caller.
 * Context: images_lock.
 */
static int add_image(struct mtag_image **image, struct mtag_image ***block, struct mtag_user *user)
{
	unsigned int id = nr_images;
	u16 *chain = chain_of(*image, (*image)->uid);

	lockdep_assert_held(&images_lock);
	if (!mtag_user_may(user, user->images, MTAG_IMAGES_MAX - id, 1))
		return -ENOSPC;
	if (!blocks[id / BLOCK]) {
		if (!*block)
			return -ENOMEM;
		WRITE_ONCE(blocks[id / BLOCK], *block);
		*block = NULL;
	}
	take_roots_rows(*image);
	(*image)->id = id;
	(*image)->next = *chain;
	/* Pairs with the address dependency of image_at(). */
	smp_store_release(&blocks[id / BLOCK][id % BLOCK], *image);
	*image = NULL;
	*chain = id;
	nr_images++;
	user->images++;
	return id;
}

/**
 * mtag_image_of() - the image of a file
 * @file:	mapped executable
 * @uid:	whose process maps it
 * @user:	whose share of the table it uses
 * @gfp:	allocation flags of the caller's context
 *
 * Context: may take spinlocks; stacks are kept.
 * Return: its id; -ENOMEM; -ENOSPC if there are too many, or @user has too many of them.
 */
int __noendbr mtag_image_of(const struct file *file, kuid_t uid, struct mtag_user *user, gfp_t gfp)
{
	struct mtag_image like = image_like(file, uid);
	struct mtag_image **block = NULL, *image;
	unsigned int next;
	int id;

	spin_lock(&images_lock);
	id = find_image(&like);
	spin_unlock(&images_lock);
	if (id >= 0)
		return id;
	image = image_alloc(&like, file, gfp);
	if (!image)
		return -ENOMEM;
	do {
		next = READ_ONCE(nr_images);
		if (!block && next < MTAG_IMAGES_MAX && !READ_ONCE(blocks[next / BLOCK]))
			block = block_alloc(gfp);
		spin_lock(&images_lock);
		/* Another task may have been faster. */
		id = find_image(&like);
		if (id < 0)
			id = add_image(&image, &block, user);
		spin_unlock(&images_lock);
		/* Others may have filled the last block meanwhile. */
	} while (id == -ENOMEM && next != READ_ONCE(nr_images));
	image_free(image);
	block_free(block);
	return id;
}

/**
 * mtag_image_rows() - the unwind table of an image, which may be filled in later
 * @id:		id
 *
 * Context: any; stacks are kept, as long as it is used.
 * Return: NULL if there will never be one.
 */
const struct mtag_rows *mtag_image_rows(unsigned int id)
{
	if (id == MTAG_IMAGE_VDSO)
		return &vdso.rows;
	return id < MTAG_IMAGE_FIRST ? NULL : &image_at(id)->rows;
}

/* The image that @like tells, or the vdso's; NULL if there is none. Context: images_lock. */
static struct mtag_image *owner_of(const struct file *file, const struct mtag_image *like)
{
	int id;

	lockdep_assert_held(&images_lock);
	if (!file)
		return &vdso;
	id = find_image(like);
	return id < 0 ? NULL : image_at(id);
}

/**
 * mtag_image_reserve() - take room for the unwind table of a file
 * @file:	file; NULL: the vdso
 * @bytes:	size of the table
 * @user:	whose share of the room it takes
 *
 * Context: process; stacks are kept.
 * Return: 0: the caller must mtag_image_unreserve() it, or mtag_image_give() the table; -EEXIST if
 * there is one already; -ENOMEM if there is no room, or @user has too much of it.
 */
int mtag_image_reserve(const struct file *file, size_t bytes, struct mtag_user *user)
{
	size_t most = (size_t)READ_ONCE(mtag_unwind_kb) << 10;
	const struct mtag_image *image;
	struct mtag_image like = {};
	int ret = 0;

	if (file)
		like = image_like(file, current_euid());
	spin_lock(&images_lock);
	image = owner_of(file, &like);
	if (image && image->rows.blocks) {
		ret = -EEXIST;
	/* The parameter may have become less than there is. */
	} else if (!mtag_user_may(user, user->table_bytes, most - min(most, table_bytes), bytes)) {
		ret = -ENOMEM;
	} else {
		table_bytes += bytes;
		user->table_bytes += bytes;
	}
	spin_unlock(&images_lock);
	return ret;
}

/* There is no such table. Context: as mtag_image_reserve(). */
void mtag_image_unreserve(size_t bytes, struct mtag_user *user)
{
	spin_lock(&images_lock);
	table_bytes -= bytes;
	user->table_bytes -= bytes;
	spin_unlock(&images_lock);
}

/*
 * Root's table is for the images of all users that have none yet. Images that come later take it
 * themselves. Without the lock, since there may be as many images as there is room for.
 * Context: stacks are kept; may sleep.
 */
static void share_rows(const struct mtag_image *like, const struct mtag_rows *rows)
{
	struct mtag_image *image;
	unsigned int id, nr;

	spin_lock(&images_lock);
	nr = nr_images;
	spin_unlock(&images_lock);
	for (id = MTAG_IMAGE_FIRST; id < nr; id++) {
		image = image_at(id);
		if (is_same_file(image, like)) {
			spin_lock(&images_lock);
			if (!image->rows.blocks)
				publish_rows(&image->rows, rows);
			spin_unlock(&images_lock);
		}
		cond_resched();
	}
}

/* A walk that begins later than this sees all tables. */
static void count_table(void)
{
	spin_lock(&images_lock);
	/* Pairs with mtag_image_tables_given(): the table before its number. */
	smp_store_release(&mtag_image_tables, mtag_image_tables + 1);
	spin_unlock(&images_lock);
}

/**
 * mtag_image_give() - give the image of a file its unwind table
 * @file:	file that has an image of the current user; NULL: the vdso
 * @rows:	the table, checked
 * @table:	what @rows refers to, by mtag_memory_alloc()
 * @bytes:	its size, reserved
 *
 * A table stays as long as stacks are kept, so that hooks need not hold it.
 * Context: process; stacks are kept.
 * Return: 0; -EEXIST if there is one already: @table and what is reserved for it are still the
 * caller's.
 */
int mtag_image_give(const struct file *file, const struct mtag_rows *rows, void *table,
		    size_t bytes)
{
	struct mtag_image like = {}, *image;
	int ret = -EEXIST;

	if (file)
		like = image_like(file, current_euid());
	spin_lock(&images_lock);
	image = owner_of(file, &like);
	if (image && !image->rows.blocks) {
		image->table = table;
		image->table_bytes = bytes;
		publish_rows(&image->rows, rows);
		ret = 0;
	}
	spin_unlock(&images_lock);
	if (ret)
		return ret;
	if (file && uid_eq(like.uid, GLOBAL_ROOT_UID))
		share_rows(&like, rows);
	count_table();
	return 0;
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

/* Context: no stacks are kept. */
void mtag_image_begin(void)
{
	get_random_bytes(&secret, sizeof(secret));
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
	table_free(&vdso);
	memset(&vdso, 0, sizeof(vdso));
	table_bytes = 0;
	memset(chains, 0, sizeof(chains));
	nr_images = MTAG_IMAGE_FIRST;
}
