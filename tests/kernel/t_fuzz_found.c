// SPDX-License-Identifier: GPL-2.0
/* Bugs that fuzzing found, or reading the code as an attacker would. */
#include "lib/fuzz.h"
#include "lib/fuzz_netlink.h"
#include <sys/sysinfo.h>

#define SECRET "of-another-user"

/* ---- sockets that are handed on ---- */

static void as(uid_t id)
{
	/* Of this thread alone, unlike the library's. */
	if (!id)
		must(syscall(SYS_setresuid, -1, id, -1));
	must(syscall(SYS_setresgid, -1, id, -1));
	if (id)
		must(syscall(SYS_setresuid, -1, id, -1));
}

/* Counts the names of processes. */
struct names {
	int own, others, secret_tags;
};

static void count_names(const struct nlattr *attr, int depth, void *data)
{
	struct names *n = data;
	const char *text = (const char *)(attr + 1);

	if (attr->nla_type == MTAG_A_PROC_COMM) {
		n->own += !strcmp(text, "fuzz-own");
		n->others += !strcmp(text, "fuzz-secret");
	}
	if (depth && attr->nla_type == MTAG_A_TAG_NAME)
		n->secret_tags += !strcmp(text, SECRET);
}

/* A process that waits at the gate's step 2, with @tags tags. */
static pid_t waiting(struct gate *g, enum user user, const char *name, const char *first, int tags)
{
	pid_t pid = child();

	if (pid) {
		pass_gate(g, 1);
		open_gate(g, 0);
		return pid;
	}
	become(user);
	must(prctl(PR_SET_NAME, name));
	must(prctl(PR_SET_PDEATHSIG, SIGKILL));
	if (tags) {
		begin();
		for (int i = 0; i < tags; i++) {
			char text[32];

			snprintf(text, sizeof(text), "%s", first);
			if (i)
				snprintf(text, sizeof(text), "t%d", i);
			touch(tag(text), area(PG), PG);
		}
	}
	open_gate(g, 1);
	pass_gate(g, 2);
	_exit(0);
}

#define OTHERS 12
#define OWN    6

static void dump_continued(int s, int command, int flags)
{
	struct names n = {0};
	struct message *m = must(mmap(NULL, sizeof(*m), PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	int error;

	as(65534);
	message(m, fuzz_family, command, NLM_F_DUMP | flags);
	must(send(s, m, m->nl.nlmsg_len, 0));
	as(0);
	error = genl_answer(s, count_names, &n);
	is(-error, 0, "root reads the rest of a dump that user nobody began");
	ok(n.own > 0, "it has the processes of user nobody");
	is(n.others, 0, "it has no others, although root reads it");
	is(n.secret_tags, 0, "it has none of their tags");
	must(munmap(m, sizeof(*m)));
}

static void sockets_handed_on(void)
{
	struct gate *g = gate();
	pid_t others[OTHERS], own[OWN], untracked;
	int s, mine;

	for (int i = 0; i < OWN; i++)
		own[i] = waiting(g, NOBODY, "fuzz-own", "own", 60);
	for (int i = 0; i < OTHERS; i++)
		others[i] = waiting(g, ROOT, "fuzz-secret", SECRET, 2);
	untracked = waiting(g, ROOT, "fuzz-untracked", "", 0);
	as(65534);
	s = genl_open();
	as(0);
	mine = genl_open();
	dump_continued(s, MTAG_CMD_TAG_GET, 0);
	dump_continued(s, MTAG_CMD_PROC_GET, 0);
	is(-genl_ask(s, MTAG_CMD_PROC_GET, NLM_F_ACK, others[0], NULL, NULL), EACCES,
	   "root asks of another's process by nobody's socket");
	is(-genl_ask(s, MTAG_CMD_AUDIT, NLM_F_ACK, others[0], NULL, NULL), EACCES,
	   "has it audited");
	is(-genl_ask(s, MTAG_CMD_RESET, NLM_F_ACK, others[0], NULL, NULL), EPERM,
	   "has its peaks reset");
	is(-genl_ask(s, MTAG_CMD_TRACK, NLM_F_ACK, untracked, NULL, NULL), EPERM, "tracks it");
	is(-genl_ask(s, MTAG_CMD_UNTRACK, NLM_F_ACK, others[0], NULL, NULL), EPERM, "untracks it");
	is(-genl_ask(s, MTAG_CMD_TRACK, NLM_F_ACK, getpid(), NULL, NULL), EPERM, "tracks itself");
	is(-genl_ask(s, MTAG_CMD_PROC_GET, NLM_F_ACK, own[0], NULL, NULL), 0, "and of nobody's");
	is(-genl_ask(mine, MTAG_CMD_PROC_GET, NLM_F_ACK, others[0], NULL, NULL), 0,
	   "by a socket of its own it may");
	as(65534);
	is(-genl_ask(mine, MTAG_CMD_PROC_GET, NLM_F_ACK, others[0], NULL, NULL), EACCES,
	   "user nobody may not read root's by it");
	is(-genl_ask(mine, MTAG_CMD_PROC_GET, NLM_F_ACK, own[0], NULL, NULL), 0,
	   "user nobody may read its own by it");
	as(0);
	close(s);
	close(mine);
	open_gate(g, 2);
	for (int i = 0; i < OWN; i++)
		reap(own[i]);
	for (int i = 0; i < OTHERS; i++)
		reap(others[i]);
	reap(untracked);
}

/* ---- events raised faster than they are sent ---- */

#define EVENTS 100000

/* Threads of real-time priority that never wait keep the worker from sending anything. */
static void *raise_events(void *unused)
{
	struct sched_param priority = {.sched_priority = 1};
	struct mtag_ioc_child arg;

	must(sched_setscheduler(0, SCHED_FIFO, &priority));
	for (int i = 0; i < EVENTS; i++) {
		arg = (struct mtag_ioc_child){
			.size = sizeof(arg), .name = (uintptr_t) "one more", .name_len = 8};
		if (mtag_ioctl(MTAG_IOC_CHILD, &arg) != -ENOSPC)
			return "no";
	}
	return unused;
}

/* Counts the events that still come after the last was raised. */
static int late_events(int s)
{
	struct timeval limit = {.tv_sec = 2};
	char buf[8192];
	int n = 0;

	must(setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)));
	for (;;) {
		if (recv(s, buf, sizeof(buf), 0) >= 0)
			n++;
		else if (errno != ENOBUFS)
			return n;
	}
}

static void events_unbounded(void)
{
	static const char runtime[] = "/proc/sys/kernel/sched_rt_runtime_us";
	static const char max_tags[] = "/sys/module/mtag/parameters/max_tags";
	uint64_t period, limit;
	int s = genl_open(), size = 64 << 20, early = 0, cpus = get_nprocs();
	pthread_t threads[64];
	char buf[8192];
	void *result;

	limit = strtoull(slurp(max_tags), NULL, 10);
	period = strtoull(slurp(runtime), NULL, 10);
	must(setsockopt(s, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)));
	must(setsockopt(s, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &fuzz_group, sizeof(fuzz_group)));
	in_child {
		begin();
		must0(spew(max_tags, "0"));
		must0(spew(runtime, "-1"));
		for (int i = 0; i < cpus && i < 64; i++)
			must0(pthread_create(&threads[i], NULL, raise_events, NULL));
		for (int i = 0; i < cpus && i < 64; i++) {
			must0(pthread_join(threads[i], &result));
			ok(!result, "tags beyond the limit are refused");
		}
	}
	must0(spew(runtime, "%" PRIu64, period));
	must0(spew(max_tags, "%" PRIu64, limit));
	while (recv(s, buf, sizeof(buf), MSG_DONTWAIT) >= 0)
		early++;
	early += late_events(s);
	diag("%d events came of %d", early, cpus * EVENTS);
	ok(early > 0, "events come");
	ok(early < cpus * EVENTS,
	   "of those that are raised faster than they are sent only so many are kept");
	close(s);
}

/* ---- attributes where none is expected ---- */

/* For such an attribute 7.2 read a policy far behind the end of the table, and hit a BUG. */
static void unexpected_attributes(void)
{
	static struct message m;
	int s = genl_open(), refused = 0;

	for (int type = 0; type < 64; type++) {
		message(&m, fuzz_family, MTAG_CMD_INFO_GET, NLM_F_ACK);
		put(&m, type, "12345678", 8);
		must(send(s, &m, m.nl.nlmsg_len, 0));
		refused += genl_answer(s, NULL, NULL) == -EINVAL;
	}
	is(refused, 64, "INFO_GET takes no attribute of any type");
	is(-genl_ask(s, MTAG_CMD_INFO_GET, NLM_F_ACK, 0, NULL, NULL), 0, "and is answered without");
	close(s);
}

int main(void)
{
	struct remains before;

	need_root();
	find_family();
	before = remains();
	unexpected_attributes();
	sockets_handed_on();
	events_unbounded();
	same_remains(before, "all that");
	return done();
}
