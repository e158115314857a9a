// SPDX-License-Identifier: GPL-2.0
/*
 * Becoming tracked while another process truncates a file, of which pages that were copied on write are in swap: they are
 * counted, or they are gone, but not both.
 */
/* vm: group=parallel thread=multi mem=1G timeout=400 */
#include "lib/netlink.h"
#include "lib/swap.h"

#define PAGES  16384
#define ROUNDS more(3, 8)

/* Reports whether it is exact after it has attached about when its file is truncated. */
static int truncated_process(struct gate *g, int fd, unsigned int delay_us)
{
	char *p = must(mmap(NULL, PAGES * PG, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0));

	for (size_t at = 0; at < PAGES * PG; at += PG)
		((volatile char *)p)[at] = 1;
	if (!page_out(p, PAGES * PG))
		bail("not in swap");
	open_gate(g, 1);
	usleep(delay_us);
	begin();
	pass_gate(g, 2);
	return !compares_equal();
}

int main(void)
{
	pid_t keeper;
	int wrong = 0;

	begin_test();
	if (!swap_zram())
		skip_all("no swap");
	/* The hooks are in. */
	frozen_child(keeper) begin();
	for (unsigned int i = 0; i < ROUNDS; i++) {
		int fd = must(memfd_create("file", MFD_CLOEXEC)), status;
		struct gate *g = gate();
		pid_t pid;

		must0(ftruncate(fd, PAGES * PG));
		pid = child();
		if (!pid)
			_exit(truncated_process(g, fd, 15000 + i * 60000 / ROUNDS));
		pass_gate(g, 1);
		must0(ftruncate(fd, 0));
		open_gate(g, 2);
		must(waitpid(pid, &status, 0));
		wrong += status != 0;
		close(fd);
	}
	is(wrong, 0, "of %d processes whose file is truncated meanwhile all are exact", ROUNDS);
	end_child(keeper);
	swapoff_all();
	return end_test();
}
