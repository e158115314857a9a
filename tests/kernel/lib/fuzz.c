// SPDX-License-Identifier: GPL-2.0
/*
 * What the fuzzers share: repeatable random numbers, users, and the checks after a round.
 *
 * A fuzzer goes in rounds, each in a process of its own, whose numbers depend on the seed and the round alone.
 * Arguments, all optional: [seed=N] [round=N] [rounds=N] [inputs=N]. What failed says which seed and round it was.
 */
#include "fuzz.h"
#include "keepers.h"

uint64_t wrong;

uint64_t rnd(struct random *r)
{
	r->state ^= r->state >> 12;
	r->state ^= r->state << 25;
	r->state ^= r->state >> 27;
	return r->state * 0x2545f4914f6cdd1d;
}

uint64_t below(struct random *r, uint64_t n)
{
	return (rnd(r) >> 11) % n;
}

bool one_in(struct random *r, uint64_t n)
{
	return !below(r, n);
}

struct random random_of(uint64_t seed, uint64_t stream)
{
	struct random r = {(seed + 1) * 0x9e3779b97f4a7c15 ^ (stream + 1) * 0xd1342543de82ef95};

	if (!r.state)
		r.state = 1;
	for (int i = 0; i < 8; i++)
		rnd(&r);
	return r;
}

uint64_t odd_number(struct random *r)
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

void noise(struct random *r, void *to, size_t len)
{
	unsigned char *p = to;

	for (size_t i = 0; i < len; i++)
		p[i] = rnd(r) >> 33;
}

struct fuzz fuzz_arguments(int argc, char **argv, uint64_t brief, uint64_t long_, uint64_t rounds)
{
	struct fuzz f = {.seed = 1, .rounds = rounds, .inputs = more(brief, long_)};
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

const char *const user_names[USERS] = {"root", "nobody", "root of a user namespace"};

void become(enum user user)
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

bool has_printed_address(const char *text)
{
	for (; (text = strstr(text, "ffff")); text++)
		if (strspn(text, "0123456789abcdef") >= 16)
			return true;
	return false;
}

struct remains remains(void)
{
	khugepaged_goes_on();
	/* Processes that ended before must not count from here on. */
	ok(until((visit_cpus(), !health("tracked")), 60), "no process is tracked before it");
	return (struct remains){health("drift"), health("lost"), health("memory"),
				health("tracked")};
}

void same_remains(struct remains before, const char *what)
{
	/* Stacks and unwind tables stay as long as the hooks. */
	if (!before.tracked)
		ok(idle(), "%s: the hooks go", what);
	until((visit_cpus(), health("tracked") == before.tracked) &&
		      health("memory") <= before.memory,
	      60);
	is(health("tracked"), before.tracked, "%s: no more processes are tracked", what);
	is(health("drift"), before.drift, "%s: every process that ended left all its counters at 0",
	   what);
	ok(health("memory") <= before.memory, "%s: the module's memory is back at its start", what);
	if (health("memory") > before.memory)
		diag("  %" PRIu64 " bytes, before %" PRIu64, health("memory"), before.memory);
}
