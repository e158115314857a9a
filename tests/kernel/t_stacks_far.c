// SPDX-License-Identifier: GPL-2.0
/* Code behind the last offset that a frame of a stack can name: no file is made up for it. */
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
			odd += s->stack[i].frame[j].image >= IMAGES_SEEN ||
			       s->stack[i].frame[j].offset >> 47;
	ok(found, "a process that runs code behind the last offset has stacks");
	is(odd, 0, "and no frame of them is in a file that there is not");
}

int main(void)
{
	begin_test();
	in_child
		behind_all_offsets();
	return end_test();
}
