// SPDX-License-Identifier: GPL-2.0
/* mtagctl run --by-thread=tid: the tags of threads and of forked children that have ended are used again. */
/* vm: short=6.1 because="names of threads end in the same code on all" timeout=600 */
#include "lib/keepers.h"
#include "lib/stacks.h"
#include "lib/test.h"

#define FORKS	900 /* at least three times TAGS */
#define TAGS	300
#define AT_ONCE 4
#define OPEN	120 /* files that an exit has to close */
#define THREADS 160

/* This process tags each thread from here on. */
static void attach(void)
{
	struct mtag_ioc_attach arg = {.size = sizeof(arg), .flags = MTAG_ATTACH_BY_TID};

	must0(mtag_ioctl(MTAG_IOC_ATTACH, &arg));
	prctl(PR_SET_NAME, "main");
	prefault_stack();
}

static unsigned count_tags(void)
{
	struct usage u;
	mtag_t tag = MTAG_ID_FIRST;

	while (!usage_get(tag, &u))
		tag++;
	return tag - MTAG_ID_FIRST;
}

/* ---- a server that forks ---- */

static void fork_many(int count, bool exec)
{
	char *argv[] = {(char *)"true", NULL};
	pid_t pid[AT_ONCE];

	for (int i = 0; i < count; i += AT_ONCE) {
		for (int k = 0; k < AT_ONCE; k++) {
			pid[k] = must(fork());
			if (pid[k])
				continue;
			if (exec)
				execv("/bin/true", argv);
			_exit(exec);
		}
		for (int k = 0; k < AT_ONCE; k++)
			reap(pid[k]);
	}
}

/* The memory of a child ends first, and while its task goes on ending, a worker ends its space. */
static void forks(void)
{
	uint64_t overflow = health("overflow");

	attach();
	for (int i = 0; i < OPEN; i++)
		must(open("/dev/null", O_RDONLY | O_CLOEXEC));
	set_limit("max_tags", TAGS);
	fork_many(FORKS, false);
	ok(count_tags() < TAGS, "%d forked children that ended needed %u tags", FORKS,
	   count_tags());
	is(health("overflow") - overflow, 0, "and no tag was refused");
	fork_many(FORKS / 4, true);
	ok(count_tags() < TAGS, "%d that became other programs needed no more than %u", FORKS / 4,
	   count_tags());
	is(health("overflow") - overflow, 0, "and no tag was refused to them either");
	set_limit("max_tags", 4096);
	exact("the sums are exact after them");
	clean(getpid(), "and nothing was lost");
}

/* ---- a tag that another parent gets ---- */

static mtag_t tag_named(const char *name)
{
	struct mtag_ioc_child arg = {.size = sizeof(arg), .name_len = (uint32_t)strlen(name)};

	arg.name = (uintptr_t)name;
	must0(mtag_ioctl(MTAG_IOC_CHILD, &arg));
	return arg.id;
}

static void set_default(mtag_t tag)
{
	struct mtag_ioc_default arg = {.size = sizeof(arg), .tag = tag};

	must0(mtag_ioctl(MTAG_IOC_DEFAULT, &arg));
}

/* Bytes touched under a tag and those below it; and how many these are. */
static uint64_t touched_below(const char *name, unsigned *tags)
{
	char path[MTAG_PATH_MAX];
	struct usage u;
	uint64_t sum = 0;

	*tags = 0;
	for (mtag_t tag = MTAG_ID_FIRST; !usage_get(tag, &u); tag++) {
		struct mtag_ioc_path arg = {.size = sizeof(arg),
					    .tag = tag,
					    .buf_len = sizeof(path),
					    .buf = (uintptr_t)path};

		if (mtag_ioctl(MTAG_IOC_PATH, &arg) || strncmp(path, name, strlen(name)) ||
		    (path[strlen(name)] && path[strlen(name)] != '/'))
			continue;
		sum += u.c[MTAG_C_TOUCHED];
		++*tags;
	}
	return sum;
}

static void *short_life(void *arg)
{
	((volatile char *)arg)[0] = 1;
	return NULL;
}

static void threads(int count, char *page)
{
	pthread_t thread;

	for (int i = 0; i < count; i++) {
		must0(pthread_create(&thread, NULL, short_life, page));
		pthread_join(thread, NULL);
		must(madvise(page, PG, MADV_DONTNEED));
	}
}

/* What ended threads have touched by stacks is not that of the next one that has their tag. */
static void by_stack(void)
{
	struct stacks *s = stacks(getpid());
	unsigned over = 0;
	struct usage u;

	is(-s->error, 0, "the stacks can be read");
	for (mtag_t tag = MTAG_ID_FIRST; !usage_get(tag, &u); tag++)
		over += stack_sum(s, tag, ANY_KIND).touched > u.c[MTAG_C_TOUCHED];
	is(over, 0, "no tag has touched more by its stacks than it has");
	is(s->uncounted, 0, "and all is counted by stack");
}

static void parents(void)
{
	unsigned had, has;
	uint64_t before, all;
	char *page = area(PG);
	mtag_t one, two;

	attach();
	is(-stacks_start_self(1, -1), 0, "stacks are taken");
	one = tag_named("one");
	two = tag_named("two");
	set_default(one);
	threads(THREADS, page);
	before = touched_below("one", &had);
	all = usage_sum().c[MTAG_C_TOUCHED];
	set_default(two);
	/* A worker ends a thread's tag, some time after the thread. */
	ok(until((threads(8, page), touched_below("one", &has), has < had), 30),
	   "threads of another default tag use the tags of those that ended");
	ok(touched_below("one", &has) >= before, "what was touched below the old one stays there");
	ok(touched_below("two", &has) <= usage_sum().c[MTAG_C_TOUCHED] - all && has,
	   "and the new one has no more than has been touched since");
	by_stack();
	exact("and the sums are exact");
}

/* ---- a tag whose number a program was told ---- */

static const char *path_of(mtag_t tag)
{
	static char path[MTAG_PATH_MAX];
	struct mtag_ioc_path arg = {
		.size = sizeof(arg), .tag = tag, .buf_len = sizeof(path), .buf = (uintptr_t)path};

	return mtag_ioctl(MTAG_IOC_PATH, &arg) ? "" : path;
}

/* As the heap library does, which keeps the number with what the thread allocates. */
static void *asks(void *tag)
{
	struct mtag_ioc_heap arg = {.size = sizeof(arg), .flags = MTAG_HEAP_ASK};

	must0(mtag_ioctl(MTAG_IOC_HEAP, &arg));
	*(mtag_t *)tag = arg.tag;
	return NULL;
}

static void told(void)
{
	char *page = area(PG), path[MTAG_PATH_MAX];
	unsigned begun = 0, same = 0;
	mtag_t tag, another;

	attach();
	/* The stack of a thread is kept for the next: its pages belong to the first. */
	threads(1, page);
	in_thread(asks, &tag);
	snprintf(path, sizeof(path), "%s", path_of(tag));
	ok(*path, "a thread asks for its tag, and ends");
	ok(until((threads(8, page), begun += 8, count_tags() < begun), 30),
	   "tags of others that ended are used again");
	for (int i = 0; i < THREADS / 2; i++) {
		in_thread(asks, &another);
		same += another == tag;
	}
	is(same, 0, "but no other thread has the tag that was told");
	ok(!strcmp(path_of(tag), path), "which has its name still");
}

int main(void)
{
	begin_test();
	in_child
		forks();
	in_child
		parents();
	in_child
		told();
	return end_test();
}
