// SPDX-License-Identifier: GPL-2.0
/* Uprobes replace a file page by an anonymous copy from outside, and take it away again. */
#include "lib/test.h"

#define N	8
#define TRACING "/sys/kernel/tracing/"
#define CODE	"/dev/shm/mtag-uprobe"

static mtag_t f, d;

/* A file whose pages are full of "nop" with a "ret" at their end. */
static int code_file(const char *path)
{
	static char page[PG];
	int fd = must(open(path, O_RDWR | O_CREAT | O_TRUNC, 0755));

	memset(page, 0x90, sizeof(page));
	page[sizeof(page) - 1] = 0xc3;
	for (int i = 0; i < N; i++)
		must(write(fd, page, sizeof(page)));
	return fd;
}

static char *map_code(int fd)
{
	mtag_t before = mtag_enter(f);
	char *p = must(mmap(NULL, N * PG, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0));

	mtag_leave(before);
	read_all(0, p, N * PG);
	return p;
}

static uint64_t pages_of_file(void)
{
	return file_of(f) + shmem_of(f);
}

static bool enable(bool on)
{
	return !spew(TRACING "events/mtag/enable", on ? "1" : "0");
}

static void live(const char *path)
{
	int fd = code_file(path);
	char *p = map_code(fd);
	struct gate *g = gate();
	pid_t pid;

	is(pages_of_file(), N * PG, "%s: pages of the file are their mapper's", path);
	if (spew(TRACING "uprobe_events", "p:mtag/one %s:0x0\np:mtag/two %s:0x%lx\n", path, path,
		 3 * PG)) {
		skip("%s: uprobes are followed (this kernel refuses one: %s)", path,
		     strerror(errno));
		goto out;
	}
	pid = child();
	if (!pid) {
		read_all(0, p, N * PG);
		open_gate(g, 1);
		pass_gate(g, 2);
		is(smaps(p, N * PG).anon, 2 * PG, "%s: a child has copies, too", path);
		exact("%s: the child is exact", path);
		open_gate(g, 3);
		pass_gate(g, 4);
		exact("%s: the child is exact without them", path);
		_exit(0);
	}
	pass_gate(g, 1);
	/* By another process, as a tracer would. */
	is(sh("echo 1 >" TRACING "events/mtag/enable"), 0, "%s: uprobes go in", path);
	is(smaps(p, N * PG).anon, 2 * PG, "%s: two pages became anonymous copies", path);
	is(anon_of(d), 2 * PG, "%s: which are the default tag's", path);
	is(pages_of_file(), (N - 2) * PG, "%s: the file's pages are two fewer", path);
	exact("%s: exact with uprobes in", path);
	open_gate(g, 2);
	pass_gate(g, 3);
	((void (*)(void))p)();
	exact("%s: exact after hitting one", path);
	is(sh("echo 0 >" TRACING "events/mtag/enable"), 0, "%s: uprobes go out", path);
	is(anon_of(d), smaps(p, N * PG).anon, "%s: the copies are what smaps says", path);
	is(pages_of_file(), smaps(p, N * PG).rss - smaps(p, N * PG).anon,
	   "%s: and the file's pages, too", path);
	exact("%s: exact with uprobes out", path);
	open_gate(g, 4);
	reap(pid);
	enable(true);
	must(munmap(p, N * PG));
	exact("%s: exact after munmap of probed code", path);
	p = map_code(fd);
	is(smaps(p, N * PG).anon, 2 * PG, "%s: code mapped afterwards has copies at once", path);
	exact("%s: exact then", path);
	enable(false);
	exact("%s: exact in the end", path);
	spew(TRACING "uprobe_events", "-:mtag/one\n-:mtag/two\n");
out:
	must(munmap(p, N * PG));
	is(pages_of_file() + anon_of(d), 0, "%s: nothing is left", path);
	close(fd);
	unlink(path);
}

static void on_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	must(sched_setaffinity(0, sizeof(set), &set));
}

/* The same task copies on one processor and has its copies taken away on another. */
static void moving(const char *path)
{
	int fd = code_file(path);
	char *p;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2 ||
	    spew(TRACING "uprobe_events", "p:mtag/one %s:0x0\n", path)) {
		skip("copies stay their owner's when the prober moves (no uprobe, or one processor)");
		return;
	}
	on_cpu(0);
	enable(true);
	p = map_code(fd);
	is(smaps(p, N * PG).anon, PG, "code mapped on one processor has a copy");
	on_cpu(1);
	enable(false);
	enable(true);
	is(smaps(p, N * PG).anon, PG, "on the other it gets another");
	on_cpu(0);
	enable(false);
	clean(getpid(), "audit agrees when the copy goes on the first CPU");
	spew(TRACING "uprobe_events", "-:mtag/one\n");
	must(munmap(p, N * PG));
	is(pages_of_file() + anon_of(f) + anon_of(d), 0, "nothing is left");
	close(fd);
	unlink(path);
}

int main(void)
{
	begin_test();
	begin();
	f = tag("file");
	d = tag("default");
	if (access(TRACING "uprobe_events", W_OK))
		skip_all("no uprobe events in this kernel");
	must0(mtag_default(d));
	live(CODE);
	if (real_fs())
		live(FS "/mtag-uprobe");
	moving(CODE);
	must0(mtag_default(0));
	return end_test();
}
