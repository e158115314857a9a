// SPDX-License-Identifier: GPL-2.0
/* Hands the unwind tables of programs and processes to the module. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl.h"
#include "fail.h"
#include "file.h"
#include "kept.h"
#include "stacks/load.h"
#include "stacks/needed.h"
#include "uapi/linux/mtag.h"
#include "unwind/cache.h"

#define FILES_MOST  65536  /* the module's ids of files have 16 bits */
#define PATIENCE_MS 900000 /* a container may have hundreds of libraries */

void loader_init(struct loader *loader)
{
	*loader = (struct loader){
		.device = -1, .owner = geteuid(), .group = getegid(), .patience = PATIENCE_MS};
}

void loader_clear(struct loader *loader)
{
	free(loader->file);
	loader_init(loader);
}

static bool is_same(const struct loaded *a, const struct loaded *b)
{
	return a->owner == b->owner && a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	       a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

/* Notes a file; false if that was done before, there is no memory for it, or the module would take no more. */
static bool is_new(struct loader *loader, const struct stat *st)
{
	struct loaded this = {loader->owner, st->st_dev, st->st_ino, st->st_size, st->st_ctim};
	struct loaded *file;

	for (size_t i = 0; i < loader->files; i++)
		if (is_same(&loader->file[i], &this))
			return false;
	if (loader->files == FILES_MOST)
		return false;
	file = array_grow(loader->file, loader->files, &loader->room, sizeof(*file));
	if (!file)
		return false;
	loader->file = file;
	loader->file[loader->files++] = this;
	return true;
}

/* That there is a table, or no valid one, is no error of loading. */
static int hand_in_as_is(const struct loader *loader, const struct table *table, int fd)
{
	struct mtag_ioc_unwind arg = {
		.size = sizeof(arg),
		.fd = fd,
		.table = (uintptr_t)table->data,
		.bytes = table->size,
	};

	if (!ioctl(loader->device, MTAG_IOC_UNWIND, &arg) || (errno != ENOMEM && errno != ENOSPC))
		return 0;
	return -errno;
}

/*
 * What the module keeps of a user's files is in that user's share, as it is if he hands them in himself: root has no
 * share that would end.
 */
static int hand_in(const struct loader *loader, const struct table *table, int fd, bool of_root)
{
	int err;

	if (geteuid() || of_root || !loader->owner)
		return hand_in_as_is(loader, table, fd);
	if (seteuid(loader->owner))
		return 0;
	err = hand_in_as_is(loader, table, fd);
	return seteuid(0) ? -errno : err;
}

/* The table of an image of a trusted file. */
static int make_trusted(int fd, struct table *table)
{
	struct image image;
	int err = image_open(&image, fd);

	if (err)
		return err;
	err = cache_table(&image, table);
	image_close(&image);
	return err;
}

static int load_regular(struct loader *loader, int fd, const struct stat *st)
{
	struct table table;
	int err = !loader->foreign && kept_is_trusted(fd, st)
			  ? make_trusted(fd, &table)
			  : cache_untrusted(fd, loader->owner, loader->group, &loader->patience,
					    &table);

	if (err)
		return err == -ENOMEM ? err : 0;
	err = hand_in(loader, &table, fd, kept_is_roots(fd, st));
	free(table.data);
	return err;
}

/* The file @fd, which is closed. */
static int load_fd(struct loader *loader, int fd)
{
	struct stat st;
	int err = 0;

	if (fd < 0)
		return 0;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && is_new(loader, &st))
		err = load_regular(loader, fd, &st);
	close(fd);
	return err;
}

static int load_path(struct loader *loader, const char *path)
{
	return load_fd(loader, file_open_regular(path));
}

/* The module takes it from root only. */
static int load_vdso(struct loader *loader)
{
	struct image image;
	struct table table;
	int err;

	if (geteuid() || !is_new(loader, &(struct stat){0}) || image_open_vdso(&image))
		return 0;
	err = cache_table(&image, &table);
	image_close(&image);
	if (err)
		return err == -ENOMEM ? err : 0;
	err = hand_in(loader, &table, -1, true);
	free(table.data);
	return err;
}

static int load_needed(const char *path, void *loader)
{
	return load_path(loader, path);
}

static bool open_device(struct loader *loader)
{
	loader->device = open(MTAG_DEVICE, O_RDWR | O_CLOEXEC);
	return loader->device >= 0;
}

static void close_device(struct loader *loader)
{
	close(loader->device);
	loader->device = -1;
}

static int load_program(struct loader *loader, const char *name)
{
	_cleanup_(freep) char *path = needed_find(name);
	int err;

	if (!path || !open_device(loader))
		return 0;
	err = load_path(loader, path);
	if (!err)
		err = needed_each(path, load_needed, loader);
	if (!err)
		err = load_vdso(loader);
	close_device(loader);
	return err;
}

static int open_below(int process, const char *name)
{
	char path[64 + 4096];

	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", process, name);
	return file_open_regular(path);
}

static bool has_our_root(int process)
{
	int root = openat(process, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	bool ours = root >= 0 && kept_is_our_root(root);

	if (root >= 0)
		close(root);
	return ours;
}

/*
 * A line of maps: START-END PERMS OFFSET MAJOR:MINOR INODE PATH. The path is the process's own, and may be another
 * file by now: map_files has the very file, for those who may.
 */
static int load_mapping(struct loader *loader, int process, char *line)
{
	unsigned long start, end;
	unsigned int major, minor;
	char perms[8], name[64], path[8 + 4096];
	uint64_t ino;
	int at = 0, fd;

	if (sscanf(line, "%lx-%lx %7s %*x %x:%x %" SCNu64 " %n", &start, &end, perms, &major,
		   &minor, &ino, &at) < 6 ||
	    !at || perms[2] != 'x' || line[at] != '/')
		return 0;
	line[strcspn(line, "\n")] = '\0';
	snprintf(name, sizeof(name), "map_files/%lx-%lx", start, end);
	fd = open_below(process, name);
	if (fd < 0) {
		snprintf(path, sizeof(path), "root%s", line + at);
		fd = open_below(process, path);
	}
	/* It may have gone into a container before the file was opened. It does not come out. */
	loader->foreign = !has_our_root(process);
	return load_fd(loader, fd);
}

static FILE *open_text(int process, const char *name)
{
	int fd = openat(process, name, O_RDONLY | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

	if (fd >= 0 && !file)
		close(fd);
	return file;
}

/* The user and group whose rights a process has; root if that cannot be read. */
static void find_owner(struct loader *loader, int process)
{
	_cleanup_(freep) char *line = NULL;
	unsigned int uid = 0, gid = 0;
	FILE *status = open_text(process, "status");
	size_t size = 0;

	while (status && getline(&line, &size, status) > 0)
		if (sscanf(line, "Uid: %*u %u", &uid) != 1 &&
		    sscanf(line, "Gid: %*u %u", &gid) == 1)
			break;
	if (status)
		fclose(status);
	loader->owner = uid;
	loader->group = gid;
}

static int load_mappings(struct loader *loader, int process, FILE *maps)
{
	_cleanup_(freep) char *line = NULL;
	size_t size = 0;
	int err = 0;

	find_owner(loader, process);
	loader->patience = PATIENCE_MS;
	if (open_device(loader)) {
		/* Where there is no room for a file of the user's there may be for one of root's. */
		while (getline(&line, &size, maps) > 0) {
			int now = load_mapping(loader, process, line);

			err = err ? err : now;
		}
		if (load_vdso(loader))
			err = -ENOMEM;
		close_device(loader);
	}
	return err;
}

int load_process(struct loader *loader, pid_t pid)
{
	FILE *maps = NULL;
	char path[32];
	int process, err = 0;

	/* All of it is of this process: its id may become another's while its files are read. */
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	process = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (process >= 0)
		maps = open_text(process, "maps");
	if (maps) {
		err = load_mappings(loader, process, maps);
		fclose(maps);
	}
	if (process >= 0)
		close(process);
	return err;
}

static void finish(struct loader *loader, int err)
{
	if (err)
		fail_print("the module has no room for all unwind tables (its parameters unwind_kb "
			   "and max_memory_kb): some stacks will end early");
	loader_clear(loader);
}

void load_before_run(const char *name)
{
	struct loader loader;

	loader_init(&loader);
	finish(&loader, load_program(&loader, name));
}

void load_tracked(pid_t pid)
{
	struct loader loader;

	loader_init(&loader);
	finish(&loader, load_process(&loader, pid));
}
