// SPDX-License-Identifier: GPL-2.0
/*
 * Unwind tables by build-id, kept in ${XDG_CACHE_HOME:-~/.cache}/mtag-unwind. A file there is a table
 * and its CRC-32, which begins with a number that changes when better tables are made of the same files.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include "clock.h"
#include "confine.h"
#include "ctl.h"
#include "file.h"
#include "kept.h"
#include "unwind/cache.h"

#define MADE_AS	    1
#define TABLE_MOST  (1 << 30)
#define MEMORY_MOST (1ULL << 30) /* of the process that compiles */
#define TRUSTED_MS  300000
#define NOBODY	    65534
#define ERRNO_MOST  4095

static struct kept kept_of(const struct image *image)
{
	return (struct kept){.what = "mtag-unwind", .id = image->id, .id_size = image->id_size};
}

static uint32_t sum_of(const struct table *table)
{
	return (uint32_t)crc32_z(MADE_AS, table->data, table->size);
}

/* Reads what is said to be a table of @size bytes, with its sum. */
static bool load(int fd, size_t size, const struct image *image, struct table *table)
{
	uint32_t sum;

	if (size <= sizeof(sum))
		return false;
	table->size = size - sizeof(sum);
	table->data = malloc(table->size);
	if (table->data && file_read(fd, table->data, table->size) &&
	    file_read(fd, &sum, sizeof(sum)) && sum == sum_of(table) && table_fits(table, image))
		return true;
	free(table->data);
	*table = (struct table){0};
	return false;
}

static bool fill(int fd, void *arg)
{
	const struct table *table = arg;
	uint32_t sum = sum_of(table);

	return file_write(fd, table->data, table->size) && file_write(fd, &sum, sizeof(sum));
}

/* What the process that compiles says: a number of bytes that follow, or a negative errno. */
static _Noreturn void say(int socket, int64_t size, const struct table *table)
{
	if (!size)
		size = (int64_t)table->size;
	if (file_write(socket, &size, sizeof(size)) && size > 0)
		file_write(socket, table->data, table->size);
	_exit(0);
}

static _Noreturn void compile(const struct image *image, int socket)
{
	struct table table = {0};
	int64_t size = table_make(image, &table);

	say(socket, size, &table);
}

/*
 * In the user namespace of somebody who has no other ids than root's, all that is untrusted is his
 * anyway.
 */
static _Noreturn void compile_untrusted(int fd, uid_t uid, gid_t gid, int socket)
{
	struct table table = {0};
	struct image image;
	int64_t size;

	if (!confine_become(uid ? uid : NOBODY, uid ? gid : NOBODY) && (uid || errno != EINVAL))
		_exit(1);
	size = image_open(&image, fd);
	if (!size)
		size = table_make(&image, &table);
	say(socket, size, &table);
}

/* Takes what the compiler says, and ends it. */
static int take(struct confined *compiler, uint64_t deadline, struct table *table)
{
	int64_t size = -E2BIG; /* unless it says better */
	int err;

	/*
	 * It has more memory than any honest file needs, and may have been taken over by another
	 * one.
	 */
	if (!confine_read(compiler, &size, sizeof(size), deadline) || size > TABLE_MOST ||
	    size < -ERRNO_MOST || size == -ENOMEM)
		size = -E2BIG;
	err = size < 0 ? (int)size : 0;
	if (!err) {
		table->size = (size_t)size;
		table->data = malloc(table->size);
		if (!table->data)
			err = -ENOMEM;
		else if (!confine_read(compiler, table->data, table->size, deadline))
			err = -E2BIG;
	}
	if (err) {
		free(table->data);
		*table = (struct table){0};
	}
	confine_end(compiler);
	return err;
}

/* In a process of its own: a file may be made so that this takes all memory, or for ever. */
static int compile_apart(const struct image *image, struct table *table)
{
	struct confined compiler;
	pid_t pid = confine(&compiler, SOCK_STREAM, MEMORY_MOST, image->fd);

	if (!pid)
		compile(image, compiler.socket);
	return pid < 0 ? pid : take(&compiler, confine_deadline(TRUSTED_MS), table);
}

int cache_table(const struct image *image, struct table *table)
{
	struct kept kept = kept_of(image);
	bool found = false;
	size_t size;
	int fd = image->id_size ? kept_open(&kept, TABLE_MOST, &size) : -1, err;

	*table = (struct table){0};
	if (fd >= 0) {
		found = load(fd, size, image, table);
		close(fd);
	}
	if (found)
		return 0;
	err = compile_apart(image, table);
	if (!err && image->id_size)
		kept_replace(&kept, fill, table);
	return err;
}

int cache_untrusted(int fd, uid_t uid, gid_t gid, uint64_t *patience, struct table *table)
{
	uint64_t begun = clock_ns(CLOCK_MONOTONIC), spent;
	struct confined compiler;
	pid_t pid;
	int err;

	*table = (struct table){0};
	if (!*patience)
		return -ETIME;
	pid = confine(&compiler, SOCK_STREAM, MEMORY_MOST, fd);
	if (!pid)
		compile_untrusted(fd, uid, gid, compiler.socket);
	if (pid < 0)
		return pid;
	err = take(&compiler, confine_deadline(*patience), table);
	spent = (clock_ns(CLOCK_MONOTONIC) - begun) / NSEC_PER_MSEC;
	*patience -= spent < *patience ? spent : *patience;
	return err;
}
