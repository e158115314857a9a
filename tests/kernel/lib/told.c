// SPDX-License-Identifier: GPL-2.0
/* What mtag says about the calling process by ioctl, and how that compares with the truth. */
#include "told.h"

int mtag_fd(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = open(MTAG_DEVICE, O_RDWR | O_CLOEXEC);
	return fd;
}

int mtag_ioctl(unsigned long request, void *arg)
{
	return ioctl(mtag_fd(), request, arg) ? -errno : 0;
}

int usage_get(mtag_t tag, struct usage *u)
{
	struct mtag_ioc_usage arg = {.size = sizeof(arg), .tag = tag};
	int error = mtag_ioctl(MTAG_IOC_USAGE, &arg);

	memcpy(u->c, arg.counters, sizeof(u->c));
	return error;
}

struct usage usage(mtag_t tag)
{
	struct usage u;
	int error = usage_get(tag, &u);

	if (error)
		bail("usage of tag %u: %s", tag, strerror(-error));
	return u;
}

uint64_t c(mtag_t tag, int counter)
{
	return usage(tag).c[counter];
}

struct usage usage_sum(void)
{
	struct usage sum = {0}, u;
	int error;

	for (mtag_t tag = 0; !(error = usage_get(tag, &u)); tag++)
		for (int i = 0; i < MTAG_C_NR; i++)
			sum.c[i] += u.c[i];
	if (error != -ENOENT)
		bail("usage: %s", strerror(-error));
	return sum;
}

uint64_t resident(const struct usage *u)
{
	return u->c[MTAG_C_ANON] + u->c[MTAG_C_FILE] + u->c[MTAG_C_SHMEM];
}

struct compared compare(void)
{
	struct compared c;
	struct truth before;
	int tries = 0;

	do {
		before = truth_of(getpid());
		c.sum = usage_sum();
		c.truth = truth_of(getpid());
	} while (memcmp(&before, &c.truth, sizeof(before)) && ++tries < 100);
	c.equal = resident(&c.sum) == c.truth.rss && c.sum.c[MTAG_C_ANON] == c.truth.anon &&
		  c.sum.c[MTAG_C_VIRT] == c.truth.virt && c.sum.c[MTAG_C_SWAP] == c.truth.swap;
	if (tries == 100)
		diag("  pid %d was never quiet", getpid());
	return c;
}

void show_compared(const struct compared *c)
{
	struct usage u;

	diag("  pid %d, mtag/kernel: rss %" PRIu64 "/%" PRIu64 " anon %" PRIu64 "/%" PRIu64
	     " virt %" PRIu64 "/%" PRIu64 " swap %" PRIu64 "/%" PRIu64,
	     getpid(), resident(&c->sum), c->truth.rss, c->sum.c[MTAG_C_ANON], c->truth.anon,
	     c->sum.c[MTAG_C_VIRT], c->truth.virt, c->sum.c[MTAG_C_SWAP], c->truth.swap);
	/* Tells a difference that has gone from one that stays, and whose it is. */
	for (mtag_t tag = 0; !usage_get(tag, &u); tag++)
		if (resident(&u) || u.c[MTAG_C_SWAP])
			diag("  tag %u, a moment later: %" PRIu64 " resident, %" PRIu64 " in swap",
			     tag, resident(&u), u.c[MTAG_C_SWAP]);
}

bool compares_equal(void)
{
	struct compared c = compare();

	if (!c.equal)
		show_compared(&c);
	return c.equal;
}

bool exact(const char *format, ...)
{
	struct compared c = compare();
	va_list args;

	va_start(args, format);
	vok(c.equal, "", format, args);
	va_end(args);
	if (!c.equal)
		show_compared(&c);
	return c.equal;
}

bool owns(mtag_t tag, const void *start, size_t len, const char *format, ...)
{
	struct smaps before, after;
	struct usage u;
	va_list args;
	bool good;
	int tries = 0;

	do {
		before = smaps(start, len);
		u = usage(tag);
		after = smaps(start, len);
	} while (memcmp(&before, &after, sizeof(after)) && ++tries < 100);
	good = u.c[MTAG_C_ANON] == after.anon && u.c[MTAG_C_SWAP] == after.swap;
	va_start(args, format);
	vok(good, "", format, args);
	va_end(args);
	if (!good)
		diag("  pid %d, tag %u, mtag/smaps: anon %" PRIu64 "/%" PRIu64 " swap %" PRIu64
		     "/%" PRIu64,
		     getpid(), tag, u.c[MTAG_C_ANON], after.anon, u.c[MTAG_C_SWAP], after.swap);
	return good;
}
