// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps what was made of files with a build-id: a file named by that id gets its name when all of it is written. It is
 * read again if it is ours, whatever it holds then.
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
#define DAY	  (24 * 60 * 60)
#define UNUSED	  (30 * DAY) /* what nobody wants for so long goes */

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

static bool path_of(const struct kept *kept, char *path, size_t size, bool make)
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	size_t length;

	/* A relative one is to be ignored, says the XDG specification. */
	if (base && *base == '/')
		length = (size_t)snprintf(path, size, "%s/%s", base, kept->what);
	else if (home && *home == '/')
		length = (size_t)snprintf(path, size, "%s/.cache/%s", home, kept->what);
	else
		return false;
	if (length + 2 * kept->id_size + 2 > size || (make && !make_directory(path)))
		return false;
	path[length++] = '/';
	for (size_t i = 0; i < kept->id_size; i++, length += 2)
		sprintf(path + length, "%02x", kept->id[i]);
	return true;
}

int kept_open(const struct kept *kept, size_t most, size_t *size)
{
	char path[PATH_SIZE];
	struct stat st;
	int fd = -1;

	if (path_of(kept, path, sizeof(path), false))
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
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

/*
 * Where programs are built each day the cache would grow without end. Nothing goes but files in a directory of ours, of
 * the cache's own name: it may have been put into a home that is somebody else's.
 */
static void remove_unused(const char *file)
{
	char path[PATH_SIZE];
	struct dirent *entry;
	DIR *directory;
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%.*s", (int)(strrchr(file, '/') - file), file);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	directory = fd < 0 ? NULL : fdopendir(fd);
	if (!directory) {
		if (fd >= 0)
			close(fd);
		return;
	}
	if (!fstat(fd, &st) && st.st_uid == geteuid())
		while ((entry = readdir(directory)))
			if (!fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
			    S_ISREG(st.st_mode) && st.st_mtime < time(NULL) - UNUSED)
				unlinkat(fd, entry->d_name, 0);
	closedir(directory);
}

void kept_replace(const struct kept *kept, bool (*fill)(int fd, void *arg), void *arg)
{
	char path[PATH_SIZE], temporary[PATH_SIZE + 16];
	bool whole;
	int fd;

	if (!path_of(kept, path, sizeof(path), true))
		return;
	snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path);
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return;
	whole = fill(fd, arg);
	if (close(fd) || !whole || rename(temporary, path))
		unlink(temporary);
	else
		remove_unused(path);
}

bool kept_is_roots(int fd, const struct stat *st)
{
	struct statvfs vfs;

	return !st->st_uid && !(st->st_mode & (S_IWGRP | S_IWOTH)) && !fstatvfs(fd, &vfs) &&
	       !(vfs.f_flag & ST_NOSUID);
}

bool kept_has_our_root(pid_t pid)
{
	struct stat ours, its;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/root/", (int)pid);
	return !stat("/", &ours) && !stat(path, &its) && ours.st_dev == its.st_dev &&
	       ours.st_ino == its.st_ino;
}

bool kept_is_trusted(int fd, const struct stat *st)
{
	return kept_is_roots(fd, st) ||
	       (geteuid() && st->st_uid == geteuid() && !(st->st_mode & (S_IWGRP | S_IWOTH)));
}
