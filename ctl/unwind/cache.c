// SPDX-License-Identifier: GPL-2.0
/*
 * Unwind tables by build-id, kept in ${XDG_CACHE_HOME:-~/.cache}/mtag-unwind. A file there is a table
 * and its CRC-32. It gets its name when all of it is written.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "confine.h"
#include "ctl.h"
#include "file.h"
#include "unwind/cache.h"

#define PATH_SIZE   4096
#define TABLE_MOST  (1 << 30)
#define MEMORY_MOST (1ULL << 30) /* of the process that compiles */

/* Makes the directories of @path, of which the last is the cache. */
static bool make_directory(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	return !mkdir(path, 0700) || errno == EEXIST;
}

static bool path_of(const struct image *image, char *path, size_t size, bool make)
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	size_t length;

	/* A relative one is to be ignored, says the XDG specification. */
	if (base && *base == '/')
		length = (size_t)snprintf(path, size, "%s/mtag-unwind", base);
	else if (home && *home == '/')
		length = (size_t)snprintf(path, size, "%s/.cache/mtag-unwind", home);
	else
		return false;
	if (length + 2 * sizeof(image->id) + 2 > size || (make && !make_directory(path)))
		return false;
	path[length++] = '/';
	for (unsigned int i = 0; i < image->id_size; i++, length += 2)
		sprintf(path + length, "%02x", image->id[i]);
	return true;
}

static uint32_t sum_of(const struct table *table)
{
	return (uint32_t)crc32_z(0, table->data, table->size);
}

/* Reads what is said to be a table with its sum; its owner must be us. */
static bool load(int fd, const struct image *image, struct table *table)
{
	struct stat st;
	uint32_t sum;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    st.st_size <= (off_t)sizeof(sum) || st.st_size > TABLE_MOST)
		return false;
	table->size = (size_t)st.st_size - sizeof(sum);
	table->data = malloc(table->size);
	if (table->data && file_read(fd, table->data, table->size) &&
	    file_read(fd, &sum, sizeof(sum)) && sum == sum_of(table) && table_fits(table, image))
		return true;
	free(table->data);
	*table = (struct table){0};
	return false;
}

/* What cannot be kept is compiled again: no failure. */
static void keep(const struct image *image, const struct table *table)
{
	char path[PATH_SIZE], temporary[PATH_SIZE + 16];
	uint32_t sum = sum_of(table);
	bool whole;
	int fd;

	if (!path_of(image, path, sizeof(path), true))
		return;
	snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path);
	fd = mkstemp(temporary);
	if (fd < 0)
		return;
	whole = file_write(fd, table->data, table->size) && file_write(fd, &sum, sizeof(sum));
	if (close(fd) || !whole || rename(temporary, path))
		unlink(temporary);
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
	char path[PATH_SIZE];
	bool found = false, named = trusted && image->id_size;
	int fd = -1, err;

	*table = (struct table){0};
	if (named && path_of(image, path, sizeof(path), false))
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd >= 0) {
		found = load(fd, image, table);
		close(fd);
	}
	if (found)
		return 0;
	err = compile_apart(image, table);
	if (!err && named)
		keep(image, table);
	return err;
}
