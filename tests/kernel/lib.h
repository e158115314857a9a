/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the kernel tests share: TAP, the truth (smaps, pagemap, status), what mtag says, and processes.
 *
 * The rule of every measurement here: the tag under test is current only while its pages are touched;
 * what reads the truth runs untagged, and reads it again afterwards, so that nothing moved meanwhile.
 */
#ifndef MTAG_TESTS_LIB_H
#define MTAG_TESTS_LIB_H

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "mtag.h"
#include "uapi/linux/mtag.h"

#define UNUSED	     __attribute__((unused))
#define PRINTF(a, b) __attribute__((unused, format(printf, a, b)))
#define KIB	     1024UL
#define MIB	     (1024 * KIB)
#define PG	     4096UL
#define HPAGE	     (2 * MIB)
#define COUNT(a)     (sizeof(a) / sizeof((a)[0]))

/* Of kernels newer than the libc's headers. */
#ifndef MADV_COLD
#define MADV_COLD    20
#define MADV_PAGEOUT 21
#endif
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

/* ---- TAP. The counts are in shared memory: forked children may assert, too. ---- */
struct tap {
	atomic_int run, failed;
};
static struct tap *tap;

__attribute__((constructor)) static void tap_init(void)
{
	tap = mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (tap == MAP_FAILED)
		abort();
	setvbuf(stdout, NULL, _IOLBF, 0);
}

PRINTF(1, 2) static void diag(const char *format, ...)
{
	char line[1024];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line + 2, sizeof(line) - 3, format, args);
	va_end(args);
	if (n > (int)sizeof(line) - 4)
		n = sizeof(line) - 4;
	memcpy(line, "# ", 2);
	line[n + 2] = '\n';
	if (write(STDOUT_FILENO, line, n + 3) < 0)
		abort();
}

UNUSED static bool vok(bool good, const char *directive, const char *format, va_list args)
{
	char line[512];
	int n = snprintf(line, sizeof(line), "%s %d - ", good ? "ok" : "not ok",
			 atomic_fetch_add(&tap->run, 1) + 1);

	if (!good)
		atomic_fetch_add(&tap->failed, 1);
	n += vsnprintf(line + n, sizeof(line) - n - 64, format, args);
	if (n > (int)sizeof(line) - 65)
		n = sizeof(line) - 65;
	n += snprintf(line + n, sizeof(line) - n, "%s\n", directive);
	if (write(STDOUT_FILENO, line, n) != n)
		abort();
	return good;
}

PRINTF(2, 3) static bool ok(bool good, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vok(good, "", format, args);
	va_end(args);
	return good;
}

PRINTF(3, 4) static bool is(uint64_t got, uint64_t want, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vok(got == want, "", format, args);
	va_end(args);
	if (got != want)
		diag("  got %" PRId64 ", want %" PRId64 " (off by %" PRId64 ", in pages %" PRId64
		     ")",
		     (int64_t)got, (int64_t)want, (int64_t)(got - want),
		     (int64_t)(got - want) / (int64_t)PG);
	return got == want;
}

PRINTF(1, 2) static void skip(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vok(true, " # SKIP", format, args);
	va_end(args);
}

PRINTF(1, 2) _Noreturn static void bail(const char *format, ...)
{
	int error = errno;
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	dprintf(STDOUT_FILENO, "Bail out! %s (errno %d: %s)\n", text, error, strerror(error));
	_exit(1);
}

UNUSED _Noreturn static void skip_all(const char *why)
{
	dprintf(STDOUT_FILENO, "1..0 # SKIP %s\n", why);
	_exit(0);
}

UNUSED static int done(void)
{
	dprintf(STDOUT_FILENO, "1..%d\n", tap->run);
	return tap->failed != 0;
}

#define must(expression)                                                                           \
	({                                                                                         \
		__typeof__(expression) must_ = (expression);                                       \
		if ((long)must_ == -1)                                                             \
			bail("%s:%d: %s", __FILE__, __LINE__, #expression);                        \
		must_;                                                                             \
	})

/* For calls that return 0 or an error. */
#define must0(expression)                                                                          \
	do {                                                                                       \
		if (expression)                                                                    \
			bail("%s:%d: %s", __FILE__, __LINE__, #expression);                        \
	} while (0)

/* ---- waiting ---- */
UNUSED static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* until(condition, seconds): polls it; whether it came true. */
#define until(condition, seconds)                                                                  \
	({                                                                                         \
		double end_ = now() + (seconds);                                                   \
		bool true_;                                                                        \
		while (!(true_ = (condition)) && now() < end_)                                     \
			usleep(2000);                                                              \
		true_;                                                                             \
	})

/* ---- files ---- */
#define SLURP_MAX (4 * MIB)

/* The whole file, in a buffer of ours that the next call reuses; NULL: cannot be read. */
UNUSED static char *slurp(const char *path)
{
	static char *buf;
	size_t n = 0;
	ssize_t got;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return NULL;
	if (!buf)
		buf = must(mmap(NULL, SLURP_MAX, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
	while ((got = read(fd, buf + n, SLURP_MAX - 1 - n)) > 0)
		n += got;
	close(fd);
	buf[n] = '\0';
	return got < 0 ? NULL : buf;
}

PRINTF(2, 3) static int spew(const char *path, const char *format, ...)
{
	char text[512];
	va_list args;
	int n, fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	n = write(fd, text, n) == n ? 0 : -errno;
	close(fd);
	return n;
}

/* sh: its exit status. */
PRINTF(1, 2) static int sh(const char *format, ...)
{
	char command[1024];
	va_list args;
	int status;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	status = system(command);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The number after "name" at a line's beginning; UINT64_MAX: there is none. */
UNUSED static uint64_t field(const char *text, const char *name)
{
	size_t n = strlen(name);
	const char *line = text;

	while (line) {
		if (!strncmp(line, name, n) &&
		    (line[n] == ':' || line[n] == ' ' || line[n] == '\t'))
			return strtoull(line + n + strspn(line + n, ": \t"), NULL, 10);
		line = strchr(line, '\n');
		if (line)
			line++;
	}
	return UINT64_MAX;
}

UNUSED static uint64_t file_field(const char *path, const char *name)
{
	char *text = slurp(path);

	return text ? field(text, name) : UINT64_MAX;
}

#define vmstat(name) file_field("/proc/vmstat", name)
#define health(name) file_field("/sys/kernel/debug/mtag/health", name)

/* ---- the truth; bytes ---- */
struct smaps {
	uint64_t size, rss, anon, swap, huge, vmas;
};

/* Sums over the mappings of a process that lie wholly within [start, end). */
UNUSED static struct smaps smaps_of(pid_t pid, const void *start, const void *end)
{
	static const struct {
		const char *name;
		size_t offset;
	} keys[] = {
		{"Size:", offsetof(struct smaps, size)},
		{"Rss:", offsetof(struct smaps, rss)},
		{"Anonymous:", offsetof(struct smaps, anon)},
		{"Swap:", offsetof(struct smaps, swap)},
		{"AnonHugePages:", offsetof(struct smaps, huge)},
		{"ShmemPmdMapped:", offsetof(struct smaps, huge)},
	};
	struct smaps sum = {0};
	bool inside = false;
	char path[64], *line;

	snprintf(path, sizeof(path), "/proc/%d/smaps", pid);
	line = slurp(path);
	if (!line)
		bail("read %s", path);
	for (; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
		uint64_t from, to;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " ", &from, &to) == 2) {
			inside = from >= (uintptr_t)start && to <= (uintptr_t)end;
			sum.vmas += inside;
			continue;
		}
		for (size_t i = 0; inside && i < COUNT(keys); i++) {
			size_t n = strlen(keys[i].name);

			if (!strncmp(line, keys[i].name, n))
				*(uint64_t *)((char *)&sum + keys[i].offset) +=
					strtoull(line + n, NULL, 10) * KIB;
		}
	}
	return sum;
}

UNUSED static struct smaps smaps(const void *start, size_t len)
{
	return smaps_of(getpid(), start, (const char *)start + len);
}

struct truth {
	uint64_t rss, anon, virt, swap;
};

/*
 * 6.1 keeps up to 64 faults' worth of counts in the task (SPLIT_RSS_COUNTING), swap entries among
 * them, so VmSwap lags. Zapping a present page gives the calling thread's share back.
 */
UNUSED static void flush_rss(void)
{
	static char *page;

	if (!page)
		page = must(mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
				 0));
	*(volatile char *)page = 1;
	must(madvise(page, PG, MADV_DONTNEED));
}

/* Bytes of the calling process that smaps calls resident, though no page is mapped: see t_hwpoison. */
static uint64_t poisoned_bytes;

UNUSED static struct truth truth_of(pid_t pid)
{
	struct truth t = {0};
	char path[64], *text;

	if (pid == getpid())
		flush_rss();
	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", pid);
	text = slurp(path);
	if (!text)
		bail("read %s", path);
	t.rss = field(text, "Rss") * KIB;
	t.anon = field(text, "Anonymous") * KIB;
	if (pid == getpid()) {
		t.rss -= poisoned_bytes;
		t.anon -= poisoned_bytes;
	}
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	text = slurp(path);
	if (!text)
		bail("read %s", path);
	t.virt = field(text, "VmSize") * KIB;
	t.swap = field(text, "VmSwap") * KIB;
	return t;
}

#define PAGEMAP_PRESENT (1ULL << 63)
#define PAGEMAP_SWAP	(1ULL << 62)
#define PAGEMAP_PFN	((1ULL << 55) - 1)
#define KPF_ZERO_PAGE	(1ULL << 24)

/* The pagemap words of a range of the calling process. */
UNUSED static uint64_t *pagemap(const void *start, size_t pages, uint64_t *word)
{
	int fd = must(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));

	if (pread(fd, word, pages * 8, (uintptr_t)start / PG * 8) != (ssize_t)pages * 8)
		bail("read pagemap");
	close(fd);
	return word;
}

UNUSED static uint64_t pfn_of(const void *address)
{
	uint64_t word;

	pagemap(address, 1, &word);
	return word & PAGEMAP_PRESENT ? word & PAGEMAP_PFN : 0;
}

UNUSED static uint64_t kpageflags(uint64_t pfn)
{
	uint64_t flags = 0;
	int fd = must(open("/proc/kpageflags", O_RDONLY | O_CLOEXEC));

	if (pread(fd, &flags, 8, pfn * 8) != 8)
		bail("read kpageflags");
	close(fd);
	return flags;
}

/* Bytes of a range that are resident by pagemap, the zero page apart: a truth besides smaps. */
UNUSED static uint64_t present(const void *start, size_t len)
{
	uint64_t word, sum = 0;

	for (size_t at = 0; at < len; at += PG) {
		pagemap((const char *)start + at, 1, &word);
		if ((word & PAGEMAP_PRESENT) && !(kpageflags(word & PAGEMAP_PFN) & KPF_ZERO_PAGE))
			sum += PG;
	}
	return sum;
}

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

/* ---- tags and memory ---- */
UNUSED static mtag_t tag(const char *name)
{
	mtag_t id = mtag_child(MTAG_UNTAGGED, name);

	if (id == MTAG_UNTAGGED)
		bail("mtag_child(%s)", name);
	return id;
}

/* The stack that calls made under a tag will need, so that they touch none of it first. */
UNUSED static __attribute__((noinline)) void prefault_stack(void)
{
	volatile char room[128 * KIB];

	for (size_t at = 0; at < sizeof(room); at += PG)
		room[at] = 1;
}

/* No huge pages there. A kernel that has none knows no such advice. */
UNUSED static void no_huge(void *p, size_t len)
{
	if (madvise(p, len, MADV_NOHUGEPAGE) && errno != EINVAL)
		must(-1);
}

/* Private anonymous memory between pages that keep it a mapping of its own; base pages only. */
UNUSED static char *area_prot(size_t len, size_t align, int prot)
{
	size_t room = len + 2 * PG + align;
	char *base = must(mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			       -1, 0));
	char *p = base + PG;

	if (align)
		p = (char *)(((uintptr_t)p + align - 1) & -align);
	must(mprotect(p, len, prot));
	if (!align)
		no_huge(p, len);
	return p;
}

UNUSED static char *area(size_t len)
{
	return area_prot(len, 0, PROT_READ | PROT_WRITE);
}

UNUSED static bool has_huge_pages(void)
{
	return !access("/sys/kernel/mm/transparent_hugepage", F_OK);
}

/* Likewise, for huge pages: aligned, and asked for. */
UNUSED static char *huge_area(size_t len)
{
	char *p = area_prot(len, HPAGE, PROT_READ | PROT_WRITE);

	must(madvise(p, len, MADV_HUGEPAGE));
	return p;
}

/* Writes to every page, each with other contents, so that KSM leaves them alone. */
UNUSED static void touch(mtag_t as, void *start, size_t len)
{
	static _Atomic uint64_t salt = 0x9e3779b97f4a7c15;
	mtag_t before = mtag_enter(as);

	for (size_t at = 0; at < len; at += PG)
		*(volatile uint64_t *)((char *)start + at) = atomic_fetch_add(&salt, 0x1234567) | 1;
	mtag_leave(before);
}

UNUSED static uint64_t read_all(mtag_t as, const void *start, size_t len)
{
	mtag_t before = mtag_enter(as);
	uint64_t sum = 0;

	for (size_t at = 0; at < len; at += PG)
		sum += *(const volatile uint64_t *)((const char *)start + at);
	mtag_leave(before);
	return sum;
}

/* Attached, this thread registered, and all that measures has its pages. */
UNUSED static void begin(void)
{
	int error = mtag_init();

	if (error)
		bail("mtag_init: %s", strerror(-error));
	mtag_leave(mtag_enter(MTAG_UNTAGGED));
	if (mtag_fd() < 0)
		bail("open %s", MTAG_DEVICE);
	prefault_stack();
	touch(MTAG_UNTAGGED, area(PG), PG);
	flush_rss();
	smaps(NULL, 0);
	usage_sum();
}

/* ---- processes and threads ---- */
UNUSED static pid_t child(void)
{
	return must(fork());
}

/* Waits; a child that did not exit with 0 is a failure. */
UNUSED static void reap(pid_t pid)
{
	int status;

	must(waitpid(pid, &status, 0));
	if (status)
		ok(false, "child %d ends well (status %#x)", pid, status);
}

/* in_child { … }: the block runs in a forked child, which is waited for. */
#define in_child                                                                                   \
	for (pid_t pid_ = child(), once_ = 1; once_; once_ = 0, pid_ ? reap(pid_) : _exit(0))      \
		if (pid_ == 0)

/* Steps that processes or threads wait for: in shared memory. */
struct gate {
	atomic_int step;
};

UNUSED static struct gate *gate(void)
{
	return must(mmap(NULL, PG, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
}

UNUSED static void open_gate(struct gate *g, int step)
{
	atomic_store(&g->step, step);
}

UNUSED static void pass_gate(struct gate *g, int step)
{
	if (!until(atomic_load(&g->step) >= step, 120))
		bail("step %d did not come in 120 s", step);
}

UNUSED static void in_thread(void *(*run)(void *), void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, arg) || pthread_join(thread, NULL))
		bail("thread");
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

/* ---- swap, and a file system whose pages are no tmpfs's ---- */
#define FS "/run/mtag-fs"

/* ext4 on a RAM disk at FS. Its pages are file pages; the RAM disk's own are not reclaimable. */
UNUSED static bool real_fs(void)
{
	return !sh("mountpoint -q " FS
		   " || { modprobe brd rd_nr=1 rd_size=196608 && modprobe ext4 && "
		   "mkfs.ext4 -q -F /dev/ram0 && mkdir -p " FS " && mount /dev/ram0 " FS "; } >&2");
}

UNUSED static bool swap_zram(void)
{
	return !sh(
		"{ grep -q zram /proc/swaps || { modprobe zram && id=$(cat /sys/class/zram-control/hot_add) "
		"&& echo 512M >/sys/block/zram$id/disksize && mkswap -q /dev/zram$id "
		"&& swapon -p 10 /dev/zram$id; }; } >&2");
}

UNUSED static bool swap_file(void)
{
	return real_fs() &&
	       !sh("{ dd if=/dev/zero of=" FS "/swap bs=1M count=64 status=none && chmod 600 " FS
		   "/swap && mkswap -q " FS "/swap && swapon " FS "/swap; } >&2");
}

UNUSED static int swapoff_all(void)
{
	return sh(
		"swapoff -a && for s in $(awk 'NR > 1 {print $1}' /proc/swaps); do swapoff $s || exit; done");
}

/* Reclaims a range; true once all of it is in swap. */
UNUSED static bool page_out(void *start, size_t len)
{
	return until((madvise(start, len, MADV_PAGEOUT), smaps(start, len).swap == len), 30);
}

#endif
