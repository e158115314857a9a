// SPDX-License-Identifier: GPL-2.0
/*
 * No test of its own: the program of t_stacks_follow.sh, "late PROGRAM LIBRARY LIBRARY". It maps
 * code that was not there when its stacks began to be taken: once it reads a line it executes
 * PROGRAM, which is another copy of it, loads a library, and forks a child that loads the other
 * one. Pages are touched by code of each once its unwind table is there; built without frame
 * pointers. As LATE_LIBRARY it is the library.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define alone __attribute__((noinline, noipa))
#define PAGES 64
#define PG    4096

static alone void touch_pages(void)
{
	size_t bytes = (size_t)PAGES * PG;
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		printf("no memory: %m\n");
		_exit(1);
	}
	/* There may be no huge pages at all, as on PREEMPT_RT. */
	madvise(p, bytes, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < bytes; at += PG)
		*(volatile char *)(p + at) = 1;
	/* What follows a call keeps it from being a jump. */
	__asm__ volatile("");
}

#ifdef LATE_LIBRARY

void touch_in_library(void);

alone void touch_in_library(void)
{
	touch_pages();
	__asm__ volatile("");
}

#else

#include "uapi/linux/mtag.h"

/*
 * What is no table is refused for that, unless the file has one already. Waits for a minute: on
 * a machine that does little else it is there within one second.
 */
static void await_table(const char *path)
{
	uint32_t word = 0;
	struct mtag_ioc_unwind arg = {
		.size = sizeof(arg), .table = (uintptr_t)&word, .bytes = sizeof(word)};
	int device = open("/dev/mtag", O_RDWR | O_CLOEXEC), tries = 0;

	arg.fd = open(path, O_RDONLY | O_CLOEXEC);
	do
		usleep(20000);
	while (ioctl(device, MTAG_IOC_UNWIND, &arg) && errno == EINVAL && ++tries < 3000);
	if (errno != EEXIST) {
		printf("no table of %s: %m\n", path);
		_exit(1);
	}
	close(arg.fd);
	close(device);
}

static alone void load_and_touch(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	void (*touch)(void) = library ? (void (*)(void))dlsym(library, "touch_in_library") : NULL;

	if (!touch) {
		printf("no library: %s\n", dlerror());
		_exit(1);
	}
	await_table(path);
	touch();
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 4) {
		puts("begun");
		getchar();
		execl(argv[1], argv[1], argv[2], argv[3], NULL);
		return 1;
	}
	await_table(argv[0]);
	touch_pages();
	load_and_touch(argv[1]);
	if (!fork()) {
		load_and_touch(argv[2]);
		printf("child %d\n", (int)getpid());
	}
	pause();
	return 0;
}

#endif
