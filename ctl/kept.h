/* SPDX-License-Identifier: GPL-2.0 */
/* What is made of files with a build-id and kept for the next time, below ${XDG_CACHE_HOME:-~/.cache}. */
#ifndef MTAGCTL_KEPT_H
#define MTAGCTL_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/**
 * struct kept - something that is kept
 * @what:	directory below the cache
 * @id:		build-id
 */
struct kept {
	const char *what;
	const uint8_t *id;
	size_t id_size;
};

/* Opens it for reading: a file of ours, of at most @most bytes, whose number goes to *@size. -1 if there is none. */
int kept_open(const struct kept *kept, size_t most, size_t *size);

/*
 * Has @fill write it anew. If that fails all stays as it was: what cannot be kept is no failure. Else what nobody has
 * opened for a month goes.
 */
void kept_replace(const struct kept *kept, bool (*fill)(int fd, void *arg), void *arg);

/*
 * Opens the directory of the absolute @path for looking things up, and with @make makes what is missing. Only root and
 * we have laid the path, as they must have that of what is kept here, and the directory is ours alone, or -1 is
 * returned.
 */
int kept_directory(const char *path, bool make);

/*
 * Can only root write to @fd? Anyone else who can might give it the build-id of another file, and so
 * lie about that one. On a file system that a user has mounted, nothing counts as root's.
 */
bool kept_is_roots(int fd, const struct stat *st);
/* Or nobody but us and root can. */
bool kept_is_trusted(int fd, const struct stat *st);
/*
 * Is @root, in which a process's files are looked up, our root directory? A container's root may be everybody's root,
 * but its files are its own. The id of a process that has ended may be that of one of ours by now: ask of the
 * descriptor by which the files are found.
 */
bool kept_is_our_root(int root);

#endif
