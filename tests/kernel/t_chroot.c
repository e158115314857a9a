// SPDX-License-Identifier: GPL-2.0
/* What a thread, or a whole process, keeps of its tags where it sees no /dev/mtag: in a jail by chroot(2). */
/* vm: group=parallel mem=1G timeout=120 */
#include "lib/test.h"

#define N	16
#define RETRIES 2000 /* a thread tries to register again at each thousandth call */

static char jail[] = "/tmp/jail.XXXXXX";
static int outside;

static void enter_jail(void)
{
	must(chroot(jail));
	must(chdir("/"));
}

static void leave_jail(void)
{
	must(fchdir(outside));
	must(chroot("."));
}

/* What it has of the jail is its own: the others of the process see /dev/mtag. */
static void *jailed_thread(void *p)
{
	mtag_t known = tag("known");

	touch(known, p, PG);
	must(unshare(CLONE_FS));
	enter_jail();
	errno = 0;
	is(mtag_child(MTAG_UNTAGGED, "new in the jail"), MTAG_UNTAGGED,
	   "in a jail a thread finds no new tag");
	is(errno, ENOENT, "since there is no device");
	ok(mtag_active(), "the process stays tracked");
	touch(mtag_child(MTAG_UNTAGGED, "known"), (char *)p + PG, (N - 1) * PG);
	return NULL;
}

static void *registers(void *p)
{
	touch(tag("registers"), p, N * PG);
	return NULL;
}

static void thread_of_its_own_root(void)
{
	char *p = area(N * PG), *q = area(N * PG);

	in_thread(jailed_thread, p);
	owns(tag("known"), p, N * PG, "what it touches under a tag that it knows is that tag's");
	touch(tag("new outside"), q, N * PG);
	owns(tag("new outside"), q, N * PG, "another thread finds new tags");
	must(munmap(q, N * PG));
	q = area(N * PG);
	in_thread(registers, q);
	owns(tag("registers"), q, N * PG, "and new threads have tags");
	must(munmap(p, N * PG));
	must(munmap(q, N * PG));
}

/* Begins in the jail, and goes on outside. */
static void *leaves(void *p)
{
	mtag_leave(mtag_enter(tag("known")));
	leave_jail();
	for (int i = 0; i < RETRIES; i++)
		mtag_leave(mtag_enter(MTAG_UNTAGGED));
	touch(tag("after the jail"), p, N * PG);
	return NULL;
}

static void process_that_leaves(void)
{
	char *p = area(N * PG), *q = area(N * PG);

	prefault_stack();
	enter_jail();
	touch(tag("known"), p, N * PG);
	in_thread(leaves, q);
	owns(tag("known"), p, N * PG, "a child in a jail has the tags that its parent knew");
	owns(tag("after the jail"), q, N * PG,
	     "when it leaves, a thread that began there has tags");
	exact("a process that was in a jail: exact");
}

int main(void)
{
	begin_test();
	must(mkdtemp(jail) ? 0 : -1);
	outside = must(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
	begin();
	thread_of_its_own_root();
	in_child
		process_that_leaves();
	exact("the process goes on: exact");
	must(rmdir(jail));
	return end_test();
}
