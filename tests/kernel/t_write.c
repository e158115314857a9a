// SPDX-License-Identifier: GPL-2.0
/*
 * mtag_write() of a program with threads, against mtagctl and smaps. Its stream stops the process at the first
 * byte: what is printed then must be what the kernel has at that moment, in each of the forms.
 */
#include "lib/test.h"
#include <locale.h>

#define THREADS 3
#define N	50
#define ROOM	(64 * KIB)

static struct shared {
	atomic_int ready;
	char text[ROOM];
} * shared;

static bool stops;
static char text[ROOM];
static size_t length;

/* Warm before it is measured: no page may come between the module's answer and the stop. */
static ssize_t take(void *cookie, const char *bytes, size_t n)
{
	(void)cookie;
	if (stops)
		kill(getpid(), SIGSTOP);
	stops = false;
	memcpy(text + length, bytes, n);
	length += n;
	return (ssize_t)n;
}

static void write_all(FILE *out, enum mtag_format format, bool stop)
{
	length = 0;
	stops = stop;
	if (mtag_write(out, format))
		bail("mtag_write");
	text[length] = '\0';
}

static void *hold_pages(void *arg)
{
	mtag_t pool = tag("pool"), mine = mtag_child(pool, (const char *)arg);
	char *p = area(N * PG);

	touch(mine, p, N * PG);
	touch(pool, area(PG), PG);
	atomic_fetch_add(&shared->ready, 1);
	pause();
	return p;
}

static void subject(void)
{
	static const char *const names[THREADS] = {"one \"quoted\"", "größe", "a\\b"};
	const cookie_io_functions_t functions = {.write = take};
	FILE *out = fopencookie(NULL, "w", functions);
	pthread_t thread;

	setvbuf(out, NULL, _IONBF, 0);
	memset(text, 1, sizeof(text));
	begin();
	for (int i = 0; i < THREADS; i++)
		must0(pthread_create(&thread, NULL, hold_pages, (void *)names[i]));
	if (!until(atomic_load(&shared->ready) == THREADS, 30))
		bail("threads");
	memset(shared->text, 1, ROOM);
	kill(getpid(), 0);
	for (int format = MTAG_JSON; format <= MTAG_TREE; format++) {
		for (int warm = 0; warm < 3; warm++)
			write_all(out, format, false);
		write_all(out, format, true);
		memcpy(shared->text, text, length + 1);
		atomic_fetch_add(&shared->ready, 1);
		kill(getpid(), SIGSTOP);
	}
	_exit(0);
}

static bool stopped(pid_t pid)
{
	int status;

	return waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status);
}

/* What mtagctl says meanwhile. */
static char *said_of(pid_t pid, const char *how)
{
	char *said;
	int status;

	said = strdup(ctl(&status, how, (int)pid));
	is((uint64_t)status, 0, "mtagctl answers");
	return said;
}

static void same(const char *said, const char *name)
{
	if (!ok(!strcmp(shared->text, said), "%s", name)) {
		diag("mtag_write: %s", shared->text);
		diag("mtagctl:    %s", said);
	}
}

static void forms(pid_t pid)
{
	static const struct {
		const char *how, *name;
	} all[] = {
		{"-j show %d", "while it is stopped, its JSON is that of mtagctl -j show"},
		{"show -f dot %d", "its DOT is that of mtagctl show -f dot"},
		{"tree %d", "its tree is that of mtagctl tree"},
	};
	uint64_t sum = 0;

	for (size_t i = 0; i < COUNT(all); i++) {
		struct truth truth;
		char *said, *at, *object;

		if (!stopped(pid))
			bail("it did not stop");
		truth = truth_of(pid);
		said = said_of(pid, all[i].how);
		is(truth_of(pid).rss, truth.rss, "nothing moved meanwhile");
		kill(pid, SIGCONT);
		if (!stopped(pid))
			bail("it did not stop again");
		same(said, all[i].name);
		free(said);
		if (i == MTAG_JSON) {
			for (at = shared->text; (object = json_next(&at));)
				sum += json_u64(object, "rss_bytes");
			is(sum, truth.rss, "its sum is what smaps says");
		}
		kill(pid, SIGCONT);
	}
}

int main(void)
{
	pid_t pid;

	begin_test();
	setlocale(LC_ALL, "C.UTF-8");
	setenv("LC_ALL", "C.UTF-8", 1);
	setenv("COLUMNS", "200", 1);
	shared = must(mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	pid = child();
	if (!pid)
		subject();
	forms(pid);
	reap(pid);
	return end_test();
}
