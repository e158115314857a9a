// SPDX-License-Identifier: GPL-2.0
/* mtagctl run --by-thread=tid: a tag for each thread, NAME-TID, whose name is the thread's at any time. */
/* vm: timeout=600 */
#include "lib/netlink.h"

#define N	32
#define SHORT	5000 /* more than a process may have tags */
#define RENAMES 3
#define STACK	(256 * KIB)
#define LIVE	400 /* tags that take several messages */

static char self[256];

/* ---- tags by their paths ---- */

/* The path of a tag of this process; "": there is no such tag. */
static const char *path_of(mtag_t tag)
{
	static __thread char path[MTAG_PATH_MAX];
	struct mtag_ioc_path arg = {
		.size = sizeof(arg), .tag = tag, .buf_len = sizeof(path), .buf = (uintptr_t)path};

	return mtag_ioctl(MTAG_IOC_PATH, &arg) ? "" : path;
}

/* The tag of this process with that path; 0: there is none. */
static mtag_t tag_at(const char *format, ...)
{
	struct usage u;
	char want[128];
	va_list args;

	va_start(args, format);
	vsnprintf(want, sizeof(want), format, args);
	va_end(args);
	for (mtag_t tag = MTAG_ID_FIRST; !usage_get(tag, &u); tag++)
		if (!strcmp(path_of(tag), want))
			return tag;
	return 0;
}

static unsigned count_tags(void)
{
	struct usage u;
	mtag_t tag = MTAG_ID_FIRST;

	while (!usage_get(tag, &u))
		tag++;
	return tag - MTAG_ID_FIRST;
}

/* ---- threads that do what they are told ---- */

struct worker {
	pthread_t thread;
	_Atomic(pid_t) tid;
	struct gate *g;
	char *area;
};

static void write_pages(char *p, size_t pages)
{
	for (size_t i = 0; i < pages; i++)
		((volatile char *)p)[i * PG] = 1;
}

static void *work(void *arg)
{
	struct worker *w = arg;

	atomic_store(&w->tid, gettid());
	pass_gate(w->g, 1);
	write_pages(w->area, N);
	open_gate(w->g, 2);
	pass_gate(w->g, 3);
	prctl(PR_SET_NAME, "by/itself");
	write_pages(w->area + N * PG, N);
	open_gate(w->g, 4);
	pass_gate(w->g, 5);
	return NULL;
}

/* On that stack, or on one that libc keeps for the next thread. */
static struct worker *worker_on(char *stack)
{
	pthread_attr_t attr;
	struct worker *w = must(mmap(NULL, sizeof(*w), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0));

	w->g = gate();
	w->area = area(2 * N * PG);
	must0(pthread_attr_init(&attr));
	if (stack)
		must0(pthread_attr_setstack(&attr, stack, STACK));
	must0(pthread_create(&w->thread, &attr, work, w));
	if (!until(atomic_load(&w->tid), 60))
		bail("a thread does not begin");
	return w;
}

static struct worker *worker(void)
{
	return worker_on(NULL);
}

static void end(struct worker *w)
{
	open_gate(w->g, 5);
	pthread_join(w->thread, NULL);
}

/* This process tags each thread from here on. */
static void attach(void)
{
	struct mtag_ioc_attach arg = {.size = sizeof(arg), .flags = MTAG_ATTACH_BY_TID};

	must0(mtag_ioctl(MTAG_IOC_ATTACH, &arg));
	prctl(PR_SET_NAME, "main");
	prefault_stack();
}

/* ---- the rules ---- */

static void flags(void)
{
	struct mtag_ioc_attach arg = {.size = sizeof(arg)};
	static const uint32_t bad[] = {3, 5, 6, 7, 8, 0x80000002};
	int refused = 0;

	for (size_t i = 0; i < COUNT(bad); i++) {
		arg.flags = bad[i];
		refused += mtag_ioctl(MTAG_IOC_ATTACH, &arg) == -EINVAL;
	}
	is((uint64_t)refused, COUNT(bad), "attach refuses two flags at once, and unknown ones");
}

static void owns_and_follows(void)
{
	struct worker *w, *other;
	uint64_t before;
	char comm[64];
	mtag_t tag;

	attach();
	ok(tag_at("main-%d", getpid()), "the thread that attaches has a tag once it has a name");
	w = worker();
	other = worker();
	tag = tag_at("main-%d", w->tid);
	ok(tag, "a new thread has a tag of its own, named after its creator and its TID");
	ok(tag_at("main-%d", other->tid), "another has another");
	before = anon_of(tag);
	open_gate(w->g, 1);
	pass_gate(w->g, 2);
	is(anon_of(tag), before + N * PG, "what a thread touches belongs to its tag");
	must0(pthread_setname_np(w->thread, "renamed"));
	is(tag_at("renamed-%d", w->tid), tag, "a thread that another renames keeps its tag");
	ok(!tag_at("main-%d", w->tid), "under the new name only");
	is(anon_of(tag), before + N * PG, "and its pages");
	open_gate(w->g, 3);
	pass_gate(w->g, 4);
	is(tag_at("by_itself-%d", w->tid), tag, "so does one that renames itself");
	ok(anon_of(tag) >= before + 2 * N * PG, "and its new pages belong there too");
	snprintf(comm, sizeof(comm), "/proc/self/task/%d/comm", w->tid);
	must(spew(comm, "by-file"));
	is(tag_at("by-file-%d", w->tid), tag, "so does one that is renamed by its file in /proc");
	before = anon_of(tag);
	must(madvise(w->area, N * PG, MADV_DONTNEED));
	is(anon_of(tag), before - N * PG, "pages that another thread frees are its no longer");
	must(munmap(w->area + N * PG, N / 2 * PG));
	is(anon_of(tag), before - N * PG - N / 2 * PG, "nor are those that another thread unmaps");
	exact("the sums are exact meanwhile");
	end(w);
	open_gate(other->g, 1);
	pass_gate(other->g, 2);
	open_gate(other->g, 3);
	pass_gate(other->g, 4);
	end(other);
	is(tag_at("by-file-%d", w->tid), tag, "the tag of a thread that has ended stays");
	is(anon_of(tag) >= N / 2 * PG, true, "with the pages that the thread left");
	exact("the sums are exact after the threads");
}

static void child_tag(void)
{
	struct mtag_ioc_child arg = {.size = sizeof(arg), .name_len = 5};
	char want[64];

	attach();
	arg.parent = tag_at("main-%d", getpid());
	arg.name = (uintptr_t) "below";
	must0(mtag_ioctl(MTAG_IOC_CHILD, &arg));
	prctl(PR_SET_NAME, "other");
	snprintf(want, sizeof(want), "other-%d/below", getpid());
	ok(!strcmp(path_of(arg.id), want), "a tag below a thread's shows the thread's new name");
}

static void forks(void)
{
	char *p = area(2 * N * PG);
	mtag_t mine, hers;

	attach();
	write_pages(p, N);
	mine = tag_at("main-%d", getpid());
	is(anon_of(mine) >= N * PG, true, "a process has its pages under its main thread");
	in_child {
		hers = tag_at("main-%d", getpid());
		ok(hers, "the only thread of a forked child has a tag of its own");
		is(anon_of(mine) >= N * PG, true, "pages from before the fork keep their tag");
		write_pages(p + N * PG, N);
		is(anon_of(hers) >= N * PG, true, "and those after it are the child's");
		exact("the child is exact");
	}
	exact("and so is its parent");
}

/* ---- many ---- */

static char *left;

static void *short_life(void *arg)
{
	((volatile char *)arg)[0] = 1;
	return NULL;
}

static void many(void)
{
	struct usage before, after;
	pthread_t thread[4];

	attach();
	left = area(4 * PG);
	before = usage_sum();
	for (int i = 0; i < SHORT; i += 4) {
		for (int k = 0; k < 4; k++)
			must0(pthread_create(&thread[k], NULL, short_life, left + k * PG));
		for (int k = 0; k < 4; k++)
			pthread_join(thread[k], NULL);
		must(madvise(left, 4 * PG, MADV_DONTNEED));
	}
	after = usage_sum();
	ok(count_tags() < 4096, "%d threads that ended needed %u tags", SHORT, count_tags());
	ok(after.c[MTAG_C_TOUCHED] >= before.c[MTAG_C_TOUCHED] + SHORT * PG,
	   "no first touch of theirs is missing");
	exact("the sums are exact after them");
	is(audit(getpid()).overflow, 0, "and no tag was refused");
	clean(getpid(), "and nothing was lost");
}

/* ---- a tag that another thread gets while a dump is read ---- */

static void *waits(void *g)
{
	pass_gate(g, 1);
	return NULL;
}

/* Rows are of one time: the last is not told with the name of a thread that came later. */
static void while_read(void)
{
	struct gate *g = gate();
	struct worker *last;
	pthread_t thread[LIVE];
	char first[65536], *page = area(PG), *stack = area(STACK);
	struct heard *heard;
	mtag_t tag;
	int fd;

	attach();
	for (int i = 0; i < LIVE; i++)
		must0(pthread_create(&thread[i], NULL, waits, g));
	last = worker_on(stack);
	open_gate(last->g, 1);
	pass_gate(last->g, 2);
	tag = tag_at("main-%d", last->tid);
	nl_begin();
	fd = nl_open();
	nl_send(fd, nl_family, MTAG_CMD_TAG_GET, NLM_F_ACK | NLM_F_DUMP, MTAG_A_PROC_PID,
		&(pid_t){getpid()}, 4);
	ok(tag && recv(fd, first, sizeof(first), 0) > 0, "the first message of many is read");
	open_gate(last->g, 3);
	pass_gate(last->g, 4);
	end(last);
	must(munmap(last->area, 2 * N * PG));
	must(munmap(stack, STACK));
	ok(until((in_thread(short_life, page), !strstr(path_of(tag), "itself")), 60),
	   "another thread has the last tag then");
	heard = nl_hear(fd);
	ok(!heard->error && heard->messages && !nl_holds(heard, path_of(tag)),
	   "what is read on does not have that thread's name");
	ok(nl_holds(heard, "[hidden]"), "but the pages, under none");
	close(fd);
	open_gate(g, 1);
	for (int i = 0; i < LIVE; i++)
		pthread_join(thread[i], NULL);
}

/* ---- renaming while others read ---- */

static atomic_bool stop;

/* Names of one letter each, of different lengths. */
static void *renamer(void *arg)
{
	char name[16];

	for (unsigned i = (unsigned)(uintptr_t)arg; !atomic_load(&stop); i++) {
		memset(name, 'a' + (int)(i % 26), sizeof(name));
		name[1 + i % 15] = '\0';
		prctl(PR_SET_NAME, name);
	}
	return NULL;
}

/* Is it one letter, several times, a dash and a TID? */
static bool whole(const char *path)
{
	size_t letters = strspn(path, (char[]){path[0], '\0'});

	return path[0] >= 'a' && path[0] <= 'z' && path[letters] == '-' &&
	       strspn(path + letters + 1, "0123456789") == strlen(path + letters + 1);
}

static void races(void)
{
	unsigned long seen = 0, bad = 0, shown = 0;
	pthread_t thread[RENAMES];
	mtag_t first, last;
	double end;

	attach();
	prctl(PR_SET_NAME, "m");
	for (uintptr_t i = 0; i < RENAMES; i++)
		must0(pthread_create(&thread[i], NULL, renamer, (void *)(i * 7)));
	first = MTAG_ID_FIRST;
	last = first + count_tags();
	for (end = now() + slowness(); now() < end;) {
		for (mtag_t tag = first; tag < last; tag++, seen++) {
			const char *path = path_of(tag);

			if (!whole(path) && bad++ < 5)
				diag("the tag %u is '%s'", tag, path);
		}
		if (shown++ % 100)
			continue;
		for (char *text = ctl(NULL, "-j show %d", getpid()), *object;
		     (object = json_next(&text));) {
			const char *path = json_string(object, "tag");

			/* mtagctl is a forked child before it is a program of its own. */
			if (*path && *path != '[' && !whole(path) && bad++ < 5)
				diag("mtagctl shows '%s'", path);
		}
	}
	atomic_store(&stop, true);
	for (int i = 0; i < RENAMES; i++)
		pthread_join(thread[i], NULL);
	is(bad, 0, "of %lu names read while threads are renamed all are whole", seen);
	exact("and the sums are exact");
	clean(getpid(), "and nothing is lost");
}

/* ---- a program that is run ---- */

static int program(void)
{
	printf("%d\n", getpid());
	fflush(stdout);
	return getchar() == EOF;
}

/* The program by its descriptor: from 6.14 on exec then names it under rcu_read_lock(), where no hook may sleep. */
static int by_descriptor(void)
{
	char *const argv[] = {"t_by_tid", "program", NULL};

	fexecve(must(open("/proc/self/exe", O_RDONLY | O_CLOEXEC)), argv, environ);
	return 1;
}

static void run(const char *how)
{
	char command[512], line[64] = "", want[64], path[64], *comm;
	int in[2], status;
	uint64_t rss = 0;
	FILE *p;

	snprintf(command, sizeof(command),
		 "mtagctl run -t app --by-thread=tid -- sh -c 'exec \"%s\" %s' <&9", self, how);
	must(pipe(in));
	must(dup2(in[0], 9));
	p = popen(command, "r");
	if (!p || !fgets(line, sizeof(line), p))
		bail("%s says nothing", command);
	snprintf(path, sizeof(path), "/proc/%d/comm", atoi(line));
	comm = slurp(path);
	snprintf(want, sizeof(want), "app/%.*s-%d", (int)strcspn(comm, "\n"), comm, atoi(line));
	for (char *text = ctl(&status, "-j show %d", atoi(line)), *object;
	     (object = json_next(&text));)
		if (!strcmp(json_string(object, "tag"), want))
			rss += json_u64(object, "rss_bytes");
	ok(rss, "mtagctl run --by-thread=tid: the thread of a %s has its tag, %s, after exec too",
	   how, want);
	must(write(in[1], "\n", 1));
	is((uint64_t)pclose(p), 0, "and the program ends well");
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "program"))
		return program();
	if (argc > 1 && !strcmp(argv[1], "descriptor"))
		return by_descriptor();
	begin_test();
	must(readlink("/proc/self/exe", self, sizeof(self) - 1));
	in_child
		flags();
	in_child
		owns_and_follows();
	in_child
		child_tag();
	in_child
		forks();
	in_child
		many();
	in_child
		while_read();
	in_child
		races();
	run("program");
	run("descriptor");
	return end_test();
}
