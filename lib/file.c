// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A sample into a file that gets its name when it is complete: whoever reads the file finds the old
 * contents or the new ones.
 */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "netlink.h"

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#endif

static _Atomic unsigned stored;

_Static_assert(sizeof(struct mtag__file) <= MTAG__MESSAGE_BYTES, "it fits in place of messages");

struct mtag__file *mtag__file_of(struct mtag__sample *sample)
{
	return sample->area;
}

/*
 * Creates a file beside @name; a dead process of this id may have left one. Returns a descriptor or
 * -errno.
 */
static int create_beside(const char *name, char *beside)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	unsigned n = atomic_fetch_add(&stored, 1);
	int fd, len = snprintf(beside, MTAG__NAME_BYTES, "%s.%d.%u.tmp", name, (int)getpid(), n);

	if (len < 0 || len >= MTAG__NAME_BYTES)
		return -ENAMETOOLONG;
	fd = open(beside, flags, 0600);
	if (fd < 0 && errno == EEXIST && !unlink(beside))
		fd = open(beside, flags, 0600);
	return fd < 0 ? -errno : fd;
}

/* Only a regular file is replaced: not a device, and not a link to one. */
static int replace_file(const char *from, const char *name)
{
	struct stat st;

	if (!lstat(name, &st) && !S_ISREG(st.st_mode))
		return -EEXIST;
	return rename(from, name) ? -errno : 0;
}

static int name_file(const char *from, const char *name)
{
	if (!syscall(SYS_renameat2, (long)AT_FDCWD, from, (long)AT_FDCWD, name,
		     (long)RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	/* Not every file system has it. */
	if (link(from, name))
		return -errno;
	unlink(from);
	return 0;
}

int mtag__file_store(struct mtag__file *file, mtag__print_t *print, struct mtag__sample *sample,
		     bool replace)
{
	struct mtag__out *out = &file->out;
	int err;

	out->file = NULL;
	out->err = 0;
	out->used = 0;
	out->fd = create_beside(file->name, file->beside);
	if (out->fd < 0)
		return out->fd;
	print(out, sample);
	err = mtag__out_end(out);
	if (close(out->fd) && !err)
		err = -errno;
	if (!err)
		err = (replace ? replace_file : name_file)(file->beside, file->name);
	if (err)
		unlink(file->beside);
	return err;
}
