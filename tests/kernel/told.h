/* SPDX-License-Identifier: GPL-2.0 */
/* What mtag says: of the calling process by ioctl, and beside the truth; of others by mtagctl. */
#ifndef MTAG_TESTS_TOLD_H
#define MTAG_TESTS_TOLD_H

#include "truth.h"

/* ---- what mtag says of the calling process ---- */
UNUSED static int mtag_fd(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = open(MTAG_DEVICE, O_RDWR | O_CLOEXEC);
	return fd;
}

/* MTAG_IOC_* on the calling process: 0 or -errno. */
UNUSED static int mtag_ioctl(unsigned long request, void *arg)
{
	return ioctl(mtag_fd(), request, arg) ? -errno : 0;
}

struct usage {
	uint64_t c[MTAG_C_NR];
};

UNUSED static int usage_get(mtag_t tag, struct usage *u)
{
	struct mtag_ioc_usage arg = {.size = sizeof(arg), .tag = tag};
	int error = mtag_ioctl(MTAG_IOC_USAGE, &arg);

	memcpy(u->c, arg.counters, sizeof(u->c));
	return error;
}

UNUSED static struct usage usage(mtag_t tag)
{
	struct usage u;
	int error = usage_get(tag, &u);

	if (error)
		bail("usage of tag %u: %s", tag, strerror(-error));
	return u;
}

UNUSED static uint64_t c(mtag_t tag, int counter)
{
	return usage(tag).c[counter];
}

#define anon_of(tag)  c(tag, MTAG_C_ANON)
#define file_of(tag)  c(tag, MTAG_C_FILE)
#define shmem_of(tag) c(tag, MTAG_C_SHMEM)
#define swap_of(tag)  c(tag, MTAG_C_SWAP)
#define virt_of(tag)  c(tag, MTAG_C_VIRT)

/* Sums over all tags of the calling process. Ids are given out one after the other. */
UNUSED static struct usage usage_sum(void)
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

UNUSED static uint64_t resident(const struct usage *u)
{
	return u->c[MTAG_C_ANON] + u->c[MTAG_C_FILE] + u->c[MTAG_C_SHMEM];
}

/* What mtag and the kernel say of the calling process, once neither changes any more. */
struct compared {
	struct truth truth;
	struct usage sum;
	bool equal;
};

UNUSED static struct compared compare(void)
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

UNUSED static void show_compared(const struct compared *c)
{
	diag("  pid %d, mtag/kernel: rss %" PRIu64 "/%" PRIu64 " anon %" PRIu64 "/%" PRIu64
	     " virt %" PRIu64 "/%" PRIu64 " swap %" PRIu64 "/%" PRIu64,
	     getpid(), resident(&c->sum), c->truth.rss, c->sum.c[MTAG_C_ANON], c->truth.anon,
	     c->sum.c[MTAG_C_VIRT], c->truth.virt, c->sum.c[MTAG_C_SWAP], c->truth.swap);
}

/* I1, I2 and I3 for the calling process, which nothing else may change now. */
PRINTF(1, 2) static bool exact(const char *format, ...)
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

/* I4: a tag has exactly the anonymous pages and swap entries that smaps shows in a range. */
PRINTF(4, 5) static bool owns(mtag_t tag, const void *start, size_t len, const char *format, ...)
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

/* ---- mtagctl ---- */
/* Its output, in a buffer of ours that the next call reuses; *status: its exit status. */
PRINTF(2, 3) static char *ctl(int *status, const char *format, ...)
{
	static char *buf;
	char command[512] = "mtagctl ";
	size_t n = 0, got;
	va_list args;
	FILE *out;
	int s;

	if (!buf)
		buf = must(mmap(NULL, SLURP_MAX, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
	va_start(args, format);
	vsnprintf(command + 8, sizeof(command) - 8, format, args);
	va_end(args);
	out = popen(command, "r");
	if (!out)
		bail("popen %s", command);
	while ((got = fread(buf + n, 1, SLURP_MAX - 1 - n, out)) > 0)
		n += got;
	buf[n] = '\0';
	s = pclose(out);
	s = WIFEXITED(s) ? WEXITSTATUS(s) : 128 + WTERMSIG(s);
	if (status)
		*status = s;
	else if (s)
		bail("%s: exit status %d", command, s);
	return buf;
}

/*
 * Objects of a top-level JSON array of flat objects: cuts the next one off at *text; NULL: no more.
 * mtag's strings hold no braces unless a tag or a program is called so; the tests' are not.
 */
UNUSED static char *json_next(char **text)
{
	char *start = strchr(*text, '{'), *end = start ? strchr(start, '}') : NULL;

	if (!end)
		return NULL;
	*end = '\0';
	*text = end + 1;
	return start;
}

UNUSED static const char *json_value(const char *object, const char *key)
{
	char quoted[64];
	const char *at;

	snprintf(quoted, sizeof(quoted), "\"%s\"", key);
	at = strstr(object, quoted);
	if (!at)
		bail("no key %s in %s", key, object);
	at += strlen(quoted);
	return at + strspn(at, " \t\n:");
}

UNUSED static uint64_t json_u64(const char *object, const char *key)
{
	return strtoull(json_value(object, key), NULL, 10);
}

UNUSED static const char *json_string(const char *object, const char *key)
{
	static char text[2048];
	const char *at = json_value(object, key);

	if (sscanf(at, "\"%2047[^\"]\"", text) != 1)
		text[0] = '\0';
	return text;
}

struct shown {
	uint64_t rows, rss, anon, file, shmem, swap, virt;
};

/* What `show` says of a process: sums over its tags, or of the tag with that path alone. */
UNUSED static struct shown show(pid_t pid, const char *path)
{
	struct shown sum = {0};
	int status;
	char *text = ctl(&status, "-j show %d 2>/dev/null", pid), *object;

	while ((object = json_next(&text))) {
		if ((pid_t)json_u64(object, "pid") != pid ||
		    (path && strcmp(json_string(object, "tag"), path)))
			continue;
		sum.rows++;
		sum.rss += json_u64(object, "rss_bytes");
		sum.anon += json_u64(object, "anon_bytes");
		sum.file += json_u64(object, "file_bytes");
		sum.shmem += json_u64(object, "shmem_bytes");
		sum.swap += json_u64(object, "swap_bytes");
		sum.virt += json_u64(object, "virt_bytes");
	}
	return sum;
}

/* I1 to I3 for another process, which must be at rest. */
PRINTF(2, 3) static bool exact_of(pid_t pid, const char *format, ...)
{
	struct truth before, after;
	struct shown s;
	va_list args;
	bool good;
	int tries = 0;

	do {
		before = truth_of(pid);
		s = show(pid, NULL);
		after = truth_of(pid);
	} while (memcmp(&before, &after, sizeof(after)) && ++tries < 20);
	good = s.rows && s.rss == after.rss && s.anon == after.anon && s.virt == after.virt &&
	       s.swap == after.swap;
	va_start(args, format);
	vok(good, "", format, args);
	va_end(args);
	if (!good)
		diag("  pid %d, %" PRIu64 " rows, mtag/kernel: rss %" PRIu64 "/%" PRIu64
		     " anon %" PRIu64 "/%" PRIu64 " virt %" PRIu64 "/%" PRIu64 " swap %" PRIu64
		     "/%" PRIu64,
		     pid, s.rows, s.rss, after.rss, s.anon, after.anon, s.virt, after.virt, s.swap,
		     after.swap);
	return good;
}

struct audit {
	uint64_t rows, kernel, walked, accounted, drift, migrating, lost, overflow;
};

UNUSED static struct audit audit(pid_t pid)
{
	struct audit a = {0};
	int status;
	char *text = ctl(&status, "-j audit %d", pid), *object;

	while ((object = json_next(&text))) {
		if ((pid_t)json_u64(object, "pid") != pid)
			continue;
		a.rows++;
		a.kernel = json_u64(object, "kernel_rss_bytes");
		a.walked = json_u64(object, "walked_bytes");
		a.accounted = json_u64(object, "accounted_bytes");
		a.drift = json_u64(object, "drift_pages");
		a.migrating = json_u64(object, "migrating_pages");
		a.lost = json_u64(object, "lost");
		a.overflow = json_u64(object, "overflow");
	}
	return a;
}

/* The page-table walk of `mtagctl audit` agrees, and nothing was lost. */
PRINTF(2, 3) static bool clean(pid_t pid, const char *format, ...)
{
	struct audit a = audit(pid);
	va_list args;
	bool good = a.rows == 1 && !a.drift && !a.lost;

	va_start(args, format);
	vok(good, "", format, args);
	va_end(args);
	if (!good)
		diag("  audit: %" PRIu64 " rows, kernel %" PRIu64 " walked %" PRIu64
		     " accounted %" PRIu64 " drift %" PRIu64 " lost %" PRIu64,
		     a.rows, a.kernel, a.walked, a.accounted, a.drift, a.lost);
	return good;
}

/* At the end of a test, as root: the spaces that ended were all at 0. */
UNUSED static void no_drift(uint64_t drift_before)
{
	is(health("drift"), drift_before, "every process that ended left all its counters at 0");
}

UNUSED static void need_root(void)
{
	if (geteuid())
		skip_all("needs root");
}

#endif
