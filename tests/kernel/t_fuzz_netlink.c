// SPDX-License-Identifier: GPL-2.0
/*
 * Random inputs to the netlink family: noise on several sockets, and requests that are nearly right, while processes
 * come and go. Dumps are abandoned half-way, and listeners read nothing. As root, as nobody, and as root of a user
 * namespace.
 */
/* vm: timeout=1800 */
#include <sys/eventfd.h>
#include "lib/fuzz_look.h"

#define SOCKETS 8
#define OPEN	"open"

static struct random rng;
static int sockets[SOCKETS], control;

/* ---- processes that requests are about ---- */

enum role {
	ROOTS,
	ROOTS_UNTRACKED,
	NOBODYS,
	NOBODYS_UNTRACKED,
	UNDUMPABLE,
	OTHERS,
	SELF = OTHERS,
	DEAD,
	ROLES
};

/* Shared with the rounds, which change it. */
static struct pool {
	struct {
		pid_t pid;
		bool tracked, stacks;
	} process[ROLES];
	atomic_bool stop;
} * pool;

static void be_tracked(const char *name)
{
	char text[32];

	must(prctl(PR_SET_NAME, name));
	begin();
	for (int i = 0; i < 60; i++) {
		snprintf(text, sizeof(text), "%s-%d", name, i);
		touch(tag(text), area(PG), PG);
	}
}

static void play(enum role role, struct gate *g)
{
	const char *name = role == NOBODYS || role == NOBODYS_UNTRACKED ? OPEN : SECRET;

	must(prctl(PR_SET_PDEATHSIG, SIGKILL));
	if (role >= NOBODYS)
		become(NOBODY);
	must(prctl(PR_SET_NAME, name));
	if (pool->process[role].tracked)
		be_tracked(name);
	if (role == UNDUMPABLE)
		must(prctl(PR_SET_DUMPABLE, 0));
	open_gate(g, 1);
	while (!atomic_load(&pool->stop))
		usleep(20000);
	_exit(0);
}

/* Spaces come and go all the time. */
static pid_t churn(enum user user)
{
	pid_t pid = child();

	if (pid)
		return pid;
	must(prctl(PR_SET_PDEATHSIG, SIGKILL));
	become(user);
	while (!atomic_load(&pool->stop)) {
		in_child {
			be_tracked(user == ROOT ? SECRET : OPEN);
		}
		usleep(10000);
	}
	_exit(0);
}

/* ---- sockets ---- */

/* Receives from a socket into a buffer of random size. */
static void receive(int s)
{
	static char buf[64 * KIB];
	size_t room = one_in(&rng, 4) ? below(&rng, 600) : 1024 + below(&rng, 63 * KIB);
	struct nlmsghdr *h = (void *)buf;
	ssize_t n = recv(s, buf, room,
			 MSG_DONTWAIT | (one_in(&rng, 8) ? MSG_PEEK : 0) |
				 (one_in(&rng, 8) ? MSG_TRUNC : 0));

	if (n > (ssize_t)room)
		return;
	for (; n > 0 && NLMSG_OK(h, (size_t)n); h = NLMSG_NEXT(h, n))
		if (h->nlmsg_type == fuzz_family)
			expect(attributes((char *)NLMSG_DATA(h) + GENL_HDRLEN,
					  (char *)h + h->nlmsg_len, 0, check_attr, NULL),
			       "a reply of %u bytes is not well-formed", h->nlmsg_len);
}

static void option(int s)
{
	static const int options[] = {
		NETLINK_ADD_MEMBERSHIP,	 NETLINK_DROP_MEMBERSHIP, NETLINK_PKTINFO,
		NETLINK_BROADCAST_ERROR, NETLINK_NO_ENOBUFS,	  NETLINK_LISTEN_ALL_NSID,
		NETLINK_CAP_ACK,	 NETLINK_EXT_ACK,	  NETLINK_GET_STRICT_CHK};
	int name = options[below(&rng, COUNT(options))], value = below(&rng, 2), error;

	if (one_in(&rng, 4)) {
		value = below(&rng, 1 << 16);
		setsockopt(s, SOL_SOCKET, one_in(&rng, 2) ? SO_RCVBUF : SO_SNDBUF, &value,
			   sizeof(value));
		return;
	}
	if (name == NETLINK_ADD_MEMBERSHIP || name == NETLINK_DROP_MEMBERSHIP)
		value = fuzz_group;
	error = setsockopt(s, SOL_NETLINK, name, &value, sizeof(value)) ? errno : 0;
	if (name == NETLINK_ADD_MEMBERSHIP && fuzz_user != ROOT)
		expect(error == EPERM, "%s joins the events: %s", user_names[fuzz_user],
		       strerror(error));
}

/* ---- noise ---- */

/* Attributes that are nearly valid, or random bytes. */
static size_t noise_payload(char *to, size_t room)
{
	size_t len = one_in(&rng, 16) ? below(&rng, room) : below(&rng, 96), at = 0;

	noise(&rng, to, len);
	while (!one_in(&rng, 3) && at + 8 < len) {
		struct nlattr *attr = (void *)(to + at);

		attr->nla_type = one_in(&rng, 4) ? rnd(&rng) : below(&rng, MTAG_A_MAX + 2);
		if (one_in(&rng, 4))
			attr->nla_type |= one_in(&rng, 2) ? NLA_F_NESTED : NLA_F_NET_BYTEORDER;
		attr->nla_len = one_in(&rng, 4) ? odd_number(&rng) : 4 + below(&rng, 12);
		at += one_in(&rng, 6) ? 4 : ALIGN4(attr->nla_len);
	}
	return len;
}

static void noise_send(int s)
{
	static struct message m[2];
	size_t len = 0;
	int n = 1 + one_in(&rng, 4);

	for (int i = 0; i < n; i++) {
		struct message *at = (void *)((char *)m + len);

		message(at, fuzz_family,
			one_in(&rng, 8) ? rnd(&rng) : below(&rng, MTAG_CMD_MAX + 2), 0);
		at->genl.version = one_in(&rng, 4) ? rnd(&rng) : 1;
		at->genl.reserved = one_in(&rng, 16) ? rnd(&rng) : 0;
		at->nl.nlmsg_flags = one_in(&rng, 3)
					     ? rnd(&rng)
					     : NLM_F_REQUEST | (one_in(&rng, 2) ? NLM_F_DUMP : 0);
		at->nl.nlmsg_len += noise_payload(at->room, n > 1 ? 200 : 60000);
		len += ALIGN4(at->nl.nlmsg_len);
		if (one_in(&rng, 8))
			at->nl.nlmsg_len = one_in(&rng, 2) ? odd_number(&rng) : below(&rng, 64);
	}
	if (one_in(&rng, 8))
		len = below(&rng, len + 1);
	send(s, m, len, MSG_DONTWAIT);
}

static void noise_call(void)
{
	int *s = &sockets[below(&rng, SOCKETS)];

	switch (below(&rng, 12)) {
	case 0:
		close(*s);
		*s = genl_open();
		return;
	case 1:
		option(*s);
		return;
	case 2:
	case 3:
		receive(*s);
		return;
	default:
		noise_send(*s);
	}
}

/* ---- requests that are nearly right ---- */

static bool may_read(enum role role)
{
	return fuzz_user == ROOT || role == SELF ||
	       (fuzz_user == NOBODY && (role == NOBODYS || role == NOBODYS_UNTRACKED));
}

/* The error that a single request should give; -1: any. */
static int due(int command, enum role role)
{
	bool tracks = command == MTAG_CMD_TRACK || command == MTAG_CMD_UNTRACK ||
		      command == MTAG_CMD_RESET || command == MTAG_CMD_STACK_START;

	if (role == DEAD)
		return ESRCH;
	if (tracks && fuzz_user != ROOT && role != SELF)
		return EPERM;
	if (!may_read(role))
		return EACCES;
	return command == MTAG_CMD_TRACK || pool->process[role].tracked ? 0 : ENOENT;
}

static void single(void)
{
	static const int commands[] = {MTAG_CMD_PROC_GET, MTAG_CMD_PROC_GET, MTAG_CMD_PROC_GET,
				       MTAG_CMD_PROC_GET, MTAG_CMD_RESET,    MTAG_CMD_RESET,
				       MTAG_CMD_RESET,	  MTAG_CMD_AUDIT,    MTAG_CMD_TRACK,
				       MTAG_CMD_UNTRACK};
	int command = commands[below(&rng, COUNT(commands))], error, want;
	enum role role = below(&rng, ROLES);
	uint64_t drift = 0;

	/* These take grace periods. */
	if (command >= MTAG_CMD_TRACK && command <= MTAG_CMD_AUDIT && due(command, role) <= 0 &&
	    !one_in(&rng, 20))
		command = MTAG_CMD_PROC_GET;
	want = due(command, role);
	error = -genl_ask(control, command, NLM_F_ACK, pool->process[role].pid, check_attr, &drift);
	/* The first message of a reply that has one precedes the acknowledgement. */
	expect(error == want, "command %d, process %d: %s, not %s", command, role, strerror(error),
	       strerror(want));
	expect(!drift, "process %d has %" PRIu64 " pages of drift", role, drift);
	if (!error && (command == MTAG_CMD_TRACK || command == MTAG_CMD_UNTRACK))
		pool->process[role].tracked = command == MTAG_CMD_TRACK;
	if (!error && command == MTAG_CMD_UNTRACK)
		pool->process[role].stacks = false;
}

/* A descriptor for STACK_FD, and the errors that it gives. */
static int some_event(int *due)
{
	static int event;

	if (!event)
		event = must(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
	*due = 0;
	switch (below(&rng, 4)) {
	case 0:
		*due = EINVAL;
		return control;
	case 1:
		*due = EBADF;
		return one_in(&rng, 2) ? -1 : 100000 + (int)below(&rng, 1 << 20);
	default:
		return event;
	}
}

static void stack_start(void)
{
	static struct message m;
	enum role role = below(&rng, ROLES);
	uint32_t every = one_in(&rng, 4) ? odd_number(&rng) : 1;
	bool has_every = !one_in(&rng, 8), has_event = one_in(&rng, 2);
	int event, event_due, error, want = due(MTAG_CMD_STACK_START, role);

	event = some_event(&event_due);
	message(&m, fuzz_family, MTAG_CMD_STACK_START, NLM_F_ACK);
	put_pid(&m, pool->process[role].pid);
	if (has_every)
		put(&m, MTAG_A_STACK_ONE_IN, &every, 4);
	if (has_event)
		put(&m, MTAG_A_STACK_FD, &event, 4);
	must(send(control, &m, m.nl.nlmsg_len, 0));
	error = -genl_answer(control, check_attr, NULL);
	if (!has_every || !every)
		want = EINVAL;
	else if (!want && has_event)
		want = event_due;
	expect(error == want, "STACK_START of process %d: %s, not %s", role, strerror(error),
	       strerror(want));
	pool->process[role].stacks |= !error;
}

static void stack_get(void)
{
	static struct message m;
	enum role role = below(&rng, ROLES);
	uint32_t older = odd_number(&rng);
	int error, want = due(MTAG_CMD_STACK_GET, role);

	message(&m, fuzz_family, MTAG_CMD_STACK_GET, NLM_F_DUMP);
	put_pid(&m, pool->process[role].pid);
	if (one_in(&rng, 2))
		put(&m, MTAG_A_STACK_OLDER, &older, 4);
	must(send(control, &m, m.nl.nlmsg_len, 0));
	error = -genl_answer(control, check_attr, NULL);
	if (!want && !pool->process[role].stacks)
		want = ENODATA;
	expect(error == want, "STACK_GET of process %d: %s, not %s", role, strerror(error),
	       strerror(want));
}

/* An invalid pid, needless attributes, meaningless flags. */
static void strange(void)
{
	static struct message m;
	int command = below(&rng, MTAG_CMD_MAX + 3), error;
	uint64_t value = odd_number(&rng) | 0x40000000;

	message(&m, fuzz_family, command, NLM_F_ACK);
	switch (below(&rng, 5)) {
	case 0:
		put(&m, MTAG_A_PROC_PID, &value, below(&rng, 9));
		break;
	case 1:
		put(&m, MTAG_A_PROC_PID | (one_in(&rng, 2) ? NLA_F_NESTED : NLA_F_NET_BYTEORDER),
		    &value, 4);
		break;
	case 2:
		put_pid(&m, value);
		put(&m, 1 + below(&rng, MTAG_A_MAX), &value, below(&rng, 9));
		break;
	case 3:
		for (int i = below(&rng, 4000); i >= 0; i--)
			put_pid(&m, value);
		break;
	default:
		put(&m, MTAG_A_TAG, NULL, 0);
		m.nl.nlmsg_flags |= (rnd(&rng) & 0xff00) & ~NLM_F_DUMP;
	}
	must(send(control, &m, m.nl.nlmsg_len, 0));
	error = -genl_answer(control, check_attr, NULL);
	expect(error && error != ETIMEDOUT, "command %d with nonsense: %s", command,
	       strerror(error));
}

/* Begins a dump, on a socket that may have one half read, and reads a part of it. */
static void dump(void)
{
	static const int commands[] = {MTAG_CMD_PROC_GET, MTAG_CMD_TAG_GET, MTAG_CMD_PSS_GET,
				       MTAG_CMD_HISTORY_GET, MTAG_CMD_STACK_GET};
	int s = sockets[below(&rng, SOCKETS)], command = commands[below(&rng, COUNT(commands))];
	static struct message m;

	message(&m, fuzz_family, command, NLM_F_DUMP);
	if (command != MTAG_CMD_HISTORY_GET && one_in(&rng, 3))
		put_pid(&m, pool->process[below(&rng, ROLES)].pid);
	send(s, &m, m.nl.nlmsg_len, MSG_DONTWAIT);
	for (int i = below(&rng, 4); i > 0; i--)
		receive(s);
}

/* Reads a whole dump, which must have every tracked process that the user may see. */
static void counts_secret(const struct nlattr *attr, int depth, void *data)
{
	check_attr(attr, depth, NULL);
	if (attr->nla_type == MTAG_A_PROC_PID)
		for (int role = 0; role < OTHERS; role++)
			((int *)data)[role] += !memcmp(attr + 1, &pool->process[role].pid, 4);
}

static void whole_dump(void)
{
	int found[OTHERS] = {0}, error;

	error = -genl_ask(control, MTAG_CMD_PROC_GET, NLM_F_DUMP, 0, counts_secret, found);
	expect(!error, "a dump of all: %s", strerror(error));
	for (int role = 0; role < OTHERS; role++)
		expect(found[role] == (may_read(role) && pool->process[role].tracked),
		       "process %d is %d times in a dump of all", role, found[role]);
}

static void grammar_call(void)
{
	int *s = &sockets[below(&rng, SOCKETS)];

	switch (below(&rng, 18)) {
	case 0:
	case 1:
	case 2:
		dump();
		return;
	case 3:
		strange();
		return;
	case 4:
		close(*s);
		*s = genl_open();
		return;
	case 5:
		option(*s);
		return;
	case 6:
		receive(*s);
		return;
	case 7:
		if (one_in(&rng, 20))
			whole_dump();
		return;
	case 8:
		if (one_in(&rng, 4))
			stack_start();
		return;
	case 9:
		stack_get();
		return;
	default:
		single();
	}
}

/* ---- rounds ---- */
static void round_of(const struct fuzz *f, enum user user, bool grammar, uint64_t round)
{
	pid_t dead;

	rng = random_of(f->seed, round * 16 + user * 2 + grammar + 8);
	become(fuzz_user = user);
	alarm(600);
	begin();
	pool->process[SELF].pid = getpid();
	pool->process[SELF].tracked = true;
	pool->process[SELF].stacks = false;
	dead = child();
	if (!dead)
		_exit(0);
	reap(dead);
	pool->process[DEAD].pid = dead;
	control = genl_open();
	for (int i = 0; i < SOCKETS; i++)
		sockets[i] = genl_open();
	for (uint64_t i = 0; i < f->inputs; i++)
		grammar ? grammar_call() : noise_call();
	ok(!wrong,
	   "%s as %s, seed=%" PRIu64 " round=%" PRIu64
	   ": every answer is as documented, and tells no secret",
	   grammar ? "grammar" : "noise", user_names[user], f->seed, round);
	if (pool->process[SELF].tracked)
		exact("and the process is exact");
}

int main(int argc, char **argv)
{
	struct fuzz f = fuzz_arguments(argc, argv, 400, 8000, 1);
	struct remains before;
	struct gate *g = gate();
	uint64_t inputs = 0;
	pid_t churns[2], pid;

	need_root();
	find_family();
	before = remains();
	pool = must(mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	for (int role = 0; role < OTHERS; role++) {
		pool->process[role].tracked = role != ROOTS_UNTRACKED && role != NOBODYS_UNTRACKED;
		open_gate(g, 0);
		pid = child();
		if (!pid)
			play(role, g);
		pool->process[role].pid = pid;
		pass_gate(g, 1);
	}
	churns[0] = churn(ROOT);
	churns[1] = churn(NOBODY);
	for (uint64_t round = f.round; round < f.round + f.rounds; round++)
		for (enum user user = 0; user < USERS; user++)
			for (int grammar = 0; grammar < 2; grammar++) {
				in_child
					round_of(&f, user, grammar, round);
				inputs += f.inputs;
			}
	for (int role = 0; role < OTHERS; role++)
		if (pool->process[role].tracked)
			clean(pool->process[role].pid,
			      "process %d that requests were about is exact", role);
	atomic_store(&pool->stop, true);
	for (int role = 0; role < OTHERS; role++)
		reap(pool->process[role].pid);
	reap(churns[0]);
	reap(churns[1]);
	same_remains(before, "after all of it");
	printf("# counts: inputs=%" PRIu64 "\n", inputs);
	return done();
}
