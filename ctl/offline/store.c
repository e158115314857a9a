// SPDX-License-Identifier: GPL-2.0
/*
 * Appends samples to a file. A file has whole samples only: what cannot be written to its end is
 * taken back, and what is no snapshot file is left alone. While one of us appends or rotates,
 * others wait.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl.h"
#include "fail.h"
#include "file.h"
#include "offline/store.h"
#include "stop.h"

#define BEGINNING "{\"mtag_snapshot\":"
#define END	  "{\"end\":"
#define END_MOST  64 /* bytes of the last line */

static int failed(const struct store *store, const char *what)
{
	fail_print("cannot %s '%s': %s", what, store->path, strerror(errno));
	return CTL_REFUSED;
}

static void closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

/* Does it end with the last line of a sample? -1 with errno set. */
static int is_whole(int fd, off_t size)
{
	char last[END_MOST + 1] = "", *line;
	ssize_t n = pread(fd, last, END_MOST, size < END_MOST ? 0 : size - END_MOST);

	if (n <= 0 || last[n - 1] != '\n')
		return n < 0 ? -1 : 0;
	last[n - 1] = '\0';
	line = memrchr(last, '\n', (size_t)n);
	return line && !strncmp(line + 1, END, strlen(END));
}

int store_check(const struct store *store)
{
	_cleanup_(closep) int fd = -1;
	char begins[sizeof(BEGINNING)] = "";
	struct stat st;
	int whole;

	if (!store->path || (stat(store->path, &st) && errno == ENOENT))
		return CTL_OK;
	fd = open(store->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st))
		return failed(store, "open");
	if (!S_ISREG(st.st_mode) || !st.st_size)
		return CTL_OK;
	/* Not while somebody appends. */
	TEMP_FAILURE_RETRY(flock(fd, LOCK_SH));
	if (fstat(fd, &st))
		return failed(store, "open");
	whole = is_whole(fd, st.st_size);
	if (whole < 0 || pread(fd, begins, strlen(BEGINNING), 0) < 0)
		return failed(store, "read");
	if (strcmp(begins, BEGINNING) != 0) {
		fail_print("'%s' exists and is no snapshot file; name another file", store->path);
		return CTL_REFUSED;
	}
	if (whole)
		return CTL_OK;
	fail_print("'%s' ends within a sample; name another file, or move this one away",
		   store->path);
	return CTL_REFUSED;
}

/* FILE.1 becomes FILE.2 and so on; of the oldest, nothing is kept. */
static int rotate(const struct store *store)
{
	for (unsigned long i = store->keep; i > 0; i--) {
		_cleanup_(freep) char *from = NULL, *to = NULL;

		if (asprintf(&to, "%s.%lu", store->path, i) < 0) {
			to = NULL;
			return fail_memory();
		}
		if (asprintf(&from, "%s.%lu", store->path, i - 1) < 0) {
			from = NULL;
			return fail_memory();
		}
		if (rename(i > 1 ? from : store->path, to) && errno != ENOENT)
			return failed(store, "rotate");
	}
	return CTL_OK;
}

/* Is @st of the file that has the name now? */
static bool is_named(const struct store *store, const struct stat *st)
{
	struct stat named;

	return !stat(store->path, &named) && named.st_dev == st->st_dev &&
	       named.st_ino == st->st_ino;
}

/*
 * Opens the file for a sample of @length, rotated if there is no room for it, and keeps others out
 * until it is closed. Where nothing can be locked there is nobody to keep out. Once it is ours alone
 * a second signal waits, which caller must end; not before, as others may have it for ever. A pipe
 * takes nothing back, and who reads it may never go on.
 */
static int open_alone(const struct store *store, size_t length, int *fd, struct stat *st)
{
	for (;;) {
		/*
		 * Who may read a process's tags is the kernel's decision; a file keeps to the
		 * writer's.
		 */
		*fd = open(store->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
		if (*fd < 0 || fstat(*fd, st))
			return failed(store, "open");
		if (!S_ISREG(st->st_mode))
			return CTL_OK;
		TEMP_FAILURE_RETRY(flock(*fd, LOCK_EX));
		if (fstat(*fd, st))
			return failed(store, "open");
		stop_hold(true);
		/* Somebody else may have rotated it before. */
		if (is_named(store, st)) {
			if (!store->most || !st->st_size ||
			    (uint64_t)st->st_size + length <= store->most)
				return CTL_OK;
			if (rotate(store))
				return CTL_REFUSED;
		}
		stop_hold(false);
		close(*fd);
		*fd = -1;
	}
}

static int append_to_file(const struct store *store, const char *text, size_t length)
{
	_cleanup_(closep) int fd = -1;
	struct stat st;
	int status = open_alone(store, length, &fd, &st);

	if (status)
		return status;
	if (!file_write(fd, text, length)) {
		int err = errno;

		if (S_ISREG(st.st_mode) && ftruncate(fd, st.st_size))
			fail_print("'%s' has a part of a sample at its end", store->path);
		errno = err;
		return failed(store, "write");
	}
	return CTL_OK;
}

int store_append(const struct store *store, const char *text, size_t length)
{
	int status;

	if (store->path) {
		status = append_to_file(store, text, length);
		stop_hold(false);
		return status;
	}
	if (fwrite(text, 1, length, stdout) == length && !fflush(stdout))
		return CTL_OK;
	fail_print("cannot write the output: %s", strerror(errno));
	return CTL_REFUSED;
}
