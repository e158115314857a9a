// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/unwind/image.c ctl/unwind/recipe.c ctl/unwind/cfi.c ctl/unwind/ranges.c */
/* sources: ctl/unwind/table.c ctl/unwind/cache.c ctl/file.c ctl/kept.c ctl/confine.c */
/*
 * Where unwind tables are kept, and who compiles them: nobody but us chooses where that is, and a
 * file of another user has neither root's rights nor for ever.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ctl.h"
#include "ctl_tap.h"
#include "unwind/cache.h"

#define LOADER "/lib64/ld-linux-x86-64.so.2"
#define NOBODY 65534

/* libelf never frees some of what it reads from a file that it has not mapped. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libelf.so";
}

struct file {
	int fd;
	struct image image;
	struct table table;
};

static bool open_file(struct file *file, const char *path)
{
	*file = (struct file){.fd = open(path, O_RDONLY | O_CLOEXEC)};
	return file->fd >= 0 && !image_open(&file->image, file->fd) &&
	       !table_make(&file->image, &file->table);
}

static void close_file(struct file *file)
{
	image_close(&file->image);
	free(file->table.data);
	close(file->fd);
}

/* ---- the cache ---- */

/* The path of the only file in the cache. */
static bool kept(char *path, size_t size, const char *dir)
{
	unsigned int found = 0;
	struct dirent *entry;
	DIR *all;

	snprintf(path, size, "%s/mtag-unwind", dir);
	all = opendir(path);
	while (all && (entry = readdir(all)))
		if (*entry->d_name != '.') {
			found++;
			snprintf(path, size, "%s/mtag-unwind/%s", dir, entry->d_name);
		}
	if (all)
		closedir(all);
	return found == 1;
}

static bool same_as_cached(const struct file *file)
{
	struct table table = {0};
	bool good = !cache_table(&file->image, &table) && table.size == file->table.size &&
		    !memcmp(table.data, file->table.data, table.size);

	free(table.data);
	return good;
}

/* Writes @byte at @offset; returns what was there, or -1. */
static int poke(const char *path, off_t offset, int byte)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	unsigned char was, now = (unsigned char)byte;
	bool good = fd >= 0 && pread(fd, &was, 1, offset) == 1 && pwrite(fd, &now, 1, offset) == 1;

	if (fd >= 0)
		close(fd);
	return good ? was : -1;
}

/* Whether a file that was changed is not taken, and is replaced. */
static bool mended(const struct file *file, const char *path, off_t offset)
{
	int was = poke(path, offset, 0x5a);

	return was >= 0 && was != 0x5a && same_as_cached(file) && poke(path, offset, was) == was;
}

static void test_cache(const char *dir)
{
	char path[600], command[100];
	uint64_t patience = 60000;
	struct file file;
	struct stat st, after;
	struct table table;
	bool good;

	setenv("XDG_CACHE_HOME", dir, 1);
	good = open_file(&file, "/lib64/ld-linux-x86-64.so.2") && same_as_cached(&file);
	ok(good && kept(path, sizeof(path), dir), "a table is kept in the cache");
	good = !stat(path, &st) && same_as_cached(&file) && !stat(path, &after);
	ok(good && st.st_ino == after.st_ino, "it is read from there");
	good = poke(path, 0, 0x5a) >= 0 && !cache_untrusted(file.fd, 0, 0, &patience, &table) &&
	       table.size == file.table.size && !stat(path, &after) && st.st_ino == after.st_ino;
	free(table.data);
	ok(good && poke(path, 0, *(const char *)file.table.data) >= 0,
	   "that of a file that others can write to is neither read from there nor kept");
	ok(mended(&file, path, 0) && mended(&file, path, 100) &&
		   mended(&file, path, st.st_size - 1),
	   "a file that is damaged is written again");
	ok(!truncate(path, 20) && same_as_cached(&file) && !stat(path, &after) &&
		   after.st_size == st.st_size,
	   "as is one that is cut");
	snprintf(command, sizeof(command), "rm -rf %s/mtag-unwind; touch %s/mtag-unwind", dir, dir);
	ok(!system(command) && same_as_cached(&file), "without a cache it is compiled");
	setenv("XDG_CACHE_HOME", "relative", 1);
	setenv("HOME", dir, 1);
	ok(same_as_cached(&file) && strcat(strcpy(command, dir), "/.cache") &&
		   kept(path, sizeof(path), command),
	   "the cache is in ~/.cache unless XDG_CACHE_HOME has a path");
	close_file(&file);
}

/* The homes of others, in which root may find itself by sudo(8). */
static void test_homes(const char *dir)
{
	char home[64], link[80], cache[128], path[600];
	struct file file;
	struct stat st;
	bool good;

	snprintf(home, sizeof(home), "%s/home", dir);
	snprintf(link, sizeof(link), "%s/.cache", home);
	snprintf(cache, sizeof(cache), "%s/mtag-unwind", dir);
	unsetenv("XDG_CACHE_HOME");
	setenv("HOME", home, 1);
	if (!open_file(&file, LOADER) || mkdir(home, 0755) || symlink(dir, link))
		abort();
	unlink(cache);
	ok(same_as_cached(&file) && kept(path, sizeof(path), dir), "a link of ours is followed");
	good = !unlink(path) && !chmod(cache, 0777) && same_as_cached(&file);
	ok(good && !kept(path, sizeof(path), dir),
	   "nothing is kept in a directory that others can write to");
	good = !rmdir(cache) && !symlink(home, cache) && same_as_cached(&file);
	ok(good && !lstat(cache, &st) && S_ISLNK(st.st_mode) && !kept(path, sizeof(path), dir),
	   "nor where a link in place of the cache leads");
	unlink(cache);
	if (geteuid()) {
		printf("ok %d # SKIP only root has a home that is not its own\n", ++tap_run);
	} else {
		good = !lchown(link, NOBODY, NOBODY) && same_as_cached(&file);
		good &= !unlink(link) && !chown(home, NOBODY, NOBODY) && same_as_cached(&file);
		ok(good && stat(cache, &st) && lstat(link, &st),
		   "nor in the home of another user, nor where a link there leads");
	}
	close_file(&file);
}

/* ---- files of others ---- */

/*
 * A function of 300,000 rows: libdw would interpret all those before for each. -1: there is no
 * compiler.
 */
static int open_costly(const char *dir)
{
	char path[100], command[300];

	snprintf(path, sizeof(path), "%s/costly.so", dir);
	snprintf(
		command, sizeof(command),
		"printf '.globl f\\nf: .cfi_startproc\\n.rept 300000\\nnop\\n.cfi_adjust_cfa_offset "
		"8\\n.endr\\n.cfi_endproc\\n' | ${CC:-cc} -shared -nostdlib -x assembler -o %s -",
		path);
	return system(command) ? -1 : open(path, O_RDONLY | O_CLOEXEC);
}

/* All four ids in a line of /proc/PID/status. */
static bool are_all(const char *line, const char *name, unsigned int id)
{
	unsigned int ids[4];
	char form[64];

	snprintf(form, sizeof(form), "%s: %%u %%u %%u %%u", name);
	return sscanf(line, form, &ids[0], &ids[1], &ids[2], &ids[3]) == 4 && ids[0] == id &&
	       ids[1] == id && ids[2] == id && ids[3] == id;
}

/* A process that has become @uid and @gid, is in no other group, and in a session of its own. */
static bool has_become(pid_t pid, unsigned int uid, unsigned int gid)
{
	bool user = false, group = false, alone = false;
	char path[64], line[200];
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	status = fopen(path, "r");
	while (status && fgets(line, sizeof(line), status)) {
		user |= are_all(line, "Uid", uid);
		group |= are_all(line, "Gid", gid);
		alone |= !strncmp(line, "Groups:", 7) && !strpbrk(line, "0123456789");
	}
	if (status)
		fclose(status);
	return user && group && alone && getsid(pid) == pid;
}

/* Waits until such a child of our parent's is there. */
static _Noreturn void watch(unsigned int uid, unsigned int gid)
{
	pid_t parent = getppid();
	char path[64];
	int child;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)parent, (int)parent);
	for (;;) {
		FILE *children = fopen(path, "r");

		while (children && fscanf(children, "%d", &child) == 1)
			if (has_become(child, uid, gid))
				_exit(0);
		if (children)
			fclose(children);
	}
}

/* Does @fd, of a process of @uid, keep its compiler busy, and that become @is? */
static bool gives_up(int fd, uid_t uid, unsigned int is)
{
	uint64_t patience = 120000;
	struct table table;
	int err, status;
	pid_t watcher;

	fflush(stdout);
	watcher = fork();
	if (!watcher)
		watch(is, is);
	err = cache_untrusted(fd, uid, uid, &patience, &table);
	kill(watcher, SIGTERM);
	waitpid(watcher, &status, 0);
	return err == -E2BIG && patience && WIFEXITED(status);
}

static void test_costly(const char *dir)
{
	uint64_t patience = 120000;
	struct table table;
	int fd = open_costly(dir);

	if (fd < 0) {
		printf("ok %d # SKIP no compiler here\n", ++tap_run);
		return;
	}
	ok(cache_untrusted(fd, 0, 0, &patience, &table) == -E2BIG && patience,
	   "a file that would take hours is refused");
	if (geteuid())
		printf("ok %d # SKIP only root is to give up rights\n", ++tap_run);
	else
		ok(gives_up(fd, 12345, 12345) && gives_up(fd, 0, NOBODY),
		   "it is read with the rights of its process's owner, or nobody's for root");
	close(fd);
}

static bool stops;

static void stop(void)
{
	if (stops)
		raise(SIGSTOP);
}

/* Its owner stops the process that reads: nothing that it asked for itself would end that. */
static void test_stopped(void)
{
	uint64_t patience = 500, again = 60000;
	int fd = open(LOADER, O_RDONLY | O_CLOEXEC);
	struct table table;
	bool given_up, none;

	pthread_atfork(NULL, NULL, stop);
	stops = true;
	given_up = cache_untrusted(fd, 0, 0, &patience, &table) == -E2BIG && !patience;
	none = cache_untrusted(fd, 0, 0, &patience, &table) == -ETIME;
	stops = false;
	ok(given_up && none && waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD,
	   "a compiler that is stopped is ended when patience is, and no other begun");
	ok(!cache_untrusted(fd, 0, 0, &again, &table) && again && again <= 60000,
	   "another process's file has its own time");
	free(table.data);
	close(fd);
}

int main(void)
{
	char dir[] = "/tmp/mtag-unwind.XXXXXX", command[64];
	int failed;

	alarm(500);
	if (!mkdtemp(dir))
		return 1;
	test_cache(dir);
	test_homes(dir);
	test_costly(dir);
	test_stopped();
	failed = tap_end();
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command) || failed;
}
