// SPDX-License-Identifier: GPL-2.0
/*
 * Children end while their parent makes tags: the accounts of all of them grow with each few, and those of one that has
 * ended are looked at meanwhile. What was freed too early only a kernel with KASAN tells.
 */
/* vm: group=plain mem=1G timeout=300 */
#include "lib/test.h"

/* So many take a new array of accounts for each process. */
#define FEW    33
#define ROUNDS 60
#define BEFORE 1500

static void make(int n)
{
	static unsigned int made;
	char name[32];

	while (n--) {
		snprintf(name, sizeof(name), "tag%u", made++);
		tag(name);
	}
}

int main(void)
{
	begin_test();
	begin();
	make(BEFORE);
	for (int i = 0; i < ROUNDS; i++) {
		pid_t pid = child();

		if (!pid)
			_exit(0);
		reap(pid);
		make(FEW);
	}
	exact("exact after %d children that ended while tags were made", ROUNDS);
	return end_test();
}
