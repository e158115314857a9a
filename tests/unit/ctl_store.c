// SPDX-License-Identifier: GPL-2.0
/* sources: ctl/stacks/stack.c ctl/model.c ctl/parse.c ctl/utf8.c ctl/format/text.c ctl/format/json.c ctl/format/show.c */
/* sources: ctl/format/label.c ctl/format/heap.c ctl/format/stack.c ctl/format/snapshot.c ctl/offline/line.c ctl/offline/read.c ctl/offline/store.c ctl/file.c ctl/fail.c ctl/stop.c */
/* mtagctl: the file that snapshot appends to. Whatever happens, it has whole samples, or is not appended to. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ctl.h"
#include "ctl_lock.h"
#include "ctl_tap.h"
#include "kern.h"
#include "offline/read.h"
#include "offline/store.h"

const char *kern_why(const struct kern *kern)
{
	(void)kern;
	return "";
}

#define TAG                                                                                        \
	"{\"pid\":%lu,\"comm\":\"c\",\"id\":0,\"parent_id\":0,\"tag\":\"\",\"rss_bytes\":0,"       \
	"\"anon_bytes\":0,\"file_bytes\":0,\"shmem_bytes\":0,\"swap_bytes\":0,"                    \
	"\"peak_rss_bytes\":0}\n"

static char *sample_text(unsigned long number, unsigned long tags, int blanks, size_t *size)
{
	char *text;
	FILE *out = open_memstream(&text, size);

	fprintf(out, "{\"mtag_snapshot\":1,%*s\"time_ms\":%lu}\n", blanks, "", number);
	for (unsigned long i = 1; i <= tags; i++)
		fprintf(out, TAG, i);
	fprintf(out, "{\"end\":%lu}\n", tags);
	fclose(out);
	return text;
}

/* Appends a sample of @length bytes, with its number as its time. */
static int append(const struct store *store, unsigned long number, size_t length)
{
	unsigned long tags = length < 1000 ? 1 : length / (sizeof(TAG) + 3);
	_cleanup_(freep) char *text = NULL;
	size_t size;

	free(sample_text(number, tags, 0, &size));
	text = sample_text(number, tags, (int)(length - size), &size);
	return store_append(store, text, size);
}

/* The samples of a file, which must be numbered from *@next on; false if it is not whole. */
static bool read_file(const char *path, unsigned long *next)
{
	_cleanup_(reader_closep) struct reader *reader = NULL;
	enum reading found = reader_open(&reader, path) ? READ_FAILED : READ_SAMPLE;

	while (found == READ_SAMPLE) {
		struct snap snap = {0};
		struct origin origin;

		found = reader_next(reader, &origin, &snap);
		if (found == READ_SAMPLE && origin.time_ms != (*next)++)
			found = READ_FAILED;
		snap_clear(&snap);
	}
	return found == READ_END;
}

static off_t size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? -1 : st.st_size;
}

static void test_append(void)
{
	struct store store = {.path = "appended"};
	unsigned long next = 1;
	struct stat st;

	ok(!store_check(&store) && !append(&store, 1, 1000) && !append(&store, 2, 2000),
	   "samples are written to a new file");
	ok(!stat(store.path, &st) && (st.st_mode & 0777) == 0600, "only its owner may read it");
	ok(!store_check(&store) && !append(&store, 3, 500) && st.st_size == 3000 &&
		   size_of(store.path) == 3500 && read_file(store.path, &next) && next == 4,
	   "and appended to one that is there");
}

static void test_rotation(void)
{
	struct store store = {.path = "rotated", .most = 3500, .keep = 4};
	static const char *const names[] = {"rotated.4", "rotated.3", "rotated.2", "rotated.1",
					    "rotated"};
	unsigned long next = 7;
	bool good = true;

	for (unsigned long i = 1; i <= 20; i++)
		good &= !append(&store, i, 1000);
	ok(good, "20 samples are written, 3 to a file");
	good = true;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		good &= read_file(names[i], &next) && size_of(names[i]) <= 3500;
	ok(good && next == 21,
	   "the newest of them are in FILE.4 to FILE, in order, and none is missing");
	ok(size_of("rotated.5") < 0, "no more files are kept");
	next = 21;
	ok(!append(&store, 21, 9000) && read_file("rotated", &next) && next == 22,
	   "a sample that is larger than a file may be has one for itself");
	next = 19;
	ok(!append(&store, 22, 100 + 400) && read_file("rotated.2", &next) && next == 21 &&
		   read_file("rotated.1", &next) && read_file("rotated", &next) && next == 23,
	   "the next one begins another");
	unlink("rotated.2");
	next = 22;
	ok(!append(&store, 23, 3400) && read_file("rotated.1", &next) &&
		   read_file("rotated", &next) && next == 24,
	   "a file that somebody took away is no obstacle");
}

static int limited(const struct store *store, bool small_disk)
{
	struct rlimit limit = {20000, RLIM_INFINITY};
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		signal(SIGXFSZ, SIG_IGN);
		if (!small_disk)
			setrlimit(RLIMIT_FSIZE, &limit);
		stderr = fopen("error", "w");
		status = append(store, 2, 100000);
		fclose(stderr);
		_exit(status);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool says(const char *what)
{
	char text[200] = "";
	FILE *file = fopen("error", "r");

	if (!file)
		return false;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	return strstr(text, what);
}

static void full_disk(struct store *store, bool small_disk, const char *why, const char *name)
{
	unsigned long next = 1;

	ok(!append(store, 1, 4000) && limited(store, small_disk) == CTL_REFUSED && says(why) &&
		   size_of(store->path) == 4000 && !store_check(store) && !append(store, 2, 1000) &&
		   read_file(store->path, &next) && next == 3,
	   name);
}

static void test_full(void)
{
	struct store limit = {.path = "limit"}, disk = {.path = "disk/file"};

	full_disk(&limit, false, "File too large",
		  "at the limit for a file, half of a sample is taken back");
	mkdir("disk", 0700);
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "disk", "tmpfs", 0, "size=64k")) {
		ok(true, "on a full disk likewise # SKIP no right to mount one");
		return;
	}
	full_disk(&disk, true, "No space left on device", "on a full disk likewise");
	umount("disk");
}

/* Another snapshot is writing, and rotates. */
static void test_two(void)
{
	struct store store = {.path = "two", .most = 3500, .keep = 2};
	unsigned long next = 1;
	int fd, status = -1;
	pid_t pid;
	bool waited;

	if (append(&store, 1, 1000) || append(&store, 2, 1000))
		abort();
	fd = open(store.path, O_RDONLY | O_CLOEXEC);
	if (flock(fd, LOCK_EX))
		abort();
	fflush(stdout);
	pid = fork();
	if (!pid) {
		close(fd);
		_exit(append(&store, 3, 2000));
	}
	waited = waits(pid);
	ok(waited && size_of(store.path) == 2000 && size_of("two.1") < 0,
	   "while another one writes nothing is appended, and nothing rotated");
	if (rename(store.path, "two.1"))
		abort();
	close(fd);
	if (waited)
		waitpid(pid, &status, 0);
	ok(!status && read_file("two.1", &next) && next == 3 && read_file(store.path, &next) &&
		   next == 4 && size_of("two.2") < 0,
	   "what that one has rotated is not rotated again, nor appended to");
}

/* The check and the reader agree on whether samples can follow. */
static bool agree(const struct store *store)
{
	FILE *real = stderr;
	unsigned long next = 1;
	bool whole, good;

	stderr = fopen("/dev/null", "w");
	whole = read_file(store->path, &next);
	good = whole == !store_check(store);
	fclose(stderr);
	stderr = real;
	return good;
}

static void test_cut(void)
{
	struct store store = {.path = "cut"}, whole = {.path = "whole"};
	char text[1400];
	bool good = !append(&whole, 1, 700) && !append(&whole, 2, 700);
	int fd = open(whole.path, O_RDONLY);

	good &= read(fd, text, sizeof(text)) == sizeof(text);
	close(fd);
	for (size_t size = sizeof(text); size > 0; size--) {
		unlink(store.path);
		fd = open(store.path, O_WRONLY | O_CREAT, 0600);
		good &= write(fd, text, size) == (ssize_t)size && !close(fd) && agree(&store);
	}
	ok(good, "a file that ends within a sample, wherever, is not appended to");
}

/* Appends until it is killed. */
static void write_on(const struct store *store)
{
	for (unsigned long i = 1;; i++)
		if (append(store, i, 3 << 20))
			_exit(1);
}

static void test_kill(void)
{
	struct store store = {.path = "killed"};
	int bad = 0, status;

	for (int i = 0; i < 40; i++) {
		struct timespec delay = {.tv_nsec = 1000000 + i * 700000};
		pid_t pid;

		unlink(store.path);
		fflush(stdout);
		pid = fork();
		if (!pid)
			write_on(&store);
		/* There is nothing to wait for: when it is killed must be random. */
		nanosleep(&delay, NULL);
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		bad += !WIFSIGNALED(status) || (size_of(store.path) > 0 && !agree(&store));
	}
	ok(!bad, "after kill -9 all samples can be read, or the file is not appended to");
}

int main(void)
{
	char dir[] = "/tmp/mtag-store.XXXXXX", command[64];
	int failed;

	if (!mkdtemp(dir) || chdir(dir))
		return 1;
	test_append();
	test_rotation();
	test_two();
	test_cut();
	test_kill();
	test_full();
	failed = tap_end();
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command) || failed;
}
