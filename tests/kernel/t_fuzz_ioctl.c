// SPDX-License-Identifier: GPL-2.0
/*
 * Random inputs to /dev/mtag: noise, and calls that are nearly right, whose results a model of the documented contract
 * predicts. As root, as nobody, and as root of a user namespace.
 */
/* vm: timeout=1800 */
#include <sys/eventfd.h>
#include "lib/fuzz_args.h"
#include "lib/fuzz_heap.h"
#include "lib/fuzz_stacks.h"
#include "lib/fuzz_tree.h"
#include "lib/fuzz_words.h"
#include <limits.h>
#include <sys/resource.h>

/* ---- noise ---- */
static bool known_error(int error)
{
	static const int known[] = {EINVAL, E2BIG,   EFAULT, ENOTTY, ENOENT, ESRCH, ENOMEM,
				    EPERM,  ENOSPC,  ERANGE, EAGAIN, EINTR,  EBUSY, ENAMETOOLONG,
				    EBADF,  ENODATA, EEXIST, EACCES, ENXIO};

	for (size_t i = 0; i < COUNT(known); i++)
		if (error == -known[i])
			return true;
	return !error;
}

/* None of these words is a pointer to memory of the test itself. */
static void noise_words(union any *arg, unsigned i)
{
	noise(&rng, arg, sizeof(*arg));
	for (size_t w = 0; w < 64; w++)
		if (!one_in(&rng, 6))
			arg->words[w] = one_in(&rng, 3) ? odd_number(&rng) : 0;
	if (!one_in(&rng, 8))
		arg->size = sizes[i];
	if (!one_in(&rng, 4))
		memset(arg->bytes + sizes[i], 0, sizeof(*arg) - sizes[i]);
}

static void noise_call(void)
{
	unsigned i = below(&rng, CALLS);
	unsigned long request = calls[i];
	bool usable;
	union any arg;
	char *at = place(sizes[i], &usable);
	int error;

	noise_words(&arg, i);
	if (request == MTAG_IOC_RANGE && !one_in(&rng, 100))
		arg.range.pad = 1; /* what works takes a grace period */
	if (usable)
		memcpy(at, &arg, sizeof(arg));
	else if (at > edge && at < edge + PG)
		memcpy(at, &arg, edge + PG - at);
	if (one_in(&rng, 8))
		request = one_in(&rng, 2) ? rnd(&rng) : _IO(MTAG_IOC_MAGIC, below(&rng, 256));
	error = mtag_ioctl(request, at);
	expect(known_error(error), "ioctl %#lx: %s", request, strerror(-error));
	expect(usable || error, "ioctl %#lx at %p works", request, at);
}

/* ---- calls that are nearly right ---- */
static void try_child(void)
{
	union any arg = {0};
	struct errors e = {0};
	char name[128];
	size_t len = some_name(name);
	unsigned parent = some_tag(), id = 0;
	int error;

	arg.child.flags = zero(&e);
	arg.child.pad = zero(&e);
	arg.child.parent = parent;
	arg.child.name_len = len;
	arg.child.name = (uintptr_t)name;
	if (one_in(&rng, 64)) {
		arg.child.name = one_in(&rng, 2) ? (uintptr_t)hole : odd_number(&rng) | 1ULL << 63;
		fault(&e, true, EFAULT);
	}
	if (one_in(&rng, 64))
		len = arg.child.name_len = 64 + (odd_number(&rng) & 0xffffff00);
	fault(&e, !len, EINVAL);
	fault(&e, len > MTAG_NAME_MAX, ENAMETOOLONG);
	fault(&e, len <= MTAG_NAME_MAX && !is_component(name, len), EINVAL);
	fault(&e, parent == MTAG_ID_KSM || !exists(parent), ENOENT);
	if (!e.nr) {
		id = find(parent, name, len);
		fault(&e, !id && nodes[parent].depth == MTAG_DEPTH_MAX, ENAMETOOLONG);
		fault(&e, !id && nr_nodes >= max_tags + MTAG_ID_FIRST, ENOSPC);
	}
	error = try_call(2, &arg, &e);
	expect(among(&e, error), "CHILD of %u, %zu bytes: %s", parent, len, strerror(-error));
	if (error)
		return;
	expect(arg.child.id == (id ? id : nr_nodes), "CHILD gives %u, not %u", arg.child.id,
	       id ? id : nr_nodes);
	if (id)
		return;
	nodes[nr_nodes] = (struct node){parent, nodes[parent].depth + 1, len, ""};
	memcpy(nodes[nr_nodes++].name, name, len);
}

static void try_default(void)
{
	union any arg = {0};
	struct errors e = {0};
	unsigned tag = some_tag();
	int error;

	arg.def.flags = zero(&e);
	arg.def.tag = tag;
	fault(&e, tag == MTAG_ID_KSM || !exists(tag), ENOENT);
	error = try_call(3, &arg, &e);
	expect(among(&e, error), "DEFAULT %u: %s", tag, strerror(-error));
	if (error)
		return;
	expect(arg.def.previous == default_tag, "DEFAULT was %u, not %u", arg.def.previous,
	       default_tag);
	default_tag = tag;
}

static void try_usage(void)
{
	union any arg = {0};
	struct errors e = {0};
	unsigned tag = some_tag();
	int error;

	arg.usage.flags = zero(&e);
	arg.usage.pad = zero(&e);
	arg.usage.tag = tag;
	fault(&e, !exists(tag), ENOENT);
	error = try_call(5, &arg, &e);
	expect(among(&e, error), "USAGE of %u: %s", tag, strerror(-error));
	for (int i = 0; !error && i < MTAG_C_NR; i++)
		expect(arg.usage.counters[i] < 1ULL << 48, "USAGE of %u: counter %d is %#llx", tag,
		       i, (unsigned long long)arg.usage.counters[i]);
}

static void try_path(void)
{
	union any arg = {0};
	struct errors e = {0};
	static char buf[MTAG_PATH_MAX + 8], want[MTAG_PATH_MAX + 8];
	unsigned tag = some_tag();
	size_t need = exists(tag) ? path_of(tag, want) + 1 : 0, room = MTAG_PATH_MAX;
	int error;

	memset(buf, 0x55, sizeof(buf));
	if (one_in(&rng, 3))
		room = one_in(&rng, 4) ? (uint32_t)odd_number(&rng) : below(&rng, 2 * need + 2);
	arg.path.flags = zero(&e);
	arg.path.tag = tag;
	arg.path.buf_len = room;
	arg.path.buf = (uintptr_t)buf;
	if (one_in(&rng, 32)) {
		arg.path.buf =
			one_in(&rng, 2) ? (uintptr_t)readonly : odd_number(&rng) | 1ULL << 63;
		fault(&e, need <= room, EFAULT);
	}
	fault(&e, !exists(tag), ENOENT);
	fault(&e, need > room, ERANGE);
	error = try_call(6, &arg, &e);
	expect(among(&e, error), "PATH of %u, %zu bytes for %zu: %s", tag, room, need,
	       strerror(-error));
	if (!error)
		expect(arg.path.buf_len == need && !memcmp(buf, want, need) && buf[need] == 0x55,
		       "PATH of %u is '%.80s', not '%.80s'", tag, buf, want);
	else
		expect(buf[0] == 0x55, "PATH of %u: refused, but something is written", tag);
	if (error == -ERANGE && e.nr == 1)
		expect(arg.path.buf_len == need, "PATH of %u needs %u, not %zu", tag,
		       arg.path.buf_len, need);
}

/* The end of the addresses of programs: five levels of page tables have more. */
static uint64_t top(void)
{
	static uint64_t end;

	if (!end)
		end = 1ULL << (sh("grep -qw la57 /proc/cpuinfo") ? 47 : 56);
	return end;
}

static void try_range(void)
{
	union any arg = {0};
	struct errors e = {0};
	unsigned tag = some_tag();
	uint64_t addr = (uintptr_t)ground + below(&rng, PAGES) * PG,
		 len = (1 + below(&rng, PAGES)) * PG, last = top() - PG, whole;
	int error;

	if (one_in(&rng, 3)) {
		addr = one_in(&rng, 2) ? odd_number(&rng) : addr;
		len = odd_number(&rng);
	}
	arg.range.flags = one_in(&rng, 2) ? MTAG_RANGE_PRESENT : 0;
	arg.range.flags |= zero(&e);
	arg.range.pad = zero(&e);
	arg.range.addr = addr;
	arg.range.len = len;
	arg.range.tag = tag;
	/* In whole pages, which a length near the top of all numbers does not have. */
	whole = len > last ? last + PG : (len + PG - 1) & -PG;
	fault(&e, addr % PG || !len || whole > last || addr > last - whole, EINVAL);
	fault(&e, tag == MTAG_ID_KSM || !exists(tag), ENOENT);
	/* What works takes a grace period. */
	if (!e.nr && !one_in(&rng, 10)) {
		arg.range.pad = 1;
		fault(&e, true, EINVAL);
	}
	error = try_call(4, &arg, &e);
	/* It may end within a mapping that is retagged whole or not at all, or in the stack's guard. */
	if (!e.nr && (addr < (uintptr_t)ground || addr + len > (uintptr_t)ground + PAGES * PG) &&
	    error == -EINVAL)
		return;
	expect(among(&e, error), "RANGE %#" PRIx64 " + %#" PRIx64 " to %u: %s", addr, len, tag,
	       strerror(-error));
}

static void try_notify(void)
{
	static int fds[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
	union any arg = {0};
	struct errors e = {0};
	unsigned tag = some_tag();
	int fd, error;

	/* Closing some while they wait. */
	for (size_t i = 0; i < COUNT(fds); i++)
		if (fds[i] < 0 || one_in(&rng, 20)) {
			close(fds[i]);
			fds[i] = must(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
		}
	fd = one_in(&rng, 8) ? (int)odd_number(&rng) : fds[below(&rng, COUNT(fds))];
	arg.notify.flags = zero(&e);
	arg.notify.tag = tag;
	arg.notify.fd = fd;
	arg.notify.rss_bytes = one_in(&rng, 2) ? odd_number(&rng) : below(&rng, PAGES) * PG;
	fault(&e, !exists(tag), ENOENT);
	error = try_call(7, &arg, &e);
	/* A descriptor may be none; there may be nothing to end, or others that have not ended yet. */
	expect(among(&e, error) || error == -EBADF || error == -EINVAL || error == -ENOENT ||
		       error == -ENOSPC,
	       "NOTIFY of %u: %s", tag, strerror(-error));
}

static void use_ground(void)
{
	static const int advice[] = {MADV_DONTNEED,   MADV_FREE,      MADV_COLD,     MADV_PAGEOUT,
				     MADV_MERGEABLE,  MADV_WILLNEED,  MADV_DONTFORK, MADV_DOFORK,
				     MADV_WIPEONFORK, MADV_KEEPONFORK};
	char *p = ground + below(&rng, PAGES) * PG;
	size_t len = (1 + below(&rng, (ground + PAGES * PG - p) / PG)) * PG;

	switch (below(&rng, 4)) {
	case 0:
		madvise(p, len, advice[below(&rng, COUNT(advice))]);
		return;
	case 1:
		must(mmap(p, len, PROT_READ | PROT_WRITE,
			  (one_in(&rng, 3) ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS | MAP_FIXED,
			  -1, 0));
		return;
	default:
		for (size_t at = 0; at < len; at += PG)
			p[at]++;
	}
}

static void grammar_call(void)
{
	static const struct {
		void (*run)(void);
		unsigned weight;
	} kinds[] = {{try_child, 300}, {try_default, 80}, {try_usage, 80},     {try_path, 200},
		     {try_range, 20},  {try_thread, 120}, {try_touch, 60},     {mangle_slot, 60},
		     {use_ground, 40}, {try_notify, 20},  {try_stacks, 5},     {try_unwind, 40},
		     {run_code, 40},   {try_heap, 20},	  {try_heap_read, 40}, {try_owners, 40}};
	unsigned all = 0, at;

	for (size_t i = 0; i < COUNT(kinds); i++)
		all += kinds[i].weight;
	at = below(&rng, all);
	for (size_t i = 0;; at -= kinds[i++].weight)
		if (at < kinds[i].weight) {
			kinds[i].run();
			return;
		}
}

static void grammar_begin(enum user user)
{
	struct mtag_ioc_thread own = {.size = sizeof(own)};

	tree_begin();
	ground = area(PAGES * PG);
	words_begin();
	stacks_begin(user == ROOT);
	must0(mtag_ioctl(MTAG_IOC_THREAD, &own));
}

/* ---- rounds ---- */
static void round_of(const struct fuzz *f, enum user user, bool grammar, uint64_t round)
{
	bool tracked = grammar || user % 2 == round % 2;

	rng = random_of(f->seed, round * 16 + user * 2 + grammar);
	become(user);
	alarm(600);
	if (tracked)
		begin();
	else if (mtag_fd() < 0)
		bail("open %s", MTAG_DEVICE);
	places();
	if (grammar)
		grammar_begin(user);
	for (uint64_t i = 0; i < f->inputs; i++)
		grammar ? grammar_call() : noise_call();
	if (grammar)
		same_tree();
	ok(!wrong, "%s as %s, seed=%" PRIu64 " round=%" PRIu64 ": every answer is as documented",
	   grammar ? "grammar" : "noise", user_names[user], f->seed, round);
	/* Noise may have attached the process. */
	if (usage_get(0, &(struct usage){0}) != -ESRCH) {
		struct mtag_ioc_thread own = {.size = sizeof(own)};

		/* What is in the word now is nobody's business. */
		must0(mtag_ioctl(MTAG_IOC_THREAD, &own));
		exact("and the process is exact");
	}
}

int main(int argc, char **argv)
{
	struct fuzz f = fuzz_arguments(argc, argv, 600, 25000, 1);
	struct remains before;
	uint64_t inputs = 0;

	need_root();
	before = remains();
	for (uint64_t round = f.round; round < f.round + f.rounds; round++)
		for (enum user user = 0; user < USERS; user++)
			for (int grammar = 0; grammar < 2; grammar++) {
				in_child
					round_of(&f, user, grammar, round);
				inputs += f.inputs;
			}
	same_remains(before, "after all of it");
	printf("# counts: inputs=%" PRIu64 "\n", inputs);
	return done();
}
