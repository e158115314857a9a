// SPDX-License-Identifier: GPL-2.0
/*
 * For the fuzzer of the ioctls: their arguments, in memory that may be mapped or not, of sizes that may be right or
 * not, and the errors that each may give.
 */
#include "fuzz_args.h"

const unsigned long calls[CALLS] = {
	MTAG_IOC_ATTACH, MTAG_IOC_THREAD,    MTAG_IOC_CHILD,  MTAG_IOC_DEFAULT, MTAG_IOC_RANGE,
	MTAG_IOC_USAGE,	 MTAG_IOC_PATH,	     MTAG_IOC_NOTIFY, MTAG_IOC_STACKS,	MTAG_IOC_UNWIND,
	MTAG_IOC_HEAP,	 MTAG_IOC_HEAP_READ, MTAG_IOC_OWNERS};
const unsigned sizes[CALLS] = {16, 24, 32, 16, 48, 168, 24, 24, 16, 24, 32, 56, 56};
struct random rng;
char *hole, *readonly, *edge;
static char *good, *beyond;

void places(void)
{
	int fd = must(memfd_create("fuzz", MFD_CLOEXEC));

	good = area(16 * PG);
	touch(0, good, 16 * PG);
	edge = area(2 * PG);
	touch(0, edge, PG);
	must(munmap(edge + PG, PG));
	hole = area(PG);
	must(munmap(hole, PG));
	readonly = area(PG);
	touch(0, readonly, PG);
	must(mprotect(readonly, PG, PROT_READ));
	must(ftruncate(fd, PG));
	beyond = must(mmap(NULL, 2 * PG, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
	close(fd);
}

void *place(size_t len, bool *usable)
{
	uint64_t at = below(&rng, 16 * PG - 4096);

	*usable = false;
	switch (below(&rng, 16)) {
	case 0:
		return (void *)(uintptr_t)(below(&rng, 2) ? odd_number(&rng) | 1ULL << 63
							  : below(&rng, PG));
	case 1:
		return hole + below(&rng, PG);
	case 2:
		return edge + PG - 1 - below(&rng, len - 1);
	case 3:
		return beyond + PG + below(&rng, PG - 1);
	case 4:
		return beyond + PG - 1 - below(&rng, len - 1);
	default:
		*usable = true;
		return good + (one_in(&rng, 4) ? at : at & ~7ULL);
	}
}

char *ground; /* what ranges and accesses are about: PAGES */

/* ---- an argument of a call that is nearly right ---- */

void fault(struct errors *e, bool has, int error)
{
	if (has)
		e->error[e->nr++] = error;
}

bool among(const struct errors *e, int result)
{
	if (!e->nr)
		return !result;
	for (int i = 0; i < e->nr; i++)
		if (result == -e->error[i])
			return true;
	return false;
}

uint32_t zero(struct errors *e)
{
	bool odd = one_in(&rng, 40);

	fault(e, odd, EINVAL);
	return odd ? 1U << (below(&rng, 30) + 1) : 0;
}

int try_call(unsigned i, union any *arg, struct errors *e)
{
	bool usable;
	char *at = one_in(&rng, 8) ? place(sizes[i], &usable)
				   : (usable = true, good + 8 * below(&rng, 512));

	arg->size = sizes[i];
	if (one_in(&rng, 16)) {
		arg->size = sizes[i] + below(&rng, 256);
		if (arg->size > sizes[i] && one_in(&rng, 2)) {
			arg->bytes[arg->size - 1] = 1;
			fault(e, true, E2BIG);
		}
	} else if (one_in(&rng, 32)) {
		arg->size = below(&rng, sizes[i]);
		fault(e, true, EINVAL);
	} else if (one_in(&rng, 32)) {
		arg->size = PG + 1 + below(&rng, 1 << 20);
		fault(e, true, E2BIG);
	}
	if (!usable) {
		struct errors any = {{EFAULT, EINVAL, E2BIG, ENOENT, ENAMETOOLONG, ENOSPC, ESRCH,
				      EBADF, EPERM, ENODATA, EEXIST, ENOMEM, ENXIO},
				     13};

		/* Part of it may be mapped. */
		*e = any;
		return mtag_ioctl(calls[i], at);
	}
	memcpy(at, arg, sizeof(*arg));
	i = -mtag_ioctl(calls[i], at);
	memcpy(arg, at, sizeof(*arg));
	return -(int)i;
}
