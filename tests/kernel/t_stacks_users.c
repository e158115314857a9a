// SPDX-License-Identifier: GPL-2.0
/*
 * No user takes up the room that all stacks have in common: each leaves as much to others as he has. In its VM no test has
 * had stacks kept before it: how many there may be is looked at when the first are.
 */
/* vm: group=append append=numa=fake=2,memmap=128M!1G,memmap=2G!4G module=max_stacks=600,unwind_kb=1024 timeout=300 mem=7G */
#include <sys/mman.h>
#include "lib/keepers.h"
#include "lib/stacks.h"
#include "lib/tables.h"
#include "lib/users.h"
#include "stacks/branches.h"

#define MOST   600   /* max_stacks */
#define IMAGES 32766 /* files that can be told apart */
#define TABLES 128   /* unwind tables that fill unwind_kb */
#define BITS   11
#define SLACK  25 /* stacks and files of the program and its library */

/* What the users had, in memory that all of them share. */
static uint64_t *had;

static volatile char *page;

static branch void touch_page(void)
{
	*page = 1;
	__asm__ volatile("");
}

/* Touches by more stacks than there may be. Returns by how many of them something was touched. */
static unsigned int touch_by_many(void)
{
	struct stacks *s;
	unsigned int taken = 0;

	page = area(PG);
	for (unsigned int i = 0; i < 1 << BITS; i++) {
		by_number(i, BITS, touch_page);
		must(madvise((void *)page, PG, MADV_DONTNEED));
	}
	s = stacks(getpid());
	if (s->error || !s->ended)
		bail("the stacks cannot be read: %s", strerror(-s->error));
	for (unsigned int i = 0; i < s->nr; i++)
		taken += s->stack[i].kind == MTAG_STACK_TAKEN;
	is(s->lost + taken > 1 << BITS, true, "whatever found no room is counted as lost");
	is(s->uncounted >= ((1ULL << BITS) - taken) * PG, true, "and as touched");
	return taken;
}

/* Hands in tables for more files than there is room for. Returns for how many there was. */
static unsigned int give_many_tables(void)
{
	static uint32_t words[(1 << 20) / TABLES / sizeof(uint32_t)];
	struct mtag_unwind_header *h = (struct mtag_unwind_header *)words;
	uint32_t blocks = (sizeof(words) - sizeof(*h) - sizeof(struct mtag_unwind_recipe)) / 8 - 1;
	unsigned int n = 0;
	int error;

	/* A row for each block, all with the recipe behind them, which says nothing. */
	*h = (struct mtag_unwind_header){.magic = MTAG_UNWIND_MAGIC,
					 .version = MTAG_UNWIND_VERSION,
					 .blocks = blocks,
					 .rows = blocks,
					 .recipes = 1};
	for (uint32_t i = 0; i <= blocks; i++)
		((uint32_t *)(h + 1))[i] = i;
	do {
		int fd = must(memfd_create("file", MFD_CLOEXEC));

		error = table_give(fd, words,
				   sizeof(*h) + 4 * (2 * blocks + 1) +
					   sizeof(struct mtag_unwind_recipe));
		close(fd);
		n += !error;
	} while (!error && n <= TABLES);
	is(-error, ENOMEM, "at last there is no room for another table");
	return n;
}

/* Opened by root, for all: it counts what found no room. */
static int health_file;

static uint64_t lost(void)
{
	char text[8192];
	ssize_t got = must(pread(health_file, text, sizeof(text) - 1, 0));

	text[got] = 0;
	return field(text, "stack_lost");
}

/* Maps code of more files than there may be. Returns for how many there was room, or a few less. */
static unsigned int name_many_files(void)
{
	enum { OFTEN = 8 };
	unsigned int n = 0;
	uint64_t before;

	begin();
	must0(stacks_start_self(1, -1));
	before = lost();
	do {
		int fd = must(memfd_create("file", MFD_CLOEXEC));

		must(munmap(must(mmap(NULL, PG, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0)), PG));
		close(fd);
	} while (++n <= IMAGES && (n % OFTEN || lost() == before));
	is(lost() > before, true, "at last there is no room for another file");
	return n - OFTEN;
}

static void take(int nth)
{
	begin();
	is(-stacks_start_self(1, -1), 0, "a user has his stacks taken");
	had[nth] = touch_by_many();
}

/* Not more than @share, and not much less. */
static void has_had(uint64_t number, uint64_t share, const char *what)
{
	ok(number <= share && number + SLACK >= share, "%s: %" PRIu64 " of %" PRIu64, what, number,
	   share);
}

/* Into whom a child turns itself. */
static void turn_into(uid_t uid)
{
	if (uid)
		user(uid);
}

static const uid_t who[] = {ALICE, BOB, 0};

static void one_after_the_other(void)
{
	pid_t pid[3];

	for (int i = 0; i < 3; i++)
		frozen_child(pid[i])
		{
			turn_into(who[i]);
			take(i);
		}
	has_had(had[0], MOST / 2, "the first user has half of all stacks");
	has_had(had[1], MOST / 4, "the second has half of the others");
	has_had(had[2], MOST / 4, "root has all that is left");
	for (int i = 0; i < 3; i++)
		end_child(pid[i]);
}

static void files_one_after_the_other(void)
{
	pid_t keeper;

	frozen_child(keeper)
	{
		begin();
		must0(stacks_start_self(1, -1));
	}
	for (int i = 0; i < 3; i++)
		in_child {
			turn_into(who[i]);
			had[i] = name_many_files();
		}
	has_had(had[0], IMAGES / 2, "the first user names half of all files");
	has_had(had[1], IMAGES / 4, "the second half of the others");
	has_had(had[2], IMAGES - had[0] - had[1], "root all that are left");
	end_child(keeper);
}

static void tables_one_after_the_other(void)
{
	pid_t keeper;

	frozen_child(keeper) take(0);
	for (int i = 0; i < 3; i++)
		in_child {
			turn_into(who[i]);
			had[i] = give_many_tables();
		}
	has_had(had[0], TABLES / 2, "the first user has half of the room for tables");
	has_had(had[1], TABLES / 4, "the second half of the rest");
	has_had(had[2], TABLES / 4, "root all that is left");
	end_child(keeper);
}

/* Starts a process whose stacks are taken as those of the user @uid of a namespace that @owner makes. */
static pid_t in_namespace(uid_t owner, const char *ids, uid_t uid)
{
	struct gate *g = gate();
	pid_t pid = child();
	char map[40];

	if (!pid) {
		turn_into(owner);
		must(unshare(CLONE_NEWUSER));
		open_gate(g, 1);
		pass_gate(g, 2);
		must(setuid(uid));
		take(0);
		freeze();
	}
	pass_gate(g, 1);
	snprintf(map, sizeof(map), "/proc/%d/uid_map", pid);
	must0(spew(map, ids));
	open_gate(g, 2);
	await_frozen(pid);
	return pid;
}

/* In a namespace of his own a user has further ids, but no further share. */
static void by_other_ids(void)
{
	pid_t first = in_namespace(ALICE, "0 300000 100", 7), second;

	has_had(had[0], MOST / 2, "who is another in a user's namespace has the user's share");
	frozen_child(second)
	{
		user(ALICE);
		take(1);
	}
	is(had[1] <= 1, true, "of which nothing is left for the user himself");
	end_child(second);
	end_child(first);
}

/* A namespace in which root is root, as services with PrivateUsers= have, makes no user root. */
static void by_roots_ids(void)
{
	pid_t pid = in_namespace(0, "0 0 100000", ALICE);

	has_had(had[0], MOST / 2, "who is himself in root's namespace has his own share");
	end_child(pid);
}

/* A user chooses how large the tables of his files are: they take nothing of root's share, which is not limited. */
static void handed_in_by_root(void)
{
	uint32_t word = 0;
	pid_t pid;
	int fd;

	must0(sh("cp /bin/sleep /tmp/alices && chown %d /tmp/alices", ALICE));
	pid = child();
	if (!pid) {
		user(ALICE);
		execl("/tmp/alices", "alices", "1000", NULL);
		_exit(1);
	}
	ok(until(!sh("grep -q alices /proc/%d/comm", pid), 30), "a user runs a program of his own");
	is(sh("mtagctl track --stacks %d", pid), 0, "root has its stacks taken");
	fd = must(open("/tmp/alices", O_RDONLY | O_CLOEXEC));
	is(-table_give(fd, &word, sizeof(word)), EINVAL, "and has not handed in its table as his");
	in_child {
		user(ALICE);
		is(-table_give(fd, &word, sizeof(word)), EEXIST, "it is the user's");
	}
	end_child(pid);
	close(fd);
}

int main(void)
{
	begin_test();
	health_file = must(open("/sys/kernel/debug/mtag/health", O_RDONLY | O_CLOEXEC));
	had = must(mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	one_after_the_other();
	ok(idle(), "the tables go with the hooks");
	files_one_after_the_other();
	ok(idle(), "the files do, too");
	tables_one_after_the_other();
	ok(idle(), "and again");
	by_other_ids();
	ok(idle(), "once more");
	by_roots_ids();
	ok(idle(), "and at last");
	handed_in_by_root();
	return end_test();
}
