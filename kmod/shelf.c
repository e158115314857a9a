// SPDX-License-Identifier: GPL-2.0
/*
 * Takes unwind tables from user space, checks them, and gives them to the images that they are of.
 *
 * Anybody may hand in tables, which say how to walk stacks: those of a user are good for what that
 * user runs, those of root for everybody. No user except root takes more of the room than it
 * leaves.
 */
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/stat.h>
#include <linux/uaccess.h>
#include "image.h"
#include "memory.h"
#include "mtag.h"
#include "rows.h"
#include "shelf.h"
#include "stacks.h"
#include "stat.h"
#include "user.h"

static bool is_root(void)
{
	return uid_eq(current_euid(), GLOBAL_ROOT_UID);
}

/* A copy of the user's table. */
static void *table_copy(const void __user *table, size_t bytes)
{
	void *copy = mtag_memory_alloc(bytes, MTAG_GFP);

	if (!copy)
		return ERR_PTR(-ENOMEM);
	if (!copy_from_user(copy, table, bytes))
		return copy;
	mtag_memory_free(copy, bytes);
	return ERR_PTR(-EFAULT);
}

/* Context: stacks are kept, and @user has the room. @file is NULL for the vdso. */
static int put_reserved(const struct file *file, const void __user *table, size_t bytes,
			struct mtag_user *user)
{
	struct mtag_rows rows;
	void *copy;
	int ret;

	copy = table_copy(table, bytes);
	if (IS_ERR(copy))
		return PTR_ERR(copy);
	ret = mtag_rows_set(&rows, copy, bytes);
	/* A file gets an image only with a valid table. */
	if (!ret && file)
		ret = min(mtag_image_of(file, current_euid(), user, MTAG_GFP), 0);
	if (!ret)
		ret = mtag_image_give(file, &rows, copy, bytes);
	if (!ret)
		return 0;
	mtag_memory_free(copy, bytes);
	return ret;
}

/*
 * Room is taken first: a thread may copy for as long as its user likes. Context: stacks are kept.
 * @file is NULL for the vdso.
 */
static int put_table(const struct file *file, const void __user *table, size_t bytes)
{
	struct mtag_user *user = mtag_user_of(current_cred(), MTAG_GFP);
	int ret;

	if (!user)
		return -ENOMEM;
	ret = mtag_image_reserve(file, bytes, user);
	if (ret)
		return ret;
	ret = put_reserved(file, table, bytes, user);
	if (ret)
		mtag_image_unreserve(bytes, user);
	return ret;
}

/* The regular file @fd, opened for reading. The caller must fput() it. */
static struct file *readable(int fd)
{
	struct file *file = fget(fd);

	if (!file)
		return ERR_PTR(-EBADF);
	if ((file->f_mode & FMODE_READ) && S_ISREG(file_inode(file)->i_mode))
		return file;
	fput(file);
	return ERR_PTR(-EBADF);
}

/**
 * mtag_shelf_add() - take the unwind table of a file
 * @fd:		the file, opened for reading by the current task; -1: the vdso, from root only
 * @table:	as linux/mtag_unwind.h says
 * @bytes:	its size
 *
 * Context: may sleep.
 * Return: 0; -EEXIST if there is one; -EINVAL: it is none; -ENODATA: no process has its stacks
 * taken; -EBADF; -EFAULT; -EPERM; -ENOMEM or -ENOSPC: no room.
 */
int mtag_shelf_add(int fd, const void __user *table, u64 bytes)
{
	struct file *file = NULL;
	int ret;

	if (fd < -1)
		return -EBADF;
	if (fd == -1 && !is_root())
		return -EPERM;
	if (bytes > (u64)READ_ONCE(mtag_unwind_kb) << 10 || bytes > INT_MAX)
		return -ENOMEM;
	if (fd != -1)
		file = readable(fd);
	if (IS_ERR(file))
		return PTR_ERR(file);
	ret = -ENODATA;
	if (mtag_stacks_hold()) {
		ret = put_table(file, table, bytes);
		mtag_stacks_drop();
	}
	if (file)
		fput(file);
	return ret;
}
