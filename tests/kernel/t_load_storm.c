// SPDX-License-Identifier: GPL-2.0
/*
 * A storm of forks, execs and threads, while readers begin dumps and stop; hooks that go in and out during a storm; and
 * events raised faster than they are sent.
 *   t_load_storm LIVES
 */
/* vm: group=plain mem=2G module=linger_ms=200 timeout=300 args=100 */
/* vm: group=load-long mem=8G module=linger_ms=200 timeout=10800 long=1 args=18000 */
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include "lib/load.h"

/* ---- readers that stop reading ---- */

#define READERS 24

struct request {
	struct nlmsghdr nl;
	struct genlmsghdr genl;
	char room[64];
};

static int genl_socket(int room)
{
	int fd = must(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC));

	must(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)));
	return fd;
}

static void ask(int fd, struct request *r, int type, int command, int flags)
{
	r->nl.nlmsg_len = r->nl.nlmsg_len ?: NLMSG_LENGTH(GENL_HDRLEN);
	r->nl.nlmsg_type = type;
	r->nl.nlmsg_flags = NLM_F_REQUEST | flags;
	r->genl.cmd = command;
	r->genl.version = MTAG_GENL_VERSION;
	must(send(fd, r, r->nl.nlmsg_len, 0));
}

/* The attribute of that type in [at, end), nested ones in the first of a list. */
static const struct nlattr *attribute(const char *at, const char *end, int type)
{
	while (at + NLA_HDRLEN <= end) {
		const struct nlattr *attr = (const void *)at;

		if (attr->nla_len < NLA_HDRLEN)
			break;
		if ((attr->nla_type & NLA_TYPE_MASK) == type)
			return attr;
		at += (attr->nla_len + 3) & ~3;
	}
	bail("no netlink attribute %d", type);
}

static const char *payload(const struct nlattr *attr)
{
	return (const char *)attr + NLA_HDRLEN;
}

static const struct nlattr *inside(const struct nlattr *attr, int type)
{
	return attribute(payload(attr), (const char *)attr + attr->nla_len, type);
}

static uint16_t family;
static uint32_t group;

static void find_family(void)
{
	struct request r = {0};
	struct nlattr *name = (void *)r.room;
	const struct nlattr *groups;
	char buf[8192], *end;
	int fd = genl_socket(64 * KIB);

	name->nla_type = CTRL_ATTR_FAMILY_NAME;
	name->nla_len = NLA_HDRLEN + sizeof(MTAG_GENL_NAME);
	memcpy(name + 1, MTAG_GENL_NAME, sizeof(MTAG_GENL_NAME));
	r.nl.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN) + ((name->nla_len + 3) & ~3);
	ask(fd, &r, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0);
	end = buf + must(recv(fd, buf, sizeof(buf), 0));
	memcpy(&family,
	       payload(attribute(buf + NLMSG_LENGTH(GENL_HDRLEN), end, CTRL_ATTR_FAMILY_ID)), 2);
	groups = attribute(buf + NLMSG_LENGTH(GENL_HDRLEN), end, CTRL_ATTR_MCAST_GROUPS);
	memcpy(&group, payload(inside(inside(groups, 1), CTRL_ATTR_MCAST_GRP_ID)), 4);
	close(fd);
}

static int listener(int room)
{
	struct sockaddr_nl any = {.nl_family = AF_NETLINK};
	int fd = genl_socket(room);

	/* A socket without a number of its own is told nothing. */
	must(bind(fd, (struct sockaddr *)&any, sizeof(any)));
	must(setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)));
	return fd;
}

/* Requests with answers of many parts. Nothing reads the second part. */
static void begin_reading(int *fds)
{
	char buf[512];

	for (size_t i = 0; i < READERS; i++) {
		struct request r = {0};

		switch (i % 4) {
		case 0:
		case 1:
			fds[i] = genl_socket(1);
			ask(fds[i], &r, family, i % 4 ? MTAG_CMD_TAG_GET : MTAG_CMD_PROC_GET,
			    NLM_F_DUMP);
			break;
		case 2:
			fds[i] = listener(1);
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

/* ---- events faster than they are sent ---- */

static uint64_t slab_objects(const char *name)
{
	char *text = slurp("/proc/slabinfo"), *line = text ? strstr(text, name) : NULL;

	return line ? strtoull(line + strlen(name), NULL, 10) : 0;
}

/* Makes calls that the limit refuses; each refusal raises an event. */
static void *refused(void *stop)
{
	struct mtag_ioc_child arg = {.size = sizeof(arg), .name = (uintptr_t) "new", .name_len = 3};

	while (!atomic_load((atomic_bool *)stop))
		if (mtag_ioctl(MTAG_IOC_CHILD, &arg) != -ENOSPC)
			bail("not refused");
	return NULL;
}

/* Returns how many more objects there were at once than at first. */
static uint64_t flood(double seconds)
{
	static atomic_bool stop;
	pthread_t threads[4];
	uint64_t most = 0, first;
	double end;

	must0(spew(PARAMETER("max_tags"), "1"));
	tag("one");
	first = slab_objects("\nkmalloc-64 ");
	for (size_t i = 0; i < COUNT(threads); i++)
		must0(pthread_create(&threads[i], NULL, refused, &stop));
	for (end = now() + seconds; now() < end; usleep(20000)) {
		uint64_t objects = slab_objects("\nkmalloc-64 ");

		most = objects > most ? objects : most;
	}
	atomic_store(&stop, true);
	for (size_t i = 0; i < COUNT(threads); i++)
		must0(pthread_join(threads[i], NULL));
	must0(spew(PARAMETER("max_tags"), "4096"));
	return most > first ? most - first : 0;
}

static void events(void)
{
	uint64_t overflow = health("overflow"), more;
	int fd = listener(64 * KIB);
	char buf[8192];
	ssize_t n;

	in_child {
		begin();
		more = flood(1.5);
		diag("%" PRIu64 " refusals sent to a listener that does not read",
		     health("overflow") - overflow);
		if (access("/proc/slabinfo", R_OK))
			skip("few events wait to be sent (this kernel does not say how many objects there are)");
		else
			ok(more < 20000, "at most %" PRIu64 " events wait to be sent", more);
	}
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
	find_family();
	lives = must(mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	before = load_begin();
	storm(enough);
	in_and_out(2 + enough / 100);
	no_loss(&before, "storm");
	events();
	after = load_end(&before);
	ok((long)(after.ended - before.ended) >= enough, "%" PRIu64 " lives ended",
	   after.ended - before.ended);
	diag("counts: lifetimes=%" PRIu64, after.ended - before.ended);
	return done();
}
