// SPDX-License-Identifier: GPL-2.0
/* Handing in unwind tables kills nobody and takes no more than a share; many files slow nobody down. */
/* vm: group=parallel module=unwind_kb=32768 mem=1G timeout=300 */
#include <linux/userfaultfd.h>
#include <poll.h>
#include "lib/stacks.h"
#include "lib/tables.h"
#include "lib/users.h"

#define GROUP "/sys/fs/cgroup/mtag-tables"
#define LIMIT (16 * MIB)
#define LARGE (30 * MIB)
#define TABLE (10 * MIB) /* a user other than root has 16 MiB */
#define MANY  20000	 /* more files than such a user may name */
#define BATCH 1000

/* ---- at the limit of a cgroup ---- */

static bool group_make(void)
{
	spew("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
	return !mkdir(GROUP, 0755) && !spew(GROUP "/memory.max", "%lu", LIMIT);
}

/* Memory that takes none: all its pages are the one of zeros. */
static const void *zeros(size_t len)
{
	return must(mmap(NULL, len, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

static void alone_on_cpu(void)
{
	struct sched_param first = {.sched_priority = 1};

	run_on_first_cpu();
	must0(sched_setscheduler(0, SCHED_FIFO, &first));
}

static void at_the_limit(void)
{
	if (!group_make()) {
		skip("no memory controller");
		return;
	}
	in_child {
		int fd = must(memfd_create("file", MFD_CLOEXEC));
		const void *table = zeros(LARGE);

		must0(spew(GROUP "/cgroup.procs", "0"));
		/* No work of the kernel comes between the refusal and what the program does next. */
		alone_on_cpu();
		is(-table_give(fd, table, LARGE), ENOMEM,
		   "a table larger than the cgroup finds no memory");
		memset(area(LIMIT / 2), 1, LIMIT / 2);
		ok(1, "and has taken none from the program");
	}
	is(file_field(GROUP "/memory.events", "oom_kill"), 0, "nobody is killed for it");
	rmdir(GROUP);
}

/* ---- a copy that does not end ---- */

struct slow {
	void *table;
	int fd, error;
};

static void *give_slowly(void *arg)
{
	struct slow *slow = arg;

	slow->error = table_give(slow->fd, slow->table, TABLE);
	return NULL;
}

/* Whoever reads memory under it waits until it is closed. Only one that does not block can be polled. */
static int uffd_over(void *p, size_t len)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register reg = {.range = {(uintptr_t)p, len},
				      .mode = UFFDIO_REGISTER_MODE_MISSING};
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return fd;
	must(ioctl(fd, UFFDIO_API, &api));
	must(ioctl(fd, UFFDIO_REGISTER, &reg));
	return fd;
}

static void while_another_copies(void)
{
	struct slow slow = {.fd = must(memfd_create("slow", MFD_CLOEXEC)), .table = area(TABLE)};
	int uffd = uffd_over(slow.table, TABLE), fd = must(memfd_create("file", MFD_CLOEXEC));
	struct pollfd fault = {.fd = uffd, .events = POLLIN};
	const void *table = zeros(TABLE);
	pthread_t thread;
	int64_t used;

	if (uffd < 0) {
		skip("no userfaultfd in this kernel");
		return;
	}
	user(ALICE);
	must0(pthread_create(&thread, NULL, give_slowly, &slow));
	ok(poll(&fault, 1, 60000) == 1 && fault.revents == POLLIN, "a thread is copying a table");
	is(-table_give(fd, table, TABLE), ENOMEM, "its room is taken for as long as it copies");
	close(uffd);
	must0(pthread_join(thread, NULL));
	is(-slow.error, EINVAL, "it was no table");
	used = file_field("/proc/meminfo", "VmallocUsed:");
	is(-table_give(fd, table, TABLE), EINVAL, "so its room is free again");
	used -= file_field("/proc/meminfo", "VmallocUsed:");
	ok(llabs(used) < (int64_t)(TABLE / 1024 / 2),
	   "the kernel's count of such memory is as before (%" PRId64 " kB)", used);
}

/* ---- files ---- */

static void what_is_no_table(void)
{
	uint32_t word = 0;
	int n = 0, error;

	user(ALICE);
	do {
		int fd = must(memfd_create("file", MFD_CLOEXEC));

		error = table_give(fd, &word, sizeof(word));
		close(fd);
	} while (error == -EINVAL && ++n < MANY);
	is(n, MANY, "what is no table names no file (the last: %s)", strerror(-error));
}

/* Seconds for mapping code of so many files that differ in their size alone, from @first bytes on. */
static double map_sizes(int fd, size_t first)
{
	double began = now();

	for (size_t i = 0; i < BATCH; i++) {
		must(ftruncate(fd, first + i));
		must(munmap(must(mmap(NULL, PG, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0)), PG));
	}
	return now() - began;
}

/*
 * What a user maps makes nobody's lookups slow. With all of them in one chain the last took tens of times as long as
 * the first; the noise of a machine makes no factor of 5 of the fastest of three.
 */
static void many_sizes(void)
{
	double first = 1e9, last = 1e9;
	int fd = must(memfd_create("file", MFD_CLOEXEC));

	user(ALICE);
	begin();
	must0(stacks_start_self(1, -1));
	for (int i = 0; i < 15; i++) {
		double took = map_sizes(fd, 1 + i * BATCH);

		if (i < 3 && took < first)
			first = took;
		else if (i >= 12 && took < last)
			last = took;
	}
	is(stacks(getpid())->lost, 0, "there is room for 15000 files");
	ok(last < 5 * first, "and the last are found as fast as the first: %.0f and %.0f ms",
	   1000 * last, 1000 * first);
}

int main(void)
{
	pid_t keeper;

	begin_test();
	frozen_child(keeper)
	{
		begin();
		must0(stacks_start_self(1, -1));
	}
	at_the_limit();
	in_child
		while_another_copies();
	in_child
		what_is_no_table();
	in_child
		many_sizes();
	end_child(keeper);
	return end_test();
}
