// SPDX-License-Identifier: GPL-2.0
/*
 * Strange executable mappings of a process with stacks: behind the last offset that a frame can name, for which no file is
 * made up; mappings that the kernel joins without saying so, which do not take up memory of their own; and one that there
 * was no memory to note, after which all are read anew.
 */
#include "lib/keepers.h"
#include "lib/netlink.h"
#include "lib/stacks.h"
#include "lib/tables.h"

/* Two pages whose place in their file is so far that its end is 0: a mapping of one is all that mmap() takes. */
static void behind_all_offsets(void)
{
	static uint64_t words[2];
	struct wild w = {.sp = (uintptr_t)words, .bp = 1};
	int zero = must(open("/dev/zero", O_RDWR));
	unsigned int found = 0, odd = 0;
	char *p, *code;
	struct stacks *s;
	sigset_t all;

	begin();
	p = area(PG);
	must0(-stacks_start_self(1, -1));
	code = must(mmap(NULL, 2 * PG, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	must0(munmap(code + PG, PG));
	must(mmap(code, PG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, zero, -2 * PG));
	must(mremap(code, PG, 2 * PG, 0));
	must(pread(code_file(1), code, PG, 0));
	must0(mprotect(code, 2 * PG, PROT_READ | PROT_EXEC));
	sigfillset(&all);
	must0(sigprocmask(SIG_BLOCK, &all, NULL));
	touch_as(code, p, &w);
	s = stacks(getpid());
	for (unsigned int i = 0; i < s->nr; i++)
		for (unsigned int j = 0; j < s->stack[i].nr; j++, found++)
			odd += !image_path(s, s->stack[i].frame[j].image) ||
			       s->stack[i].frame[j].offset >> 47;
	ok(found, "a process that runs code behind the last offset has stacks");
	is(odd, 0, "and no frame of them is in a file that there is not");
}

/* Each mapping differs from the one before when it is made, and is joined with it when it does no longer. */
static void joined(void)
{
	enum { JOINED = 4000 };
	int file = must(memfd_create("code", MFD_CLOEXEC));
	int64_t before, more;
	char *p;

	must0(ftruncate(file, JOINED * PG));
	begin();
	must0(-stacks_start_self(1, -1));
	p = must(mmap(NULL, JOINED * PG, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	before = health("memory");
	for (size_t i = 0; i < JOINED; i++) {
		must(mmap(p + i * PG, PG, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED, file,
			  i * PG));
		must0(madvise(p + i * PG, PG, MADV_DONTFORK));
	}
	/* What was replaced is freed after a while. */
	for (int i = 0; i < 100; i++) {
		more = (int64_t)health("memory") - before;
		if (more <= 16384)
			break;
		usleep(100000);
	}
	ok(more <= 16384,
	   "%d mappings that the kernel makes one of take little memory (%" PRId64 ")", JOINED,
	   more);
}

static void without_memory(void)
{
	unsigned int found = 0;
	struct stacks *s;

	begin();
	must0(-stacks_start_self(1, -1));
	set_limit("max_memory_kb", 1);
	must(mmap(NULL, PG, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	set_limit("max_memory_kb", 0);
	must(mmap(NULL, PG, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	touch(0, area(MIB), MIB);
	s = stacks(getpid());
	for (unsigned int i = 0; i < s->nr; i++)
		for (unsigned int j = 0; j < s->stack[i].nr; j++)
			found += !!strstr(image_path(s, s->stack[i].frame[j].image) ?: "",
					  "/t_stacks_far");
	ok(s->lost, "a mapping that there was no memory to note counts as lost");
	ok(found, "and after the next one frames are in their files again");
}

int main(void)
{
	begin_test();
	in_child
		behind_all_offsets();
	in_child
		joined();
	in_child
		without_memory();
	return end_test();
}
