// SPDX-License-Identifier: GPL-2.0
/* mtagctl run --by-map: each mapping's memory belongs to a tag named after it, as smaps names it. */
/* vm: timeout=400 */
#include "lib/by_name.h"
#include "lib/test.h"
#include <dlfcn.h>
#include <sys/auxv.h>
#include <sys/ipc.h>
#include <sys/shm.h>

#define N 64

static char self[256];

/* ---- the program that is run: it never calls libmtag ---- */

static void write_some(void *start, size_t pages)
{
	for (size_t i = 0; i < pages; i++)
		((volatile char *)start)[i * PG] = (char)(i + 1);
}

static void *mapped(size_t pages, int flags, int fd)
{
	return must(mmap(NULL, pages * PG, PROT_READ | PROT_WRITE, flags, fd, 0));
}

static int make_file(const char *path, size_t pages)
{
	int fd = must(open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));

	must(ftruncate(fd, (off_t)(pages * PG)));
	return fd;
}

static void files(void)
{
	char name[256];
	int fd = make_file("/tmp/by_map_file", N);
	char *p = mapped(N, MAP_PRIVATE, fd);
	volatile char sum = 0;

	/* Half of it is read, a quarter is copied. */
	for (size_t i = 0; i < N / 2; i++)
		sum += p[i * PG];
	write_some(p, N / 4);
	write_some(mapped(N, MAP_SHARED, fd), N / 2);
	must(unlink("/tmp/by_map_file"));
	fd = make_file("/tmp/by\nmap\x80", 4);
	write_some(mapped(4, MAP_SHARED, fd), 3);
	memset(name, 'n', sizeof(name));
	memcpy(name, "/tmp/", 5);
	name[105] = '\0';
	write_some(mapped(4, MAP_SHARED, make_file(name, 4)), 2);
	must(munmap(p + 8 * PG, 8 * PG));
	must(mprotect(p + 20 * PG, 4 * PG, PROT_READ));
}

static void shared(void)
{
	int fd = must(memfd_create("frames", MFD_CLOEXEC)), id;

	must(ftruncate(fd, N * PG));
	write_some(mapped(N, MAP_SHARED, fd), N / 2);
	must(ftruncate(fd, N / 4 * PG));
	write_some(mapped(N, MAP_SHARED | MAP_ANONYMOUS, -1), N / 2 + 1);
	write_some(mapped(4, MAP_SHARED, must(open("/dev/zero", O_RDWR | O_CLOEXEC))), 3);
	fd = make_file("/dev/shm/by_map", N);
	write_some(mapped(N, MAP_SHARED, fd), 5);
	write_some(mapped(N, MAP_PRIVATE, fd), 4);
	must(unlink("/dev/shm/by_map"));
	id = must(shmget(IPC_PRIVATE, N * PG, 0600));
	write_some(must(shmat(id, NULL, 0)), 7);
	must(shmctl(id, IPC_RMID, NULL));
}

static void anonymous(void)
{
	char *p = mapped(4 * N, MAP_PRIVATE | MAP_ANONYMOUS, -1), *q;

	write_some(p, 2 * N);
	must(mprotect(p + N * PG, 8 * PG, PROT_READ));
	must(munmap(p + 16 * PG, 8 * PG));
	/* Another mapping in its middle, which grows elsewhere. */
	q = must(mmap(p + 3 * N * PG, 8 * PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		      make_file("/tmp/by_map_over", N), 0));
	write_some(q, 8);
	q = must(mremap(q, 8 * PG, 16 * PG, MREMAP_MAYMOVE));
	write_some(q, 16);
	p = mapped(N, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	write_some(p, N);
	p = must(mremap(p, N * PG, 4 * N * PG, MREMAP_MAYMOVE));
	write_some(p, 3 * N);
	/* A stack of the program's own, which grows downwards, but not near to another mapping. */
	p = must(mmap(NULL, 8 * MIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	q = must(mmap(p + 8 * MIB - PG, PG, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_GROWSDOWN, -1, 0));
	must(munmap(p, 8 * MIB - PG));
	for (int i = 0; i < 4; i++)
		((volatile char *)q)[-i * (long)PG] = 1;
	if (has_huge_pages())
		write_some(huge_area(HPAGE), HPAGE / PG);
}

static void heap(void)
{
	char *p = must(sbrk((intptr_t)(2 * N * PG)));

	write_some(p, 2 * N);
	must(sbrk(-(intptr_t)(N * PG)));
	must(sbrk((intptr_t)(N / 2 * PG)));
}

static __attribute__((noinline)) void stack(void)
{
	char deep[300 * KIB];

	write_some(deep, sizeof(deep) / PG);
}

static void rest(const char *what)
{
	puts(what);
	fflush(stdout);
	if (getchar() == EOF)
		_exit(0);
}

static int program(void)
{
	pid_t pid;

	heap();
	stack();
	files();
	shared();
	anonymous();
	if (!dlopen("libresolv.so.2", RTLD_NOW))
		bail("%s", dlerror());
	rest("ready");
	pid = fork();
	if (!pid) {
		stack();
		heap();
		anonymous();
		printf("%d\n", getpid());
		rest("child");
		execl(self, self, "again", NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
	return 0;
}

/* ---- the test ---- */

/* Waits for a line of the program, and until it sleeps in read(2); returns the line's number. */
static pid_t heard(struct spoken *p, const char *want, pid_t pid)
{
	char line[128], path[64];
	pid_t number = 0;

	do {
		if (!fgets(line, sizeof(line), p->out))
			bail("the program is gone");
		number = atoi(line) ?: number;
		if (strstr(line, "Bail"))
			diag("the program says: %s", line);
	} while (!strstr(line, want));
	snprintf(path, sizeof(path), "/proc/%d/stat", number ?: pid);
	if (!until(strstr(slurp(path), ") S "), 60))
		bail("the program does not wait");
	return number;
}

static void finish(struct spoken *p)
{
	fclose(p->in);
	fclose(p->out);
	waitpid(p->pid, NULL, 0);
}

static uint64_t size_of(const struct names *names, const char *name)
{
	const struct by_name *row = names_find(names, name);

	return row ? row->rss : 0;
}

static void named(pid_t pid)
{
	static const struct {
		const char *name;
		uint64_t pages;
	} want[] = {
		{"file/by_map_file", N / 2},
		{"file/by_map_over", 16},
		{"memfd/frames", N / 4},
		{"[anon_shmem]", N / 2 + 1 + 3},
		{"shm/by_map", 5 + 4},
		{"shm/SYSV00000000", 7},
		{"[heap]", N},
		{"[anon]", 4 * N},
		{"[stack]", 300 * KIB / PG},
		{"[vdso]", 1},
		{"file/t_by_map", 1},
		{"file/libresolv.so.2", 1},
	};
	const struct names *tags = names_of_tags(pid, "app/");

	for (size_t i = 0; i < COUNT(want); i++)
		ok(size_of(tags, want[i].name) >= want[i].pages * PG, "there is %s", want[i].name);
	is(size_of(tags, "file/by_map_"), 3 * PG, "what is unprintable in a name is replaced");
}

static void own(void)
{
	char *argv[] = {"mtagctl", "run", "-t", "app", "--by-map", "--", self, "program", NULL};
	struct spoken p = speak_to(argv);
	pid_t pid;

	heard(&p, "ready", p.pid);
	same_names(p.pid, "app/", "every name has what smaps says");
	named(p.pid);
	exact_of(p.pid, "the sums are exact");
	fputc('\n', p.in);
	pid = heard(&p, "child", p.pid);
	same_names(pid, "app/", "a forked child's names have what smaps says");
	same_names(p.pid, "app/", "and so have its parent's, after the fork");
	fputc('\n', p.in);
	heard(&p, "again", pid);
	same_names(pid, "app/", "after exec as well");
	clean(pid, "and its counters are those of the page tables");
	finish(&p);
}

/* Stops a program where it is: all its threads, of which one may be in the middle of a page fault. */
static void stop(pid_t pid)
{
	must(kill(pid, SIGSTOP));
	if (!until(sh("grep -h ^State: /proc/%d/task/*/status | grep -qv 'T ('", pid), 60))
		bail("the program does not stop");
}

static void python(void)
{
	static char code[] =
		"import sys, threading, time\n"
		"for name in 'ctypes', 'mmap', 'sqlite3', 'ssl':\n"
		"    try: __import__(name)\n"
		"    except ImportError: pass\n"
		"kept = [str(i) * 20 for i in range(50000)]\n"
		"def wait(): more = list(range(9999)); time.sleep(600)\n"
		"for i in range(4): threading.Thread(target=wait, daemon=True).start()\n"
		"print('ready', flush=True)\n"
		"sys.stdin.read()\n";
	char *argv[] = {"mtagctl", "run", "--by-map", "--", "/usr/bin/python3", "-c", code, NULL};
	struct spoken p = speak_to(argv);

	heard(&p, "ready", p.pid);
	stop(p.pid);
	same_names(p.pid, "", "python3: every name has what smaps says");
	must(kill(p.pid, SIGKILL));
	finish(&p);
}

/* A process that had its vdso before its mappings had tags, and that changes its protection then. */
static void vdso(void)
{
	struct mtag_ioc_attach arg = {.size = sizeof(arg), .flags = MTAG_ATTACH_BY_MAP};

	in_child {
		char *p = (char *)getauxval(AT_SYSINFO_EHDR);
		size_t len = PG;

		/* It cannot be split. */
		while (smaps(p, len).size != len)
			len += PG;
		read_all(MTAG_UNTAGGED, p, len);
		must0(mtag_ioctl(MTAG_IOC_ATTACH, &arg));
		/* In between nobody may ask for the time. */
		if (mprotect(p, len, PROT_READ) || mprotect(p, len, PROT_READ | PROT_EXEC))
			bail("mprotect: %s", strerror(errno));
		clean(getpid(), "the vdso stays whose it was when its protection changes");
	}
}

#define REDIS "redis-cli -s /tmp/by_map.sock "

static void redis(void)
{
	char *argv[] = {"mtagctl",
			"run",
			"-t",
			"redis",
			"--by-map",
			"--",
			"redis-server",
			"--port",
			"0",
			"--unixsocket",
			"/tmp/by_map.sock",
			"--save",
			"",
			"--io-threads",
			"2",
			NULL};
	struct spoken p = speak_to(argv);

	if (!until(sh(REDIS "ping >/dev/null 2>&1") == 0, 60))
		bail("redis-server does not answer");
	if (sh(REDIS "debug populate 30000 key 200 >/dev/null") ||
	    sh(REDIS "debug reload nosave noflush >/dev/null 2>&1; " REDIS "flushall >/dev/null") ||
	    sh(REDIS "debug populate 20000 key 100 >/dev/null"))
		bail("redis-server does nothing");
	stop(p.pid);
	same_names(p.pid, "redis/", "redis: every name has what smaps says");
	must(kill(p.pid, SIGKILL));
	finish(&p);
}

int main(int argc, char **argv)
{
	must(readlink("/proc/self/exe", self, sizeof(self) - 1));
	if (argc > 1 && !strcmp(argv[1], "program"))
		return program();
	if (argc > 1) {
		heap();
		rest(argv[1]);
		return 0;
	}
	begin_test();
	no_khugepaged();
	own();
	vdso();
	python();
	redis();
	return end_test();
}
