// SPDX-License-Identifier: GPL-2.0
/*
 * A storm of forks, execs and threads, while readers begin dumps and stop; hooks that go in and out during a storm; and
 * listeners that events could drown.
 *   t_load_storm LIVES
 */
/* vm: group=plain mem=2G module=linger_ms=200 timeout=300 args=100 */
/* vm: group=load-long mem=8G module=linger_ms=200 timeout=10800 long=1 args=18000 */
#include "lib/load.h"
#include "lib/netlink.h"

/* ---- readers that stop reading ---- */

#define READERS 24

static int reader(int command)
{
	int room = 1, fd = nl_open();

	must(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)));
	nl_send(fd, nl_family, command, NLM_F_DUMP, 0, NULL, 0);
	return fd;
}

/* Requests with answers of many parts. Nothing reads the second part. */
static void begin_reading(int *fds)
{
	char buf[512];

	for (size_t i = 0; i < READERS; i++) {
		switch (i % 4) {
		case 0:
		case 1:
			fds[i] = reader(i % 4 ? MTAG_CMD_TAG_GET : MTAG_CMD_PROC_GET);
			break;
		case 2:
			fds[i] = must(nl_listen(1));
			break;
		default:
			fds[i] = must(open("/sys/kernel/debug/mtag/stats", O_RDONLY | O_CLOEXEC));
			if (read(fds[i], buf, sizeof(buf)) < 0)
				bail("read stats");
		}
	}
}

static void stop_reading(int *fds)
{
	for (size_t i = 0; i < READERS; i++)
		close(fds[i]);
}

/* ---- the storm ---- */

#define ROOTS 4

static atomic_long *lives; /* shared */

static void *thread_of_life(void *arg)
{
	(void)arg;
	touch(tag("thread"), area(PG), PG);
	return NULL;
}

static void another_program(void)
{
	execl("/bin/true", "true", NULL);
	_exit(1);
}

/* One life: some memory, perhaps a thread, children, another program. Returns true in a child. */
static bool live(char *inherited, int depth)
{
	unsigned int kind = random_below(16);
	char name[16];

	atomic_fetch_add(lives, 1);
	snprintf(name, sizeof(name), "life-%u", random_below(32));
	touch(tag(name), inherited, random_below(16) * PG);
	touch(tag(name), area(8 * PG), random_below(8) * PG);
	if (kind == 0)
		in_thread(thread_of_life, NULL);
	for (unsigned int i = 0; depth && kind < 3 && i < 2; i++)
		if (!child())
			return true;
	if (kind == 4)
		another_program();
	if (kind == 5 && !vfork())
		another_program();
	/* Some wait for their children, others leave them alone. */
	while (kind % 2 && waitpid(-1, NULL, 0) > 0)
		;
	return false;
}

_Noreturn static void life(char *inherited)
{
	for (int depth = 2; live(inherited, depth); depth--)
		;
	_exit(0);
}

/* One of several that start processes until there have been enough. */
static void root(long enough)
{
	char *p = area(16 * PG);

	begin();
	touch(tag("root"), p, 16 * PG);
	while (atomic_load(lives) < enough) {
		pid_t pid = child();

		if (!pid)
			life(p);
		if (random_below(4))
			waitpid(pid, NULL, 0);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
	while (waitpid(-1, NULL, 0) > 0)
		;
	exact("a root of the storm is exact");
	clean(getpid(), "audit agrees");
}

static void storm(long enough)
{
	pid_t roots[ROOTS];
	int fds[READERS];
	size_t audits = 0;

	for (size_t i = 0; i < ROOTS; i++) {
		roots[i] = child();
		if (!roots[i]) {
			/* What is left alone by its parent comes to its root. */
			must0(prctl(PR_SET_CHILD_SUBREAPER, 1));
			root(enough);
			_exit(0);
		}
	}
	if (!until(atomic_load(lives) > ROOTS, 60))
		bail("no storm");
	begin_reading(fds);
	while (atomic_load(lives) < enough) {
		sh("mtagctl -j show >/dev/null 2>&1; mtagctl -j audit >/dev/null 2>&1");
		audits++;
	}
	for (size_t i = 0; i < ROOTS; i++)
		reap(roots[i]);
	diag("%ld lives, all processes read and audited %zu times meanwhile", atomic_load(lives),
	     audits);
	stop_reading(fds);
}

/* ---- hooks in and out during a storm ---- */

/* These are not tracked. */
_Noreturn static void untracked_storm(const atomic_bool *stop)
{
	while (!atomic_load(stop)) {
		pid_t pid = child();

		if (!pid) {
			char *p = must(mmap(NULL, 16 * PG, PROT_READ | PROT_WRITE,
					    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));

			memset(p, 1, 16 * PG);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	_exit(0);
}

static void in_and_out(size_t times)
{
	atomic_bool *stop =
		must(mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	pid_t others[2];
	size_t out = 0;

	must0(spew(PARAMETER("linger_ms"), "0"));
	for (size_t i = 0; i < COUNT(others); i++) {
		others[i] = child();
		if (!others[i])
			untracked_storm(stop);
	}
	for (size_t i = 0; i < times; i++) {
		in_child {
			must0(mtag_init());
			touch(tag("short"), area(16 * PG), 16 * PG);
			if (i % 4 == 0)
				in_child
					touch(tag("shorter"), area(16 * PG), 16 * PG);
		}
		out += until((visit_cpus(), !health("installed")), 30);
	}
	atomic_store(stop, true);
	for (size_t i = 0; i < COUNT(others); i++)
		reap(others[i]);
	must0(spew(PARAMETER("linger_ms"), "200"));
	is(out, times, "hooks go in and out %zu times beneath a storm of forks", times);
}

/* ---- events ---- */

/* Makes calls that the limit refuses. */
static void *refused(void *stop)
{
	struct mtag_ioc_child arg = {.size = sizeof(arg), .name = (uintptr_t) "new", .name_len = 3};

	while (!atomic_load((atomic_bool *)stop))
		if (mtag_ioctl(MTAG_IOC_CHILD, &arg) != -ENOSPC)
			bail("not refused");
	return NULL;
}

static void flood(double seconds)
{
	static atomic_bool stop;
	pthread_t threads[4];

	must0(spew(PARAMETER("max_tags"), "1"));
	tag("one");
	for (size_t i = 0; i < COUNT(threads); i++)
		must0(pthread_create(&threads[i], NULL, refused, &stop));
	usleep(seconds * 1e6);
	atomic_store(&stop, true);
	for (size_t i = 0; i < COUNT(threads); i++)
		must0(pthread_join(threads[i], NULL));
	must0(spew(PARAMETER("max_tags"), "4096"));
}

/* What a program is refused as fast as it can ask is not told each time. */
static void refusals(void)
{
	uint64_t overflow = health("overflow"), told = 0, wanted = 0;
	int fd = must(nl_listen(MIB));
	char buf[8192];

	in_child {
		begin();
		flood(1.5);
	}
	overflow = health("overflow") - overflow;
	/* Another's end may still be on its way when this begins to listen. */
	while (must(recv(fd, buf, sizeof(buf), 0)) && !(told && nl_is_event(buf, "exit")))
		told += nl_is_event(buf, "overflow");
	while (overflow >> wanted)
		wanted++;
	is(told, wanted, "of %" PRIu64 " refusals a listener is told of the 1st, 2nd, 4th…",
	   overflow);
	close(fd);
}

#define UNREAD 200 /* each is told twice, and there is room for some dozens */

static void unread(void)
{
	int fd = must(nl_listen(64 * KIB));
	char buf[8192];
	ssize_t n;

	for (int i = 0; i < UNREAD; i++)
		in_child
			begin();
	/* Most of them may still have to be sent. */
	ok(until((n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT)) < 0 && errno == ENOBUFS, 30),
	   "a listener that did not read is told that it missed something");
	close(fd);
}

int main(int argc, char **argv)
{
	long enough = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
	struct load before, after;

	need_root();
	nl_begin();
	lives = must(mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	before = load_begin();
	storm(enough);
	in_and_out(2 + enough / 100);
	no_loss(&before, "storm");
	refusals();
	unread();
	after = load_end(&before);
	ok((long)(after.ended - before.ended) >= enough, "%" PRIu64 " lives ended",
	   after.ended - before.ended);
	diag("counts: lifetimes=%" PRIu64, after.ended - before.ended);
	return done();
}
