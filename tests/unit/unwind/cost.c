// SPDX-License-Identifier: GPL-2.0
/*
 * How many instructions a walk of 20 frames takes, the first one and one that returns to where others
 * did. They go through the program and the C library in turn. Run by tests/unit/unwind_cost.sh.
 *
 * sources: kmod/rows.c ctl/unwind/image.c ctl/unwind/recipe.c ctl/unwind/cfi.c ctl/unwind/ranges.c
 * sources: ctl/unwind/table.c
 * link: -ldw -lelf
 */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../../kmod/unwind.c"
#include "unwind/table.h"

#define FRAMES 20
#define MAPS   64
#define MOST   3000
#define KNOWN  1700

int unit_user_access;

static inline bool unit_user_word(const u64 *addr, u64 *value)
{
	*value = *addr;
	return true;
}

static struct mtag_unwind_map map[MAPS];
static struct mtag_rows rows[MAPS];
static struct mtag_unwind_cache cache = {.generation = 1};
static struct mtag_unwind_maps maps = {map, 0, &cache};

static void read_map(const char *line)
{
	struct mtag_unwind_map *m = &map[maps.nr];
	unsigned long start, end, offset;
	char mode[8], path[PATH_MAX] = "";
	struct image image;
	struct table table;

	if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %4095s", &start, &end, mode, &offset, path) < 4 ||
	    mode[2] != 'x' || maps.nr == MAPS)
		return;
	*m = (struct mtag_unwind_map){.start = start, .end = end, .offset = offset};
	m->id = maps.nr;
	if (*path == '/' && !image_open(&image, open(path, O_RDONLY | O_CLOEXEC))) {
		if (!table_make(&image, &table) &&
		    !mtag_rows_set(&rows[maps.nr], table.data, table.size))
			m->rows = &rows[maps.nr];
		image_close(&image);
	}
	maps.nr++;
}

static void read_maps(void)
{
	FILE *file = fopen("/proc/self/maps", "re");
	char line[PATH_MAX + 100];

	while (file && fgets(line, sizeof(line), file))
		read_map(line);
	if (file)
		fclose(file);
}

static struct mtag_unwind_place places[MTAG_STACK_DEPTH];
static u64 frames[MTAG_STACK_DEPTH];
static unsigned int room;
static bool known;

/* Between two breakpoints is one walk; the exit status says whether it found what it should. */
static __attribute__((noinline)) void measure(void)
{
	unsigned long regs[21] = {0};
	enum mtag_stack_why why;
	unsigned int count;

	__asm__ volatile("lea 0(%%rip),%0" : "=r"(regs[16]));
	__asm__ volatile("mov %%rsp,%0" : "=r"(regs[19]));
	__asm__ volatile("mov %%rbp,%0" : "=r"(regs[4]));
	__asm__ volatile("mov %%rbx,%0" : "=r"(regs[5]));
	if (known)
		mtag_unwind(regs, &maps, frames, places, room, &why);
	__asm__ volatile("int3" : : : "memory");
	count = mtag_unwind(regs, &maps, frames, places, room, &why);
	__asm__ volatile("int3" : : : "memory");
	if (room == FRAMES)
		_exit(count != FRAMES || why != MTAG_STACK_DEEP);
	_exit(count <= FRAMES || why != MTAG_STACK_COMPLETE);
}

static int by_library(const void *key, const void *element);

static __attribute__((noinline)) void descend(int depth)
{
	volatile int use = depth;

	if (!depth)
		measure();
	else if (depth % 4)
		descend(depth - 1);
	else
		bsearch(&depth, &depth, 1, sizeof(depth), by_library);
	use++;
}

static int by_library(const void *key, const void *element)
{
	descend(*(const int *)key - 1);
	return key != element;
}

/* Instructions between the breakpoints; -1: the walk was not as it should be. */
static long count_steps(unsigned int frames_wanted)
{
	pid_t pid = fork();
	int status, stops = 0;
	long steps = 0;

	if (!pid) {
		room = frames_wanted;
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		descend(15);
	}
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		siginfo_t info;

		ptrace(PTRACE_GETSIGINFO, pid, NULL, &info);
		if (info.si_code == SI_KERNEL)
			stops++;
		else
			steps++;
		ptrace(stops == 1 ? PTRACE_SINGLESTEP : PTRACE_CONT, pid, NULL, NULL);
	}
	return WIFEXITED(status) && !WEXITSTATUS(status) ? steps : -1;
}

int main(void)
{
	long first, again, all;

	read_maps();
	first = count_steps(FRAMES);
	all = count_steps(MTAG_STACK_DEPTH);
	known = true;
	again = count_steps(FRAMES);
	printf("# instructions=%ld,%ld for %d frames, mappings=%u\n", first, again, FRAMES,
	       maps.nr);
	printf("%sok 1 - %d frames take at most %d instructions\n",
	       first > 0 && first <= MOST ? "" : "not ", FRAMES, MOST);
	printf("%sok 2 - and at most %d where others returned, too\n",
	       again > 0 && again <= KNOWN ? "" : "not ", KNOWN);
	printf("%sok 3 - the walk is complete\n1..3\n", all > 0 ? "" : "not ");
	return first <= 0 || first > MOST || again <= 0 || again > KNOWN || all <= 0;
}
