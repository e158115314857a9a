// SPDX-License-Identifier: GPL-2.0
/* For the fuzzer of the ioctls: stacks and unwind tables, and pages that are touched by code that has one. */
#include <sys/eventfd.h>
#include "fuzz_stacks.h"
#include "tables.h"

#define CODES 8

static struct code {
	int fd;
	bool given; /* it has a table */
	void *at;
} codes[CODES];

static char *room;
static bool root, taken; /* stacks of this process are */

static void new_code(struct code *c)
{
	if (c->fd > 0)
		close(c->fd);
	c->fd = code_file(1);
	/* Not anywhere: holes must stay holes. */
	c->at = must(mmap(room + (c - codes) * PG, PG, PROT_READ | PROT_EXEC,
			  MAP_PRIVATE | MAP_FIXED, c->fd, 0));
	c->given = false;
}

void stacks_begin(bool is_root)
{
	root = is_root;
	taken = false;
	room = area(CODES * PG);
	for (int i = 0; i < CODES; i++)
		new_code(&codes[i]);
}

/* A descriptor of something that is no eventfd and no file with a table. */
static int other_fd(void)
{
	static int pipes[2], dir, write_only, path_only;

	if (!dir) {
		must(pipe(pipes));
		dir = must(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
		write_only = must(open("/dev/null", O_WRONLY | O_CLOEXEC));
		path_only = must(open("/proc/self/exe", O_PATH | O_CLOEXEC));
	}
	switch (below(&rng, 6)) {
	case 0:
		return pipes[0];
	case 1:
		return dir;
	case 2:
		return write_only;
	case 3:
		return path_only;
	case 4:
		return 1000 + below(&rng, 1 << 20);
	default:
		return INT32_MIN + below(&rng, 1 << 30);
	}
}

void try_stacks(void)
{
	static int event;
	union any arg = {0};
	struct errors e = {0};
	int error;

	if (!event)
		event = must(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
	arg.stacks.one_in = one_in(&rng, 4) ? (uint32_t)odd_number(&rng) : 1 + below(&rng, 3);
	arg.stacks.pad = zero(&e);
	arg.stacks.fd = one_in(&rng, 2) ? event : -1;
	fault(&e, !arg.stacks.one_in, EINVAL);
	if (one_in(&rng, 8)) {
		arg.stacks.fd = other_fd();
		fault(&e, true, EBADF);
		fault(&e, true, EINVAL);
	}
	error = try_call(8, &arg, &e);
	expect(among(&e, error), "STACKS one in %u, descriptor %d: %s", arg.stacks.one_in,
	       arg.stacks.fd, strerror(-error));
	taken |= !error;
}

/* Where a table may be: in memory, or not quite. */
static uint64_t place_table(struct table *t, struct errors *e)
{
	if (!one_in(&rng, 16))
		return (uintptr_t)t->words;
	fault(e, t->bytes > 0, EFAULT);
	/* Without a byte of a table there is nothing to copy. */
	fault(e, !t->bytes, EINVAL);
	return one_in(&rng, 2) ? (uintptr_t)hole : odd_number(&rng) | 1ULL << 63;
}

void try_unwind(void)
{
	static struct table t;
	struct code *c = &codes[below(&rng, CODES)];
	union any arg = {0};
	struct errors e = {0};
	bool is_codes = true;
	int error;

	if (one_in(&rng, 4))
		new_code(c);
	some_table(&rng, &t);
	if (one_in(&rng, 3))
		mangle_table(&rng, &t);
	arg.unwind.fd = c->fd;
	arg.unwind.bytes = t.bytes;
	arg.unwind.table = place_table(&t, &e);
	if (one_in(&rng, 8)) {
		is_codes = false;
		arg.unwind.fd = one_in(&rng, 3) ? -1 : other_fd();
		fault(&e, arg.unwind.fd != -1, EBADF);
		fault(&e, arg.unwind.fd == -1 && !root, EPERM);
	}
	if (one_in(&rng, 32)) {
		arg.unwind.bytes = odd_number(&rng) | 1 << 28;
		fault(&e, true, ENOMEM);
	}
	/* Whether there is one is looked at first. */
	if (is_codes && c->given)
		fault(&e, true, EEXIST);
	else
		fault(&e, !is_table(&t), EINVAL);
	error = try_call(9, &arg, &e);
	/* As long as nobody takes stacks there is no room for tables; the vdso may have one. */
	if ((error == -ENODATA && !taken) || (error == -EEXIST && arg.unwind.fd == -1))
		return;
	expect(among(&e, error), "UNWIND of %d, %llu bytes: %s", arg.unwind.fd,
	       (unsigned long long)arg.unwind.bytes, strerror(-error));
	c->given |= is_codes && !error;
}

void run_code(void)
{
	struct code *c = &codes[below(&rng, CODES)];
	char *p = ground + below(&rng, PAGES) * PG;
	struct wild w = {(uintptr_t)ground + below(&rng, PAGES * PG), (uintptr_t)&w,
			 one_in(&rng, 2) ? odd_number(&rng) : (uintptr_t)ground};

	if (one_in(&rng, 4))
		w.sp = odd_number(&rng);
	if (one_in(&rng, 4))
		w.bp = odd_number(&rng);
	madvise(p, PG, MADV_DONTNEED);
	touch_as(c->at, p, &w);
}
