// SPDX-License-Identifier: GPL-2.0
/* Netlink: messages cut short or of wrong types, dead pids, and what user nobody may see and do. */
#include <sys/eventfd.h>
#include "lib/test.h"
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#define ALIGN4(n) (((n) + 3) & ~3U)

static int family, sock;
static uint32_t sequence;

struct message {
	struct nlmsghdr nl;
	struct genlmsghdr genl;
	char room[4096];
};

static void message(struct message *m, int type, int command, int flags)
{
	memset(m, 0, sizeof(*m));
	m->nl.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN);
	m->nl.nlmsg_type = type;
	m->nl.nlmsg_flags = NLM_F_REQUEST | flags;
	m->nl.nlmsg_seq = ++sequence;
	m->genl.cmd = command;
	m->genl.version = MTAG_GENL_VERSION;
}

static void put(struct message *m, int type, const void *data, size_t len)
{
	struct nlattr *attr = (void *)((char *)m + m->nl.nlmsg_len);

	attr->nla_type = type;
	attr->nla_len = NLA_HDRLEN + len;
	memcpy(attr + 1, data, len);
	m->nl.nlmsg_len += ALIGN4(attr->nla_len);
}

static void put_pid(struct message *m, uint32_t pid)
{
	put(m, MTAG_A_PROC_PID, &pid, sizeof(pid));
}

struct answer {
	int error;
	int messages;
	char first[8192];
	size_t len;
};

/* Sends @len bytes and reads until the end of the answer. */
static struct answer *ask_raw(const void *data, size_t len)
{
	static struct answer answer;
	static char buf[256 * KIB];
	ssize_t n;

	memset(&answer, 0, sizeof(answer));
	must(send(sock, data, len, 0));
	for (;;) {
		struct nlmsghdr *h = (void *)buf;

		n = recv(sock, buf, sizeof(buf), 0);
		if (n < 0) {
			answer.error = errno == EAGAIN ? -ETIMEDOUT : -errno;
			return &answer;
		}
		for (; NLMSG_OK(h, (size_t)n); h = NLMSG_NEXT(h, n)) {
			if (h->nlmsg_type == NLMSG_ERROR || h->nlmsg_type == NLMSG_DONE) {
				answer.error = *(int *)NLMSG_DATA(h);
				return &answer;
			}
			if (!answer.messages++ && h->nlmsg_len <= sizeof(answer.first)) {
				answer.len = h->nlmsg_len;
				memcpy(answer.first, h, h->nlmsg_len);
			}
		}
	}
}

static struct answer *ask(struct message *m)
{
	return ask_raw(m, m->nl.nlmsg_len);
}

static const struct nlattr *attribute(const struct answer *answer, int type)
{
	size_t at = NLMSG_LENGTH(GENL_HDRLEN);

	while (at + NLA_HDRLEN <= answer->len) {
		const struct nlattr *attr = (const void *)(answer->first + at);

		if (attr->nla_len < NLA_HDRLEN)
			break;
		if ((attr->nla_type & NLA_TYPE_MASK) == type)
			return attr;
		at += ALIGN4(attr->nla_len);
	}
	return NULL;
}

static void connect_family(void)
{
	struct timeval limit = {.tv_sec = 30};
	const struct nlattr *id;
	struct message m;

	sock = must(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC));
	must(setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)));
	message(&m, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, NLM_F_ACK);
	put(&m, CTRL_ATTR_FAMILY_NAME, MTAG_GENL_NAME, sizeof(MTAG_GENL_NAME));
	id = attribute(ask(&m), CTRL_ATTR_FAMILY_ID);
	if (!id)
		bail("no netlink family %s", MTAG_GENL_NAME);
	memcpy(&family, (const char *)id + NLA_HDRLEN, 2);
	family &= 0xffff;
}

static void refused(struct message *m, int error, const char *what)
{
	int got = ask(m)->error;

	ok(got == -error, "%s: %s", what, error ? strerror(error) : "works");
	if (got != -error)
		diag("  got %d (%s)", got, strerror(-got));
}

static const struct {
	int command;
	const char *name;
} with_pid[] = {
	{MTAG_CMD_PROC_GET, "PROC_GET"}, {MTAG_CMD_TRACK, "TRACK"}, {MTAG_CMD_UNTRACK, "UNTRACK"},
	{MTAG_CMD_AUDIT, "AUDIT"},	 {MTAG_CMD_RESET, "RESET"}, {MTAG_CMD_LIMIT, "LIMIT"},
};

/* Any refusal will do, as long as it comes at once. */
static void some_error(struct message *m, size_t len, const char *name, const char *what)
{
	int error = ask_raw(m, len)->error;

	ok(error < 0 && error != -ETIMEDOUT, "%s, %s: refused (%s)", name, what, strerror(-error));
}

/* A request with all that the command wants. */
static void complete(struct message *m, int command, pid_t pid)
{
	static uint64_t bytes = 1 << 30;
	static uint32_t event_fd;
	static uint16_t tag;

	if (!event_fd)
		event_fd = (uint32_t)must(eventfd(0, EFD_CLOEXEC));
	message(m, family, command, NLM_F_ACK);
	put_pid(m, pid);
	if (command != MTAG_CMD_LIMIT)
		return;
	put(m, MTAG_A_TAG_ID, &tag, sizeof(tag));
	put(m, MTAG_A_LIMIT_BYTES, &bytes, sizeof(bytes));
	put(m, MTAG_A_LIMIT_FD, &event_fd, sizeof(event_fd));
}

static void malformed(int command, const char *name)
{
	uint64_t wide = getpid();
	uint16_t narrow = getpid();
	struct message m;

	message(&m, family, command, NLM_F_ACK);
	some_error(&m, m.nl.nlmsg_len, name, "no pid");
	message(&m, family, command, NLM_F_ACK);
	put(&m, MTAG_A_PROC_PID, &narrow, sizeof(narrow));
	some_error(&m, m.nl.nlmsg_len, name, "a pid of 16 bits");
	message(&m, family, command, NLM_F_ACK);
	put(&m, MTAG_A_PROC_PID, "", 0);
	some_error(&m, m.nl.nlmsg_len, name, "an empty pid");
	message(&m, family, command, NLM_F_ACK);
	put(&m, MTAG_A_PROC_PID, &wide, sizeof(wide));
	some_error(&m, m.nl.nlmsg_len, name, "a pid of 64 bits");
	message(&m, family, command, NLM_F_ACK);
	put_pid(&m, 0);
	some_error(&m, m.nl.nlmsg_len, name, "pid 0");
	message(&m, family, command, NLM_F_ACK);
	put_pid(&m, 0xffffffff);
	some_error(&m, m.nl.nlmsg_len, name, "pid -1");
	message(&m, family, command, NLM_F_ACK);
	put(&m, MTAG_A_TAG_NAME, "x", 2);
	some_error(&m, m.nl.nlmsg_len, name, "an attribute that does not belong there");
	message(&m, family, command, NLM_F_ACK);
	put_pid(&m, getpid());
	put(&m, 200, "x", 2);
	some_error(&m, m.nl.nlmsg_len, name, "an attribute that does not exist");
	message(&m, family, command, NLM_F_ACK);
	put_pid(&m, getpid());
	((struct nlattr *)m.room)->nla_len = 200;
	some_error(&m, m.nl.nlmsg_len, name, "an attribute longer than its message");
	message(&m, family, command, NLM_F_ACK);
	put_pid(&m, getpid());
	((struct nlattr *)m.room)->nla_len = 3;
	some_error(&m, m.nl.nlmsg_len, name, "an attribute shorter than its header");
	message(&m, family, command, NLM_F_ACK);
	put_pid(&m, getpid());
	m.nl.nlmsg_len -= 2;
	some_error(&m, m.nl.nlmsg_len, name, "a message cut in its attribute");
	message(&m, family, command, NLM_F_ACK);
	m.nl.nlmsg_len = NLMSG_LENGTH(0);
	some_error(&m, m.nl.nlmsg_len, name, "a message without a generic header");
}

static void unknown(void)
{
	struct message m;

	message(&m, family, 100, NLM_F_ACK);
	refused(&m, EOPNOTSUPP, "a command that does not exist");
	message(&m, family, MTAG_CMD_EVENT, NLM_F_ACK);
	refused(&m, EOPNOTSUPP, "an event as a command");
	message(&m, family, MTAG_CMD_UNSPEC, NLM_F_ACK);
	refused(&m, EOPNOTSUPP, "command 0");
	message(&m, family, MTAG_CMD_TRACK, NLM_F_ACK | NLM_F_DUMP);
	refused(&m, EOPNOTSUPP, "a dump of what has none");
	message(&m, family, MTAG_CMD_INFO_GET, NLM_F_ACK);
	refused(&m, 0, "INFO_GET");
}

/* Wrong lengths in the header, and bytes that are no message at all. */
static void lies(void)
{
	struct message m;
	uint32_t seed = 1;
	char noise[512];
	int s;

	message(&m, family, MTAG_CMD_PROC_GET, NLM_F_ACK);
	m.nl.nlmsg_len = 1 << 20;
	must(send(sock, &m, 64, 0));
	message(&m, family, MTAG_CMD_PROC_GET, NLM_F_ACK);
	m.nl.nlmsg_len = 4;
	must(send(sock, &m, 64, 0));
	message(&m, family, MTAG_CMD_PROC_GET, NLM_F_ACK);
	must(send(sock, &m, 8, 0));
	for (int i = 0; i < 2000; i++) {
		for (size_t j = 0; j < sizeof(noise); j++) {
			seed = seed * 1103515245 + 12345;
			noise[j] = seed >> 16;
		}
		message(&m, family, noise[0] % 8, 0);
		memcpy(m.room, noise, sizeof(noise));
		m.nl.nlmsg_len += (unsigned char)noise[1];
		if (noise[2] & 1)
			m.nl.nlmsg_flags |= NLM_F_DUMP;
		/* No command that changes anything: noise could name a pid. */
		if (m.genl.cmd == MTAG_CMD_UNTRACK)
			m.genl.cmd = MTAG_CMD_TAG_GET;
		/* To a socket of its own, closed before any answer is read. */
		s = must(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC));
		must(send(s, &m, m.nl.nlmsg_len, 0));
		close(s);
	}
	message(&m, family, MTAG_CMD_INFO_GET, NLM_F_ACK);
	while (recv(sock, noise, sizeof(noise), MSG_DONTWAIT) > 0)
		;
	refused(&m, 0, "after 2000 messages of noise, INFO_GET");
}

static void pids(void)
{
	pid_t dead = child();
	struct message m;

	if (!dead)
		_exit(0);
	reap(dead);
	for (size_t i = 0; i < COUNT(with_pid); i++) {
		complete(&m, with_pid[i].command, dead);
		refused(&m, ESRCH, with_pid[i].name);
		complete(&m, with_pid[i].command, 2);
		some_error(&m, m.nl.nlmsg_len, with_pid[i].name, "a kernel thread");
	}
	message(&m, family, MTAG_CMD_TAG_GET, NLM_F_DUMP);
	put_pid(&m, dead);
	refused(&m, ESRCH, "TAG_GET of a dead pid");
	message(&m, family, MTAG_CMD_PSS_GET, NLM_F_DUMP);
	put_pid(&m, dead);
	refused(&m, ESRCH, "PSS_GET of a dead pid");
}

/* A zombie has no memory to track or to read. */
static void zombie(void)
{
	pid_t pid = child();
	struct message m;
	siginfo_t info;

	if (!pid)
		_exit(0);
	must(waitid(P_PID, pid, &info, WEXITED | WNOWAIT));
	for (size_t i = 0; i < COUNT(with_pid); i++) {
		complete(&m, with_pid[i].command, pid);
		some_error(&m, m.nl.nlmsg_len, with_pid[i].name, "a zombie");
	}
	reap(pid);
}

static uint64_t rows_of(pid_t pid)
{
	return show_by_mtagctl(pid, NULL).rows;
}

/* A dump that is interrupted by other processes that come and go may lack it: it says so, and is repeated. */
static bool sees_oneself(void)
{
	double end = now() + 5;
	int status;

	while (!rows_of(getpid())) {
		printf("# %s\n", ctl(&status, "show %d 2>&1", getpid()));
		if (now() > end)
			return false;
	}
	return true;
}

static void become_nobody(void)
{
	/* The checkout may lie where nobody may not go. */
	must(system("install -m 755 \"$(command -v mtagctl)\" /usr/local/bin/mtagctl"));
	must(setgid(65534));
	must(setuid(65534));
	must(prctl(PR_SET_DUMPABLE, 1));
	close(sock);
	connect_family();
}

static void denied(struct message *m, const char *what)
{
	struct answer *answer = ask(m);

	ok(answer->error == -EPERM || answer->error == -EACCES, "nobody, %s: refused (%s)", what,
	   strerror(-answer->error));
	is(answer->messages, 0, "nobody, %s: told nothing", what);
}

static void as_nobody(pid_t others)
{
	pid_t mine = getppid();
	struct message m;

	become_nobody();
	for (size_t i = 0; i < COUNT(with_pid); i++) {
		char what[64];

		complete(&m, with_pid[i].command, others);
		snprintf(what, sizeof(what), "%s of another user's process", with_pid[i].name);
		denied(&m, what);
	}
	message(&m, family, MTAG_CMD_TAG_GET, NLM_F_DUMP);
	put_pid(&m, others);
	denied(&m, "TAG_GET of another user's process");
	message(&m, family, MTAG_CMD_PSS_GET, NLM_F_DUMP);
	put_pid(&m, others);
	denied(&m, "PSS_GET of another user's process");
	message(&m, family, MTAG_CMD_TRACK, NLM_F_ACK);
	put_pid(&m, 1);
	denied(&m, "TRACK of init");
	is(rows_of(others), 0, "nobody sees no row of it in mtagctl show");
	is(rows_of(mine), 0, "nor of the tests' parent");
	message(&m, family, MTAG_CMD_INFO_GET, NLM_F_ACK);
	refused(&m, 0, "nobody, INFO_GET");
	/* A process of one's own. */
	message(&m, family, MTAG_CMD_PROC_GET, NLM_F_ACK);
	put_pid(&m, getpid());
	refused(&m, 0, "nobody, PROC_GET of oneself");
	ok(sees_oneself(), "nobody sees oneself in mtagctl show");
	ok(access("/sys/kernel/debug/mtag/stats", R_OK) != 0, "nobody cannot read debugfs");
}

static void access_rules(void)
{
	struct gate *g = gate();
	pid_t others, nobody;

	fflush(stdout);
	others = child();
	if (!others) {
		open_gate(g, 1);
		pass_gate(g, 2);
		_exit(0);
	}
	pass_gate(g, 1);
	ok(rows_of(others) > 0, "root sees the process that nobody will ask about");
	nobody = child();
	if (!nobody) {
		as_nobody(others);
		_exit(0);
	}
	reap(nobody);
	ok(rows_of(others) > 0, "it is tracked still");
	clean(others, "and was not disturbed");
	open_gate(g, 2);
	reap(others);
}

/* One system call with more requests than the module keeps: the first are answered, the others refused. */
static void crowd(void)
{
	enum { ALL = 1000, KEPT = 256 };
	static char sent[ALL * sizeof(struct nlmsghdr) * 2], buf[64 * KIB];
	int room = 16 * MIB, answered = 0, refused = 0;
	size_t len = 0;
	struct message m;

	must(setsockopt(sock, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)));
	for (int i = 0; i < ALL; i++) {
		message(&m, family, MTAG_CMD_PROC_GET, NLM_F_ACK);
		memcpy(sent + len, &m, m.nl.nlmsg_len);
		len += m.nl.nlmsg_len;
	}
	must(send(sock, sent, len, 0));
	while (answered + refused < ALL) {
		ssize_t n = must(recv(sock, buf, sizeof(buf), 0));

		for (struct nlmsghdr *h = (void *)buf; NLMSG_OK(h, (size_t)n); h = NLMSG_NEXT(h, n))
			*(*(int *)NLMSG_DATA(h) == -ENOBUFS ? &refused : &answered) += 1;
	}
	is(answered, KEPT, "of %d requests in one message the first are answered", ALL);
	is(refused, ALL - KEPT, "and the others refused");
	message(&m, family, MTAG_CMD_PROC_GET, NLM_F_ACK);
	put_pid(&m, getpid());
	is(ask(&m)->error, 0, "the next call is answered");
}

int main(void)
{
	begin_test();
	begin();
	connect_family();
	unknown();
	for (size_t i = 0; i < COUNT(with_pid); i++)
		malformed(with_pid[i].command, with_pid[i].name);
	lies();
	pids();
	zombie();
	access_rules();
	crowd();
	exact("after all that the process is exact");
	return end_test();
}
