// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps what was made of files with a build-id: a file named by that id gets its name when all of it is written. It is
 * read again if it is ours and in a directory that is ours alone, whatever it holds then.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "kept.h"

#define PATH_SIZE 4096
#define NAME_SIZE 200
#define DAY	  (24 * 60 * 60)
#define UNUSED	  (30 * DAY) /* what nobody wants for so long goes */

/*
 * Opens the directory @name of @at for looking things up. Nobody but us and root may have put it,
 * or a link, there: root's HOME may be somebody else's, who would choose where root's files go.
 */
static int step(int at, const char *name, bool make)
{
	struct stat st;
	int fd;

	if (make)
		mkdirat(at, name, 0700);
	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) || (st.st_uid && st.st_uid != geteuid()))
		return -1;
	fd = openat(at, name,
		    O_PATH | O_DIRECTORY | O_CLOEXEC | (S_ISLNK(st.st_mode) ? 0 : O_NOFOLLOW));
	/* It may be another one by now. */
	if (fd >= 0 && (fstat(fd, &st) || (st.st_uid && st.st_uid != geteuid()))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Likewise that of the absolute @path, which is cut up, step by step. */
static int walk(char *path, bool make)
{
	int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	for (char *rest, *name = strtok_r(path, "/", &rest); name && fd >= 0;
	     name = strtok_r(NULL, "/", &rest)) {
		int next = step(fd, name, make);

		close(fd);
		fd = next;
	}
	return fd;
}

static bool is_ours_alone(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

/* Returns @fd, or closes it and returns -1. */
static int only_ours(int fd)
{
	if (fd < 0 || is_ours_alone(fd))
		return fd;
	close(fd);
	return -1;
}

int kept_directory(const char *path, bool make)
{
	char steps[PATH_SIZE];

	if (*path != '/' || snprintf(steps, sizeof(steps), "%s", path) >= PATH_SIZE)
		return -1;
	return only_ours(walk(steps, make));
}

/*
 * Opens the directory of the cache, and with @make makes it. It is ours alone, or -1 is returned.
 */
static int open_directory(const struct kept *kept, bool make)
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char path[PATH_SIZE];
	int length, parent, fd;

	/* A relative one is to be ignored, says the XDG specification. */
	if (base && *base == '/')
		length = snprintf(path, sizeof(path), "%s", base);
	else if (home && *home == '/')
		length = snprintf(path, sizeof(path), "%s/.cache", home);
	else
		return -1;
	parent = length < PATH_SIZE ? walk(path, make) : -1;
	if (parent < 0)
		return -1;
	if (make)
		mkdirat(parent, kept->what, 0700);
	fd = openat(parent, kept->what, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	close(parent);
	return only_ours(fd);
}

/* Returns false if the id is too long for a name. */
static bool name_of(const struct kept *kept, char name[NAME_SIZE])
{
	*name = '\0';
	for (size_t i = 0; i < kept->id_size && 2 * i + 3 <= NAME_SIZE; i++)
		sprintf(name + 2 * i, "%02x", kept->id[i]);
	return kept->id_size && 2 * kept->id_size < NAME_SIZE;
}

int kept_open(const struct kept *kept, size_t most, size_t *size)
{
	char name[NAME_SIZE];
	int directory = name_of(kept, name) ? open_directory(kept, false) : -1, fd;
	struct stat st;

	if (directory < 0)
		return -1;
	fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	close(directory);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_size < 0 ||
	    (uintmax_t)st.st_size > most) {
		close(fd);
		return -1;
	}
	/* So it is known that it is in use; once a day is enough. */
	if (st.st_mtime < time(NULL) - DAY)
		futimens(fd, NULL);
	*size = (size_t)st.st_size;
	return fd;
}

/* Where programs are built each day the cache would grow without end. Closes the directory. */
static void remove_unused(int fd)
{
	DIR *directory = fdopendir(fd);
	struct dirent *entry;
	struct stat st;

	if (!directory) {
		close(fd);
		return;
	}
	while ((entry = readdir(directory)))
		if (!fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode) &&
		    st.st_mtime < time(NULL) - UNUSED)
			unlinkat(fd, entry->d_name, 0);
	closedir(directory);
}

void kept_replace(const struct kept *kept, bool (*fill)(int fd, void *arg), void *arg)
{
	char name[NAME_SIZE], path[NAME_SIZE + 64];
	const char *temporary;
	int directory = name_of(kept, name) ? open_directory(kept, true) : -1, fd;
	bool whole;

	if (directory < 0)
		return;
	/* The very directory that was opened. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s.XXXXXX", directory, name);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0) {
		close(directory);
		return;
	}
	temporary = strrchr(path, '/') + 1;
	whole = fill(fd, arg);
	if (close(fd) || !whole || renameat(directory, temporary, directory, name))
		unlinkat(directory, temporary, 0);
	remove_unused(directory);
}

bool kept_is_roots(int fd, const struct stat *st)
{
	struct statvfs vfs;

	return !st->st_uid && !(st->st_mode & (S_IWGRP | S_IWOTH)) && !fstatvfs(fd, &vfs) &&
	       !(vfs.f_flag & ST_NOSUID);
}

bool kept_is_our_root(int root)
{
	struct stat ours, its;

	return !stat("/", &ours) && !fstat(root, &its) && ours.st_dev == its.st_dev &&
	       ours.st_ino == its.st_ino;
}

bool kept_is_trusted(int fd, const struct stat *st)
{
	return kept_is_roots(fd, st) ||
	       (geteuid() && st->st_uid == geteuid() && !(st->st_mode & (S_IWGRP | S_IWOTH)));
}
