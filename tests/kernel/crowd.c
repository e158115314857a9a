// SPDX-License-Identifier: GPL-2.0
/*
 * No test of its own: for t_top.sh, many processes with many tags.
 *   crowd PROCESSES TAGS   forks them; each has a page of each tag part-0, part-1, …; when all do
 *                          it says "ready"
 */
#include "lib/load.h"

struct crowd {
	atomic_int ready;
};

_Noreturn static void member(struct crowd *crowd, const mtag_t *tags, size_t n)
{
	char *p = area(n * PG);

	for (size_t i = 0; i < n; i++)
		touch(tags[i], p + i * PG, PG);
	atomic_fetch_add(&crowd->ready, 1);
	rest();
}

int main(int argc, char **argv)
{
	int members = argc == 3 ? atoi(argv[1]) : 0;
	size_t n = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
	struct crowd *crowd;
	mtag_t *tags;

	if (members < 1 || !n) {
		fprintf(stderr, "usage: crowd PROCESSES TAGS\n");
		return 2;
	}
	must0(mtag_init());
	crowd = must(mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	tags = calloc(n, sizeof(*tags));
	for (size_t i = 0; i < n; i++) {
		char name[32];

		snprintf(name, sizeof(name), "part-%zu", i);
		tags[i] = tag(name);
	}
	for (int i = 0; i < members; i++)
		if (!child())
			member(crowd, tags, n);
	if (!until(atomic_load(&crowd->ready) == members, 120))
		bail("%d of %d are ready", atomic_load(&crowd->ready), members);
	printf("ready\n");
	fflush(stdout);
	rest();
}
