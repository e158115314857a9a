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

#include "confine.h"
#include "ctl.h"
#include "file.h"
#include "kept.h"
#include "unwind/cache.h"

#define MADE_AS	    1
#define TABLE_MOST  (1 << 30)
#define MEMORY_MOST (1ULL << 30) /* of the process that compiles */

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
static _Noreturn void compile(const struct image *image, int socket)
{
	struct table table = {0};
	int64_t size = table_make(image, &table);

	if (!size)
		size = (int64_t)table.size;
	/* It has more memory than any honest file needs. */
	if (size == -ENOMEM)
		size = -E2BIG;
	if (file_write(socket, &size, sizeof(size)) && size > 0)
		file_write(socket, table.data, table.size);
	_exit(0);
}

/* In a process of its own: a file may be made so that this takes all memory, or for ever. */
static int compile_apart(const struct image *image, struct table *table)
{
	struct confined compiler;
	int64_t size = -E2BIG; /* unless it says better */
	pid_t pid = confine(&compiler, SOCK_STREAM, MEMORY_MOST);
	int err;

	if (!pid)
		compile(image, compiler.socket);
	if (pid < 0)
		return pid;
	if (!file_read(compiler.socket, &size, sizeof(size)) || size > TABLE_MOST)
		size = -E2BIG;
	err = size < 0 ? (int)size : 0;
	if (!err) {
		table->size = (size_t)size;
		table->data = malloc(table->size);
		if (!table->data)
			err = -ENOMEM;
		else if (!file_read(compiler.socket, table->data, table->size))
			err = -E2BIG;
	}
	if (err) {
		free(table->data);
		*table = (struct table){0};
	}
	confine_end(&compiler);
	return err;
}

int cache_table(const struct image *image, bool trusted, struct table *table)
{
	struct kept kept = kept_of(image);
	bool found = false, named = trusted && image->id_size;
	size_t size;
	int fd = named ? kept_open(&kept, TABLE_MOST, &size) : -1, err;

	*table = (struct table){0};
	if (fd >= 0) {
		found = load(fd, size, image, table);
		close(fd);
	}
	if (found)
		return 0;
	err = compile_apart(image, table);
	if (!err && named)
		kept_replace(&kept, fill, table);
	return err;
}
