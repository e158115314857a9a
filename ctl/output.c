// SPDX-License-Identifier: GPL-2.0
/* The file of -o: written beside the one that it replaces, then renamed. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl.h"
#include "fail.h"
#include "output.h"

#define NAMES_TRIED 100
#define LINKS_MOST  40 /* as the kernel follows */

static int failed(const struct outfile *output)
{
	fail_print("cannot write '%s': %s", output->path, strerror(errno));
	return CTL_REFUSED;
}

/*
 * Give the file a name only when it is complete, where the file system can do that: an aborted one
 * then leaves nothing behind.
 */
static int open_nameless(const char *path)
{
	_cleanup_(freep) char *copy = strdup(path);

	return copy ? open(dirname(copy), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600) : -1;
}

static int open_named(struct outfile *output)
{
	if (asprintf(&output->temporary, "%s.XXXXXX", output->place) < 0) {
		output->temporary = NULL;
		return -1;
	}
	return mkstemp(output->temporary);
}

/*
 * Keep the owner and the group of the file being replaced. Returns false, after saying so, if that
 * is not allowed.
 */
static bool set_owner(int fd, const struct outfile *output, const struct stat *old)
{
	struct stat st;

	if (fstat(fd, &st) || (st.st_uid == old->st_uid && st.st_gid == old->st_gid) ||
	    !fchown(fd, old->st_uid, old->st_gid))
		return true;
	fail_print("'%s' changes its owner or group: %s", output->path, strerror(errno));
	return false;
}

/* Keep the mode of the file being replaced, or else use the usual one. */
static void set_mode(int fd, const struct outfile *output, const struct stat *old, mode_t usual)
{
	mode_t mask = umask(0), mode = old ? old->st_mode & 0777 : usual & ~mask;

	umask(mask);
	/* Another group is not to read what only that one might. */
	if (old && !set_owner(fd, output, old))
		mode &= ~(mode_t)S_IRWXG;
	if (fchmod(fd, mode))
		return; /* a file system without modes */
}

static int begin(struct outfile *output, const struct stat *old, mode_t mode)
{
	int fd = open_nameless(output->place);

	if (fd < 0)
		fd = open_named(output);
	if (fd < 0)
		return failed(output);
	set_mode(fd, output, old, mode);
	output->file = fdopen(fd, "w");
	return output->file ? CTL_OK : failed(output);
}

/* The name that a link to nothing leads to, perhaps by other links; NULL without memory. */
static char *behind_links(const char *path)
{
	char *place = strdup(path);

	for (int i = 0; place && i < LINKS_MOST; i++) {
		char target[PATH_MAX], *next;
		ssize_t n = readlink(place, target, sizeof(target) - 1);
		int length;

		if (n < 0)
			break;
		target[n] = '\0';
		length = *target == '/' ? asprintf(&next, "%s", target)
					: asprintf(&next, "%s/%s", dirname(place), target);
		free(place);
		place = length < 0 ? NULL : next;
	}
	return place;
}

/* Is it what the shell has redirected to this file, as for /dev/stdout? That is not replaced. */
static bool is_stdout(const struct stat *st)
{
	struct stat out;

	return !fstat(STDOUT_FILENO, &out) && out.st_dev == st->st_dev && out.st_ino == st->st_ino;
}

int output_open(struct outfile *output, const char *path, mode_t mode)
{
	struct stat st;
	bool there;
	int status;

	*output = (struct outfile){.path = path, .file = stdout};
	if (!path)
		return CTL_OK;
	there = !stat(path, &st);
	if (there && is_stdout(&st)) {
		output->path = NULL;
		return CTL_OK;
	}
	/* A pipe; or links in a circle, or to where nobody may look. */
	if (there ? !S_ISREG(st.st_mode) : errno != ENOENT) {
		output->file = fopen(path, "we");
		return output->file ? CTL_OK : failed(output);
	}
	/* What a link leads to is replaced, not the link. */
	output->place = there ? realpath(path, NULL) : behind_links(path);
	if (!output->place)
		return failed(output);
	status = begin(output, there ? &st : NULL, mode);
	if (status) {
		free(output->temporary);
		free(output->place);
	}
	return status;
}

/* Gives the file a name beside the one that it is to have. */
static int name(struct outfile *output)
{
	char self[32];

	if (output->temporary)
		return 0;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fileno(output->file));
	for (int i = 0; i < NAMES_TRIED; i++) {
		if (asprintf(&output->temporary, "%s.%d-%d", output->place, (int)getpid(), i) < 0) {
			output->temporary = NULL;
			return -1;
		}
		if (!linkat(AT_FDCWD, self, AT_FDCWD, output->temporary, AT_SYMLINK_FOLLOW))
			return 0;
		free(output->temporary);
		output->temporary = NULL;
		if (errno != EEXIST)
			return -1;
	}
	return -1;
}

static int finish(struct outfile *output, int status)
{
	bool bad = ferror(output->file) || fflush(output->file);

	if (!bad && !status && output->place)
		bad = name(output);
	if (fclose(output->file) || bad)
		status = failed(output);
	if (output->temporary && !status && rename(output->temporary, output->place))
		status = failed(output);
	if (output->temporary && status)
		unlink(output->temporary);
	return status;
}

int output_close(struct outfile *output, int status)
{
	if (!output->path)
		return status;
	status = finish(output, status);
	free(output->temporary);
	free(output->place);
	return status;
}
