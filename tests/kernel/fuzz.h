/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the fuzzers share: numbers that a seed gives again, users, what a round must leave behind, and netlink
 * messages that need not be right.
 *
 * A fuzzer goes in rounds, each in a process of its own, whose numbers depend on the seed and the round alone.
 * Arguments, all optional: [seed=N] [round=N] [rounds=N] [inputs=N]. What failed says which seed and round it was.
 */
#ifndef MTAG_TESTS_FUZZ_H
#define MTAG_TESTS_FUZZ_H

#include "keepers.h"
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <sys/socket.h>

/* What is wrong with a round's answers: the first few are said. */
UNUSED static uint64_t wrong;

#define expect(is_good, ...)                                                                       \
	do {                                                                                       \
		if (!(is_good) && wrong++ <= 10)                                                   \
			diag("  wrong: " __VA_ARGS__);                                             \
	} while (0)

/* ---- numbers ---- */
struct random {
	uint64_t state;
};

UNUSED static uint64_t rnd(struct random *r)
{
	r->state ^= r->state >> 12;
	r->state ^= r->state << 25;
	r->state ^= r->state >> 27;
	return r->state * 0x2545f4914f6cdd1d;
}

/* 0 to n - 1. */
UNUSED static uint64_t below(struct random *r, uint64_t n)
{
	return (rnd(r) >> 11) % n;
}

UNUSED static bool one_in(struct random *r, uint64_t n)
{
	return !below(r, n);
}

UNUSED static struct random random_of(uint64_t seed, uint64_t stream)
{
	struct random r = {(seed + 1) * 0x9e3779b97f4a7c15 ^ (stream + 1) * 0xd1342543de82ef95};

	if (!r.state)
		r.state = 1;
	for (int i = 0; i < 8; i++)
		rnd(&r);
	return r;
}

/* A number from where mistakes are made. */
UNUSED static uint64_t odd_number(struct random *r)
{
	static const uint64_t edges[] = {0,
					 1,
					 2,
					 3,
					 4,
					 7,
					 8,
					 15,
					 16,
					 17,
					 63,
					 64,
					 65,
					 255,
					 256,
					 4095,
					 4096,
					 4097,
					 0x7fff,
					 0x8000,
					 0xfffe,
					 0xffff,
					 0x10000,
					 0x10001,
					 0x1ffff,
					 0x20000,
					 0x7fffffff,
					 0x80000000,
					 0xffffffff,
					 0x100000000,
					 0x7fffffffffff,
					 0x7ffffffff000,
					 0x800000000000,
					 0xffff800000000000,
					 0xffffffff81000000,
					 0x7fffffffffffffff,
					 0x8000000000000000,
					 UINT64_MAX - 4095,
					 UINT64_MAX};

	switch (below(r, 4)) {
	case 0:
		return rnd(r) >> below(r, 64);
	case 1:
		return (1ULL << below(r, 64)) + below(r, 5) - 2;
	default:
		return edges[below(r, COUNT(edges))];
	}
}

UNUSED static void noise(struct random *r, void *to, size_t len)
{
	unsigned char *p = to;

	for (size_t i = 0; i < len; i++)
		p[i] = rnd(r) >> 33;
}

/* ---- arguments and rounds ---- */
struct fuzz {
	uint64_t seed, round, rounds, inputs;
};

/* How much by default: @brief in make check, @long_ in make check-long. */
UNUSED static struct fuzz fuzz_arguments(int argc, char **argv, uint64_t brief, uint64_t long_,
					 uint64_t rounds)
{
	struct fuzz f = {
		.seed = 1, .rounds = rounds, .inputs = getenv("MTAG_LONG") ? long_ : brief};
	const struct {
		const char *name;
		uint64_t *value;
	} known[] = {{"seed=", &f.seed},
		     {"round=", &f.round},
		     {"rounds=", &f.rounds},
		     {"inputs=", &f.inputs}};

	for (int i = 1; i < argc; i++)
		for (size_t k = 0; k < COUNT(known); k++)
			if (!strncmp(argv[i], known[k].name, strlen(known[k].name)))
				*known[k].value =
					strtoull(argv[i] + strlen(known[k].name), NULL, 0);
	diag("seed=%" PRIu64 " round=%" PRIu64 " rounds=%" PRIu64 " inputs=%" PRIu64, f.seed,
	     f.round, f.rounds, f.inputs);
	return f;
}

enum user { ROOT, NOBODY, USERNS, USERS };
static const char *const user_names[] = {"root", "nobody", "root of a user namespace"};

/* For good, for the calling process. */
UNUSED static void become(enum user user)
{
	if (user == ROOT)
		return;
	must(setgid(65534));
	must(setuid(65534));
	must(prctl(PR_SET_DUMPABLE, 1));
	if (user != USERNS)
		return;
	if (unshare(CLONE_NEWUSER)) {
		diag("no user namespaces for users here: %s", strerror(errno));
		return;
	}
	must0(spew("/proc/self/setgroups", "deny"));
	must0(spew("/proc/self/uid_map", "0 65534 1"));
	must0(spew("/proc/self/gid_map", "0 65534 1"));
	must(prctl(PR_SET_DUMPABLE, 1));
}

/* Nothing that is printed may hold an address of the kernel. */
UNUSED static bool has_printed_address(const char *text)
{
	for (; (text = strstr(text, "ffff")); text++)
		if (strspn(text, "0123456789abcdef") >= 16)
			return true;
	return false;
}

/* What a fuzzer leaves of the module must be what it found. */
struct remains {
	uint64_t drift, lost, memory, tracked;
};

UNUSED static struct remains remains(void)
{
	khugepaged_goes_on();
	/* Who ended before is not to end in what is counted from here on. */
	ok(until((visit_cpus(), !health("tracked")), 60), "nobody is tracked before it");
	return (struct remains){health("drift"), health("lost"), health("memory"),
				health("tracked")};
}

/* Spaces end, and their memory comes back, a little after their processes. */
UNUSED static void same_remains(struct remains before, const char *what)
{
	until((visit_cpus(), health("tracked") == before.tracked) &&
		      health("memory") <= before.memory,
	      60);
	is(health("tracked"), before.tracked, "%s: nobody more is tracked", what);
	is(health("drift"), before.drift, "%s: every process that ended left all its counters at 0",
	   what);
	ok(health("memory") <= before.memory, "%s: the module's memory is back at its start", what);
	if (health("memory") > before.memory)
		diag("  %" PRIu64 " bytes, before %" PRIu64, health("memory"), before.memory);
}

/* ---- netlink ---- */
#define ALIGN4(n) (((n) + 3) & ~3U)

static int fuzz_family;

struct message {
	struct nlmsghdr nl;
	struct genlmsghdr genl;
	char room[65536];
};

UNUSED static void message(struct message *m, int type, int command, int flags)
{
	memset(m, 0, 64);
	m->nl.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN);
	m->nl.nlmsg_type = type;
	m->nl.nlmsg_flags = NLM_F_REQUEST | flags;
	m->nl.nlmsg_seq = 1;
	m->genl.cmd = command;
	m->genl.version = MTAG_GENL_VERSION;
}

UNUSED static void put(struct message *m, int type, const void *data, size_t len)
{
	struct nlattr *attr = (void *)((char *)m + m->nl.nlmsg_len);

	if (m->nl.nlmsg_len + NLA_HDRLEN + ALIGN4(len) > sizeof(*m))
		return;
	memset(attr, 0, NLA_HDRLEN + ALIGN4(len));
	attr->nla_type = type;
	attr->nla_len = NLA_HDRLEN + len;
	memcpy(attr + 1, data, len);
	m->nl.nlmsg_len += NLA_HDRLEN + ALIGN4(len);
}

UNUSED static void put_pid(struct message *m, uint32_t pid)
{
	put(m, MTAG_A_PROC_PID, &pid, sizeof(pid));
}

/* Called for each attribute of a reply; @depth 1: inside a TAG. */
typedef void attribute_t(const struct nlattr *attr, int depth, void *data);

/* True if all attributes in [at, end) are well-formed. */
UNUSED static bool attributes(const char *at, const char *end, int depth, attribute_t *call,
			      void *data)
{
	while (at < end) {
		const struct nlattr *attr = (const void *)at;
		int type;

		if (end - at < NLA_HDRLEN || attr->nla_len < NLA_HDRLEN || attr->nla_len > end - at)
			return false;
		type = attr->nla_type & NLA_TYPE_MASK;
		if (type > MTAG_A_MAX)
			return false;
		if (call)
			call(attr, depth, data);
		if (type == MTAG_A_TAG &&
		    (depth || !attributes(at + NLA_HDRLEN, at + attr->nla_len, 1, call, data)))
			return false;
		at += ALIGN4(attr->nla_len);
	}
	return true;
}

UNUSED static int genl_open(void)
{
	struct sockaddr_nl self = {.nl_family = AF_NETLINK};
	struct timeval limit = {.tv_sec = 60};
	int one = 1, s = must(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC));

	/* Without an address of its own it gets no events. */
	must(bind(s, (struct sockaddr *)&self, sizeof(self)));
	must(setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)));
	/* An error does not repeat the request, in which anything may be. */
	must(setsockopt(s, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one)));
	return s;
}

/* Reads up to the end of an answer: its error, and each message to @call. */
UNUSED static int genl_answer(int s, attribute_t *call, void *data)
{
	static char buf[128 * KIB];

	for (;;) {
		ssize_t n = recv(s, buf, sizeof(buf), 0);
		struct nlmsghdr *h = (void *)buf;

		if (n < 0)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
		for (; NLMSG_OK(h, (size_t)n); h = NLMSG_NEXT(h, n)) {
			if (h->nlmsg_type == NLMSG_ERROR || h->nlmsg_type == NLMSG_DONE)
				return *(int *)NLMSG_DATA(h);
			if (h->nlmsg_type == fuzz_family &&
			    !attributes((char *)NLMSG_DATA(h) + GENL_HDRLEN,
					(char *)h + h->nlmsg_len, 0, call, data))
				ok(false, "a reply's attributes are well-formed");
		}
	}
}

UNUSED static int genl_ask(int s, int command, int flags, pid_t pid, attribute_t *call, void *data)
{
	static struct message m;

	message(&m, fuzz_family, command, flags);
	if (pid)
		put_pid(&m, pid);
	must(send(s, &m, m.nl.nlmsg_len, 0));
	return genl_answer(s, call, data);
}

/* The family's id and its group of events; 0 if there is none. */
static int fuzz_group;

UNUSED static void find_group(const struct nlattr *groups)
{
	/* CTRL_ATTR_MCAST_GROUPS: an array of nests, here of one, of name and id */
	const char *at = (const char *)groups + 2 * NLA_HDRLEN,
		   *end = (const char *)groups + groups->nla_len;

	while (at < end) {
		const struct nlattr *attr = (const void *)at;

		if ((attr->nla_type & NLA_TYPE_MASK) == CTRL_ATTR_MCAST_GRP_ID)
			memcpy(&fuzz_group, attr + 1, 4);
		at += ALIGN4(attr->nla_len);
	}
}

UNUSED static void find_family(void)
{
	char buf[8192];
	struct message *m = must(mmap(NULL, sizeof(*m), PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	int s = genl_open();
	const char *at = buf + NLMSG_LENGTH(GENL_HDRLEN), *end;

	message(m, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0);
	put(m, CTRL_ATTR_FAMILY_NAME, MTAG_GENL_NAME, sizeof(MTAG_GENL_NAME));
	must(send(s, m, m->nl.nlmsg_len, 0));
	end = buf + must(recv(s, buf, sizeof(buf), 0));
	if (((struct nlmsghdr *)buf)->nlmsg_type == NLMSG_ERROR)
		bail("no netlink family %s", MTAG_GENL_NAME);
	while (at < end) {
		const struct nlattr *attr = (const void *)at;

		if ((attr->nla_type & NLA_TYPE_MASK) == CTRL_ATTR_FAMILY_ID)
			memcpy(&fuzz_family, attr + 1, 2);
		if ((attr->nla_type & NLA_TYPE_MASK) == CTRL_ATTR_MCAST_GROUPS)
			find_group(attr);
		at += ALIGN4(attr->nla_len);
	}
	close(s);
	must(munmap(m, sizeof(*m)));
}

#endif
