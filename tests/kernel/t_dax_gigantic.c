// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of a device that is mapped by 1 GiB (DAX). Since 6.16 that is RSS. smaps splits such mappings by looking at
 * them, so the truth is what the kernel itself has counted.
 */
/* vm: group=append mem=7G append=numa=fake=2,memmap=128M!1G,memmap=2G!4G timeout=200 since=6.16 not=rt because="there it is no RSS, or not mapped by 1 GiB" */
#include "lib/test.h"

#define GIB (1UL << 30)

/* Of the namespace that the kernel makes of the memory. */
static const char device[] =
	"set -e; modprobe -a nd_e820 nd_pmem device_dax dax_pmem; cd /sys/bus/nd/devices\n"
	"echo namespace1.0 >../drivers/nd_pmem/unbind\n"
	"echo ram >dax1.0/mode; echo $((1 << 30)) >dax1.0/align\n"
	"cat /proc/sys/kernel/random/uuid >dax1.0/uuid; echo namespace1.0 >dax1.0/namespace\n"
	"echo dax1.0 >../drivers/dax_pmem/bind; ls /dev/dax1.0";

static mtag_t a, w;

static char *map(int fd)
{
	char *room = must(mmap(NULL, 2 * GIB, PROT_NONE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
	mtag_t before = mtag_enter(a);
	char *p = must(mmap((void *)(((uintptr_t)room + GIB - 1) & -GIB), GIB,
			    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0));

	mtag_leave(before);
	return p;
}

static void late(char *p)
{
	pid_t pid;

	frozen_child(pid) touch(w, p, PG);
	counted_of(pid, "a child that touched it");
	sh("mtagctl untrack %d", pid);
	is(sh("mtagctl track %d", pid), 0,
	   "another process that has it mapped comes to be tracked");
	counted_of(pid, "tracked late");
	is(audit(pid).drift, 0, "tracked late: no drift");
	end_child(pid);
}

int main(void)
{
	char *p;
	int fd;

	begin_test();
	begin();
	a = tag("a");
	w = tag("worker");
	if (sh("{ %s; } >&2", device))
		skip_all("no device that is mapped by 1 GiB");
	fd = must(open("/dev/dax1.0", O_RDWR | O_CLOEXEC));
	p = map(fd);
	touch(w, p, PG);
	is(file_of(a) + shmem_of(a), GIB, "1 GiB is the mapping's, by a single touch");
	counted_of(getpid(), "touched");
	late(p);
	smaps(p, GIB);
	counted_of(getpid(), "split by who looks at it");
	touch(w, p, PG);
	counted_of(getpid(), "touched again");
	must(munmap(p, GIB));
	close(fd);
	is(file_of(a) + shmem_of(a), 0, "unmapped: nothing is left");
	exact("unmapped: exact");
	return end_test();
}
